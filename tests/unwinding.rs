//! Destructors that use what threads share while their thread panics: the thread is one like any other, so strategies find
//! what comes of it, and see everything.

mod support;

use std::collections::BTreeMap;

use serde_json::Value;
use support::programs::HEAD;
use support::{package, seqz, settings};

const PROGRAMS: &str = r#"
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, PoisonError, mpsc};

/// Does this when it is dropped.
struct OnDrop<F: FnMut()>(F);
impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

struct Note(Arc<AtomicU32>, Arc<AtomicU32>);
impl Drop for Note {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
        self.1.fetch_add(1, SeqCst);
    }
}

#[test]
fn a_half_a_note() {
    let (first, second) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let note = Note(first.clone(), second.clone());
    let noted = thread::spawn(move || {
        let _note = note;
        panic!("this is noted");
    });
    let (one, other) = (first.load(SeqCst), second.load(SeqCst));
    assert!(noted.join().is_err());
    assert!(one == other, "half a note");
}

#[test]
#[should_panic(expected = "mine")]
fn b_joins() {
    let count = Arc::new(Mutex::new(0));
    let its = count.clone();
    let mut other = Some(thread::spawn(move || {
        *its.lock().unwrap() += 1;
        *its.lock().unwrap() += 1;
    }));
    let _joins = OnDrop(move || {
        other.take().unwrap().join().unwrap();
        assert_eq!(*count.lock().unwrap(), 2);
    });
    panic!("mine");
}

#[test]
#[should_panic(expected = "mine")]
fn c_receives() {
    let (sender, receiver) = mpsc::channel();
    let _receives = OnDrop(move || assert_eq!(receiver.recv(), Ok(1)));
    thread::spawn(move || sender.send(1).unwrap());
    panic!("mine");
}

#[test]
#[should_panic(expected = "mine")]
fn d_waits() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let its = pair.clone();
    let _waits = OnDrop(|| {
        let mut is_set = pair.0.lock().unwrap();
        while !*is_set {
            is_set = pair.1.wait(is_set).unwrap();
        }
    });
    thread::spawn(move || {
        *its.0.lock().unwrap() = true;
        its.1.notify_all();
    });
    panic!("mine");
}

/// As in a pool of threads: who panics starts the next one.
struct Sentinel(Arc<(Mutex<u32>, mpsc::Sender<bool>)>);
impl Drop for Sentinel {
    fn drop(&mut self) {
        if thread::panicking() {
            work(self.0.clone());
        }
        self.0.1.send(thread::panicking()).unwrap();
    }
}
fn work(pool: Arc<(Mutex<u32>, mpsc::Sender<bool>)>) {
    thread::spawn(move || {
        assert!(!thread::panicking());
        let sentinel = Sentinel(pool);
        let is_left = {
            let mut jobs = sentinel.0.0.lock().unwrap();
            *jobs = jobs.saturating_sub(1);
            *jobs > 0
        };
        if is_left {
            panic!("the job");
        }
    });
}

#[test]
fn e_starts_the_next() {
    let (sender, receiver) = mpsc::channel();
    let pool = Arc::new((Mutex::new(2), sender));
    work(pool.clone());
    let panicked = (0..2).filter(|_| receiver.recv().unwrap()).count();
    assert_eq!(panicked, 1);
    assert!(pool.0.lock().is_ok());
}

#[test]
fn f_poisons_a_lock() {
    let lock = Arc::new(Mutex::new(0));
    let (its, others) = (lock.clone(), lock.clone());
    let thread = thread::spawn(move || {
        let mut value = its.lock().unwrap_or_else(PoisonError::into_inner);
        *value += 1;
        panic!("under the guard");
    });
    let other = thread::spawn(move || others.lock().is_err());
    let _ = thread.join();
    drop(other);
    assert!(lock.is_poisoned());
}

#[test]
fn g_is_poisoned_or_not() {
    let lock = Arc::new(Mutex::new(0));
    let its = lock.clone();
    thread::spawn(move || {
        let _guard = its.lock().unwrap();
        panic!("under the guard");
    });
    assert!(!lock.is_poisoned(), "it is poisoned");
}

#[test]
fn h_waits_for_ever() {
    let lock = Arc::new(Mutex::new(0));
    let its = lock.clone();
    let thread = thread::spawn(move || {
        let _locks = OnDrop(|| drop(its.lock()));
        panic!("it is handled");
    });
    let _guard = lock.lock().unwrap();
    let _ = thread.join();
}

#[test]
fn i_catches_another() {
    let count = Arc::new(AtomicU32::new(0));
    let its = count.clone();
    thread::spawn(move || its.fetch_add(1, SeqCst));
    let _catches = OnDrop(|| {
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let _count = OnDrop(|| { count.fetch_add(1, SeqCst); });
            panic!("inside");
        }));
        assert!(caught.is_err() && thread::panicking());
    });
    panic!("outside");
}

