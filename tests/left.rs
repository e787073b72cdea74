//! Executions that come to no end of their own, and values that outlive one: nothing of the program runs any more in them, so
//! no destructor does, and a static is never dropped.

mod support;

use serde_json::Value;
use support::programs::HEAD;
use support::{package, seqz};

/// Two threads that may wait for each other for ever, each with a value that is dropped in no execution.
const WAITING: &str = r#"
fn wait_for_each_other<T: Send + 'static>(make: impl Fn() -> T) {
    let (a, b) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
    let (a2, b2) = (a.clone(), b.clone());
    let value = make();
    let other = thread::spawn(move || {
        let _second = b2.lock().unwrap();
        let kept = value;
        let _first = a2.lock().unwrap();
        std::mem::forget(kept);
    });
    let kept = make();
    {
        let _first = a.lock().unwrap();
        let _second = b.lock().unwrap();
    }
    std::mem::forget(kept);
    other.join().unwrap();
}

/// Does what it says when it is dropped.
struct OnDrop<F: FnMut() + Send + 'static>(F);
impl<F: FnMut() + Send + 'static> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

static DROPPED: AtomicU32 = AtomicU32::new(0);

#[test]
fn a_panics() {
    wait_for_each_other(|| OnDrop(|| panic!("a destructor panics")));
}
#[test]
fn b_exits() {
    wait_for_each_other(|| OnDrop(|| std::process::exit(3)));
}
#[test]
fn c_aborts() {
    wait_for_each_other(|| OnDrop(|| std::process::abort()));
}
#[test]
fn d_asserts() {
    wait_for_each_other(|| OnDrop(|| assert_eq!(DROPPED.load(SeqCst), 1)));
}
#[test]
fn e_prints_and_writes() {
    wait_for_each_other(|| OnDrop(|| {
        println!("it is dropped");
        DROPPED.store(1, SeqCst);
        std::fs::write("it_is_dropped", "").unwrap();
    }));
}
#[test]
fn f_locks_and_sends() {
    let free = Arc::new(Mutex::new(0));
    let (sender, _receiver) = std::sync::mpsc::channel();
    wait_for_each_other(|| {
        let (free, sender) = (free.clone(), sender.clone());
        OnDrop(move || {
            *free.lock().unwrap() += 1;
            sender.send(1).unwrap();
            panic!("it is sent");
        })
    });
}
"#;

/// Programs without a failure, of which strategies leave executions that are like others.
const RIGHT: &str = r#"
struct Done(Arc<AtomicBool>);
impl Drop for Done {
    fn drop(&mut self) {
        assert!(self.0.load(SeqCst), "it is done when this is dropped");
    }
}