#[test]
#[should_panic(expected = "mine")]
fn j_leaves_a_thread_that_unwinds() {
    let (sender, receiver) = mpsc::channel::<u32>();
    thread::spawn(move || {
        let _waits = OnDrop(|| assert!(receiver.recv().is_err()));
        panic!("it waits for ever");
    });
    std::mem::forget(sender);
    panic!("mine");
}
"#;

/// What fails in each harness that has failures.
fn failing(harnesses: &[Value]) -> BTreeMap<&str, Vec<String>> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut all = BTreeMap::new();
    for harness in harnesses {
        let failures = harness["failures"].as_array().into_iter().flatten();
        let failures: Vec<_> = failures
            .map(|it| format!("{}: {}", text(&it["kind"]), text(&it["message"])))
            .collect();
        if !failures.is_empty() {
            all.insert(harness["name"].as_str().unwrap_or_default(), failures);
        }
    }
    all
}

#[test]
fn all_strategies_see_all_that_comes_of_it() {
    let dir = package(&format!("{HEAD}{PROGRAMS}"));
    let expected = BTreeMap::from([
        ("a_half_a_note", vec!["assertion: half a note".to_owned()]),
        (
            "g_is_poisoned_or_not",
            vec!["assertion: it is poisoned".to_owned()],
        ),
        (
            "h_waits_for_ever",
            vec!["deadlock: threads wait for each other".to_owned()],
        ),
        ("i_catches_another", vec!["panic: outside".to_owned()]),
    ]);
    for (strategy, promise) in [
        ("odpor", "exhausted"),
        ("dpor", "exhausted"),
        ("mcr", "exhausted_by_values"),
        ("rv-causal", "exhausted_by_values"),
    ] {
        let run = seqz(
            dir.path(),
            [
                "explore",
                "--ignore-detached-panics",
                "--strategy",
                strategy,
                "--format",
                "json",
            ],
        );
        let report = run.json();
        let harnesses = report["harnesses"].as_array().expect("they are explored");
        assert_eq!(harnesses.len(), 10, "{strategy}");
        assert_eq!(failing(harnesses), expected, "{strategy}");
        for harness in harnesses {
            assert_eq!(
                harness["promise"]["state"], promise,
                "{strategy}: {harness:#}"
            );
        }
    }
}

const WAITING: &str = "
use std::sync::{PoisonError, RwLock, mpsc};

struct Adds<'a>(&'a Mutex<u32>);

impl Drop for Adds<'_> {
    fn drop(&mut self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) += 1;
    }
}

struct Reads<'a>(&'a RwLock<u32>);

impl Drop for Reads<'_> {
    fn drop(&mut self) {
        let _value = *self.0.read().unwrap_or_else(PoisonError::into_inner);
    }
}

struct Hears(mpsc::Receiver<u32>);

impl Drop for Hears {
    fn drop(&mut self) {
        let _said = self.0.recv();
    }
}