#[test]
fn g_is_done_when_it_is_dropped() {
    let done = Arc::new(AtomicBool::new(false));
    let count = Arc::new(Mutex::new(0));
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let (end, count) = (Done(done.clone()), count.clone());
            thread::spawn(move || {
                *count.lock().unwrap() += 1;
                *count.lock().unwrap() += 1;
                end.0.store(true, SeqCst);
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(*count.lock().unwrap(), 4);
}

struct NeverDropped(u32);
impl Drop for NeverDropped {
    fn drop(&mut self) {
        panic!("a static is dropped");
    }
}
static ONCE: std::sync::OnceLock<NeverDropped> = std::sync::OnceLock::new();
static LAZY: std::sync::LazyLock<NeverDropped> = std::sync::LazyLock::new(|| NeverDropped(1));
static LOCKED: Mutex<Vec<NeverDropped>> = Mutex::new(Vec::new());
static SHARED: std::sync::RwLock<Option<Box<NeverDropped>>> = std::sync::RwLock::new(None);

#[test]
fn h_statics_are_not_dropped() {
    assert!(LOCKED.lock().unwrap().is_empty() && SHARED.read().unwrap().is_none());
    let second = thread::spawn(|| {
        ONCE.get_or_init(|| NeverDropped(2));
        let mut value = SHARED.write().unwrap();
        if value.is_none() {
            *value = Some(Box::new(NeverDropped(3)));
        }
    });
    let first = LAZY.0 + ONCE.get_or_init(|| NeverDropped(2)).0;
    LOCKED.lock().unwrap().push(NeverDropped(first));
    second.join().unwrap();
    assert_eq!(LOCKED.lock().unwrap().iter().map(|value| value.0).sum::<u32>(), 3);
}
"#;

fn kinds(harness: &Value) -> Vec<&str> {
    let failures = harness["failures"].as_array().unwrap();
    failures
        .iter()
        .map(|failure| failure["kind"].as_str().unwrap())
        .collect()
}

#[test]
fn nothing_is_dropped_in_an_execution_that_is_left() {
    let dir = package(&format!("{HEAD}{WAITING}{RIGHT}"));
    let strategies = [
        "odpor",
        "dpor",
        "dfs",
        "hbr-cache",
        "hbr-cache+dpor",
        "lazy-hbr",
        "lazy-hbr+dpor",
        "lazy-dpor",
        "icb+dpor",
        "mcr",
        "random",
        "pct",
    ];
    for strategy in strategies {
        let run = seqz(
            dir.path(),
            [
                "explore",
                "--strategy",
                strategy,
                "--max-executions",
                "400",
                "--format",
                "json",
            ],
        );
        let report = run.json();
        let harnesses = report["harnesses"].as_array().unwrap();
        assert_eq!(harnesses.len(), 8, "{}", run.shown());
        for (at, harness) in harnesses.iter().enumerate() {
            let expected: &[&str] = if at < 6 { &["deadlock"] } else { &[] };
            assert_eq!(kinds(harness), expected, "{strategy}: {harness:#}");
        }
        assert!(!run.stdout.contains("it is dropped"), "{}", run.shown());
    }
    assert!(!dir.path().join("it_is_dropped").exists());
}

/// Programs in which it matters whether a thread or its handle lets go of the thread's result last. In each the destructor
/// runs on the other thread, too late for the harness.
const RESULTS: &str = r#"
struct Counts(Arc<AtomicU32>);
impl Drop for Counts {
    fn drop(&mut self) {
        let seen = self.0.load(SeqCst);
        self.0.store(seen + 1, SeqCst);
    }
}

fn judge(count: &AtomicU32) {
    assert_eq!(count.load(SeqCst), 1, "it has been dropped");
}

#[test]
fn a_value() {
    let count = Arc::new(AtomicU32::new(0));
    let result = Counts(count.clone());
    drop(thread::spawn(move || result));
    judge(&count);
}

#[test]
fn in_a_box() {
    let count = Arc::new(AtomicU32::new(0));
    let result = Counts(count.clone());
    let _ = thread::spawn(move || -> Option<Box<dyn Send>> { Some(Box::new(result)) });
    judge(&count);
}

#[test]
fn what_is_panicked_with() {
    let count = Arc::new(AtomicU32::new(0));
    let result = Counts(count.clone());
    drop(thread::spawn(move || {
        if result.0.load(SeqCst) == 0 {
            std::panic::resume_unwind(Box::new(result));
        }
    }));
    judge(&count);
}

#[test]
fn of_a_scoped_thread() {
    let count = Arc::new(AtomicU32::new(0));
    let result = Counts(count.clone());
    thread::scope(|scope| {
        scope.spawn(move || vec![result]);
        let seen = count.load(SeqCst);
        count.store(seen + 1, SeqCst);
    });
    assert_eq!(count.load(SeqCst), 2, "nothing is lost");
}

#[test]
fn joined() {
    let count = Arc::new(AtomicU32::new(0));
    let result = Counts(count.clone());
    let result = thread::spawn(move || result).join();
    assert_eq!(count.load(SeqCst), 0);
    drop(result);
    judge(&count);
}
"#;

#[test]
fn whoever_lets_go_of_a_result_last_drops_it() {
    let dir = package(&format!("{HEAD}{RESULTS}"));
    for strategy in ["odpor", "dpor", "dfs", "lazy-dpor"] {
        let run = seqz(
            dir.path(),
            [
                "explore",
                "--strategy",
                strategy,
                "--ignore-detached-panics",
                "--format",
                "json",
            ],
        );
        let report = run.json();
        for harness in report["harnesses"].as_array().unwrap() {
            let expected: &[&str] = match harness["name"].as_str().unwrap() {
                "joined" => &[],
                _ => &["assertion"],
            };
            assert_eq!(kinds(harness), expected, "{strategy}: {harness:#}");
        }
    }
}

/// Locks that are never given back, by threads that end.
const FORGOTTEN: &str = r#"
fn mutex() -> (Arc<Mutex<u32>>, Arc<Mutex<u32>>) { let m = Arc::new(Mutex::new(0)); (m.clone(), m) }
#[test]
fn a_waits() {
    let (m, n) = mutex();
    let t = thread::spawn(move || std::mem::forget(n.lock().unwrap()));
    *m.lock().unwrap() += 1;
    t.join().unwrap();
}
#[test]
fn b_waits_for_a_writer() {
    let m = Arc::new(std::sync::RwLock::new(0));
    let n = m.clone();
    let t = thread::spawn(move || { Box::leak(Box::new(n.write().unwrap())); });
    let seen = *m.read().unwrap();
    t.join().unwrap();
    assert_eq!(seen, 0);
}
#[test]
fn c_one_of_two_threads() {
    let (m, n) = mutex();
    let t = thread::spawn(move || { let _kept = std::mem::ManuallyDrop::new(m.lock().unwrap()); });
    let u = thread::spawn(move || { *n.lock().unwrap() += 1; });
    let _ = (t.join(), u.join());
}
#[test]
fn d_looks() {
    let (m, n) = mutex();
    let t = thread::spawn(move || std::mem::forget(n.lock().unwrap()));
    if let Ok(value) = m.try_lock() { assert_eq!(*value, 0); }
    t.join().unwrap();
    assert!(m.try_lock().is_err());
}
#[test]
fn e_is_joined_with_the_lock_in_hand() {
    let (m, n) = mutex();
    let t = thread::spawn(move || { *n.lock().unwrap() += 1; });
    let kept = m.lock().unwrap();
    t.join().unwrap();
    drop(kept);
}
"#;

#[test]
fn locks_that_are_never_given_back_are_waited_for() {
    let dir = package(&format!("{HEAD}{FORGOTTEN}"));
    for by in ["check", "explore"] {
        let run = seqz(dir.path(), [by, "--format", "json"]);
        assert_eq!(run.code, Some(1), "{}", run.shown());
        let report = run.json();
        let field = if by == "check" { "bugs" } else { "failures" };
        for harness in report["harnesses"].as_array().unwrap() {
            let found = harness[field].as_array().unwrap();
            let name = harness["name"].as_str().unwrap();
            assert_eq!(found.is_empty(), name.starts_with("d_"), "{by} {harness:#}");
            // Where both wait, each thread under test has a place of its own.
            assert!(
                name.starts_with("e_") || found.len() < 2,
                "{by} {harness:#}"
            );
            assert_eq!(harness["faults"].as_array().map_or(0, Vec::len), 0);
            assert!(
                found.iter().all(|it| it["kind"] == "deadlock"),
                "{harness:#}"
            );
            assert!(
                harness["verdict"]
                    .as_str()
                    .unwrap()
                    .starts_with("exhausted"),
                "{harness:#}"
            );
        }
    }
}