#[test]
fn waits_for_a_mutex() {
    let lock = Arc::new(Mutex::new(0));
    let other = {
        let lock = Arc::clone(&lock);
        thread::spawn(move || *lock.lock().unwrap() += 1)
    };
    let adds = Adds(&lock);
    assert!(Arc::strong_count(&lock) == 0, \"it is shared\");
    drop(adds);
    other.join().unwrap();
}

#[test]
fn waits_for_a_writer() {
    let lock = Arc::new(RwLock::new(0));
    let other = {
        let lock = Arc::clone(&lock);
        thread::spawn(move || *lock.write().unwrap() += 1)
    };
    let reads = Reads(&lock);
    assert!(Arc::strong_count(&lock) == 0, \"it is shared\");
    drop(reads);
    other.join().unwrap();
}

#[test]
fn waits_for_a_message() {
    let (sender, receiver) = mpsc::channel();
    let hears = Hears(receiver);
    let other = thread::spawn(move || sender.send(1).is_ok());
    assert!(other.is_finished(), \"it is at work\");
    drop(hears);
    other.join().unwrap();
}
";

#[test]
fn a_destructor_that_waits_is_no_crash_of_the_program() {
    let dir = package(&format!("{HEAD}{WAITING}"));
    for strategy in ["dfs", "odpor", "random"] {
        let run = seqz(
            dir.path(),
            ["explore", "--strategy", strategy, "--format", "json"],
        );
        for harness in run.json()["harnesses"].as_array().into_iter().flatten() {
            let failures = harness["failures"].as_array().into_iter().flatten();
            let crashes: Vec<_> = failures.filter(|it| it["kind"] == "crash").collect();
            assert!(crashes.is_empty(), "{strategy}: {harness:#}");
            if strategy != "random" {
                assert_eq!(
                    harness["promise"]["state"], "exhausted",
                    "{strategy}: {harness:#}"
                );
            }
        }
    }
}

const WAITING_FOR_THE_OTHER: &str = "
static FLAG: AtomicU32 = AtomicU32::new(0);

struct Joins(Option<thread::JoinHandle<()>>);

impl Drop for Joins {
    fn drop(&mut self) {
        self.0.take().unwrap().join().unwrap();
    }
}

struct Adds;

impl Drop for Adds {
    fn drop(&mut self) {
        FLAG.fetch_add(2, SeqCst);
    }
}

struct Locks(Arc<Mutex<u32>>);

impl Drop for Locks {
    fn drop(&mut self) {
        *self.0.lock().unwrap() += 1;
    }
}

struct Scopes;

impl Drop for Scopes {
    fn drop(&mut self) {
        thread::scope(|scope| {
            scope.spawn(|| FLAG.store(3, SeqCst));
        });
    }
}

#[test]
fn a_joins() {
    let _joins = Joins(Some(thread::spawn(|| FLAG.store(1, SeqCst))));
    assert!(FLAG.load(SeqCst) == 1, \"not yet\");
}

#[test]
fn b_adds_and_joins() {
    let _joins = Joins(Some(thread::spawn(|| FLAG.store(1, SeqCst))));
    let _adds = Adds;
    assert!(FLAG.load(SeqCst) == 1, \"not yet\");
}

#[test]
fn c_locks_and_joins() {
    let lock = Arc::new(Mutex::new(0));
    let its = lock.clone();
    let _joins = Joins(Some(thread::spawn(move || *its.lock().unwrap() += 1)));
    let _locks = Locks(lock.clone());
    let value = *lock.lock().unwrap();
    assert!(value == 1, \"not yet\");
}

#[test]
fn d_opens_a_scope_and_joins() {
    let _joins = Joins(Some(thread::spawn(|| FLAG.store(1, SeqCst))));
    let _scopes = Scopes;
    assert!(FLAG.load(SeqCst) == 1, \"not yet\");
}

#[test]
fn e_ends_a_scope() {
    thread::scope(|scope| {
        scope.spawn(|| FLAG.store(1, SeqCst));
        assert!(FLAG.load(SeqCst) == 1, \"not yet\");
    });
}
";

#[test]
fn a_panic_is_of_the_thread_that_it_began_in_though_the_other_one_runs_while_it_unwinds() {
    let dir = package(&format!("{HEAD}{WAITING_FOR_THE_OTHER}"));
    let run = seqz(dir.path(), ["check", "--format", "json"]);
    let report = run.json();
    let harnesses = report["harnesses"].as_array().expect("they are checked");
    assert_eq!(harnesses.len(), 5);
    for harness in harnesses {
        assert_eq!(
            harness["faults"].as_array().map(Vec::len),
            Some(0),
            "{harness:#}"
        );
        let bugs = harness["bugs"].as_array().into_iter().flatten();
        let bugs: Vec<_> = bugs
            .map(|bug| {
                let state = &bug["confirmation"]["state"];
                (&bug["message"], &bug["under_test"], &bug["k"], state)
            })
            .collect();
        let [(message, under_test, k, state)] = &bugs[..] else {
            panic!("one bug: {harness:#}");
        };
        assert_eq!(
            (*message, *under_test, *k, *state),
            (
                &"not yet".into(),
                &"first".into(),
                &0.into(),
                &"confirmed".into()
            ),
            "{harness:#}"
        );
    }
    assert_eq!(run.code, Some(1));
}

const FAILING_IN_A_SCOPE: &str = "
#[test]
fn fails_in_a_scope() {
    let flag = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| flag.store(1, SeqCst));
        assert!(flag.load(SeqCst) == 1, \"not yet\");
    });
}
";

#[test]
fn a_trace_ends_where_the_panic_begins() {
    let dir = package(&format!("{HEAD}{WAITING_FOR_THE_OTHER}"));
    let run = seqz(dir.path(), ["explore", "--format", "json"]);
    let report = run.json();
    for harness in report["harnesses"].as_array().expect("they are explored") {
        let failures = harness["failures"].as_array().into_iter().flatten();
        let failures: Vec<_> = failures.collect();
        let [failure] = &failures[..] else {
            panic!("one failure: {harness:#}");
        };
        let schedule = failure["schedule"].as_array().expect("a schedule");
        let leading = failure["fails_after"].as_u64().expect("it is known");
        let leading = usize::try_from(leading).expect("a few events");
        // The join comes while the thread unwinds, and so does what the destructors do.
        let after = |action: &str| {
            let mut after = schedule[leading..].iter();
            after.any(|event| event["thread"] == 0 && event["action"] == action)
        };
        assert!(after("join"), "{harness:#}");
        let last = &schedule[leading - 1];
        assert_eq!(
            (&last["thread"], &last["site"]["text"]),
            (&0.into(), &failing_line(harness["name"].as_str())),
            "{harness:#}"
        );
    }
    let dir = package(&format!("{HEAD}{FAILING_IN_A_SCOPE}"));
    let run = seqz(dir.path(), ["explore"]);
    settings(dir.path()).bind(|| insta::assert_snapshot!("unwinding_trace", run.shown()));
}

/// Where the last event is that leads to the failure.
fn failing_line(harness: Option<&str>) -> Value {
    match harness {
        Some("c_locks_and_joins") => "let value = *lock.lock().unwrap();".into(),
        _ => "assert!(FLAG.load(SeqCst) == 1, \"not yet\");".into(),
    }
}
