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

/// Programs without a failure, each with something whose end goes well in the program. What `check` tries and no
/// interleaving has is left within.
const HANDED_OVER: &str = r#"
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Does what it says when it is dropped, and is told whether that is at the end.
struct AtEnd<F: FnMut(bool) + Send>(Cell<bool>, F);
impl<F: FnMut(bool) + Send> Drop for AtEnd<F> {
    fn drop(&mut self) {
        let is_over = self.0.get();
        (self.1)(is_over);
    }
}
fn at_end<F: FnMut(bool) + Send>(does: F) -> AtEnd<F> {
    AtEnd(Cell::new(false), does)
}

/// What two threads do.
fn works(mine: &AtomicU32, other: &AtomicU32) -> u32 {
    mine.store(1, SeqCst);
    let (first, second, third) = (other.load(SeqCst), other.load(SeqCst), other.load(SeqCst));
    assert!(first <= second && second <= third);
    mine.store(2, SeqCst);
    first + mine.load(SeqCst)
}

fn hand_over<F: FnMut(bool) + Send + 'static>(does: impl Fn() -> F) {
    let (x, y) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let (x2, y2, its) = (x.clone(), y.clone(), at_end(does()));
    let other = thread::spawn(move || {
        let seen = works(&x2, &y2);
        its.0.set(true);
        seen
    });
    let kept = at_end(does());
    let seen = works(&y, &x);
    kept.0.set(true);
    assert!(seen + other.join().unwrap() >= 4);
}

#[test]
fn a_asserts() {
    hand_over(|| |is_over: bool| assert!(is_over, "it is dropped at the end"));
}

#[test]
fn b_exits_and_aborts() {
    hand_over(|| |is_over: bool| if !is_over { std::process::exit(3) });
    hand_over_again();
}
fn hand_over_again() {
    let before = Arc::new(AtomicU32::new(0));
    let _kept = at_end(|is_over| if is_over { std::process::abort() });
    before.store(1, SeqCst);
}

/// Takes a lock that its thread holds until then.
#[test]
fn c_locks() {
    let (x, lock) = (Arc::new(AtomicU32::new(0)), Arc::new(Mutex::new(0)));
    let (x2, its) = (x.clone(), lock.clone());
    let other = thread::spawn(move || { works(&x2, &x2); drop(its.lock()); });
    let held = lock.lock().unwrap();
    let kept = at_end(|_| *lock.lock().unwrap() += 1);
    x.load(SeqCst);
    x.load(SeqCst);
    drop(held);
    kept.0.set(true);
    drop(kept);
    other.join().unwrap();
}

#[test]
fn d_joins() {
    let x = Arc::new(AtomicU32::new(0));
    let x2 = x.clone();
    let mut other = Some(thread::spawn(move || works(&x2, &x2)));
    let kept = at_end(move |_| { other.take().unwrap().join().expect("it ends well"); });
    let (first, second) = (x.load(SeqCst), x.load(SeqCst));
    assert!(first <= second);
    drop(kept);
}

#[test]
fn e_catches() {
    hand_over(|| {
        |_| {
            let caught = catch_unwind(AssertUnwindSafe(|| {
                let _kept = at_end(|_| {});
                panic!("it is caught");
            }));
            assert!(caught.is_err());
        }
    });
}

/// What is in the way of whoever unwinds: it takes all for a panic.
#[test]
fn f_is_caught() {
    let x = Arc::new(AtomicU32::new(0));
    let x2 = x.clone();
    let other = thread::spawn(move || works(&x2, &x2));
    let caught = catch_unwind(AssertUnwindSafe(|| (x.load(SeqCst), x.load(SeqCst))));
    let (first, second) = caught.expect("nothing panics");
    assert!(first <= second);
    other.join().unwrap();
}

struct Local(Cell<bool>);
impl Drop for Local {
    fn drop(&mut self) {
        assert!(self.0.get(), "a thread-local is dropped at the end");
    }
}
thread_local! {
    static LOCAL: Local = const { Local(Cell::new(true)) };
    static LIST: RefCell<Vec<Local>> = const { RefCell::new(Vec::new()) };
}

#[test]
fn g_has_thread_locals() {
    let (x, y) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let (x2, y2) = (x.clone(), y.clone());
    let work = |mine: &AtomicU32, other: &AtomicU32| {
        LIST.with_borrow_mut(|list| list.push(Local(Cell::new(true))));
        LOCAL.with(|local| local.0.set(false));
        works(mine, other);
        LOCAL.with(|local| local.0.set(true));
    };
    let other = thread::spawn(move || work(&x2, &y2));
    work(&y, &x);
    other.join().unwrap();
}

#[derive(Clone)]
struct NeverDropped(u32);
impl Drop for NeverDropped {
    fn drop(&mut self) {
        panic!("a static is dropped");
    }
}
static LOCKED: Mutex<Vec<NeverDropped>> = Mutex::new(Vec::new());
static SHARED: std::sync::RwLock<Option<Box<NeverDropped>>> = std::sync::RwLock::new(None);

#[test]
fn h_statics_are_not_dropped() {
    assert!(LOCKED.lock().unwrap().is_empty() && SHARED.read().unwrap().is_none());
    let second = thread::spawn(|| {
        let mut value = SHARED.write().unwrap();
        if value.is_none() {
            *value = Some(Box::new(NeverDropped(3)));
        }
        LOCKED.lock().unwrap().push(NeverDropped(1));
    });
    LOCKED.lock().unwrap().push(NeverDropped(2));
    let seen = SHARED.read().unwrap().as_ref().map_or(3, |value| value.0);
    second.join().unwrap();
    assert_eq!(LOCKED.lock().unwrap().iter().map(|value| value.0).sum::<u32>(), seen);
}

/// Goes on for ever until it is told to stop, which it is in the program.
#[test]
fn i_runs_until_it_is_stopped() {
    hand_over(|| |is_over: bool| while !is_over { std::hint::black_box(is_over); });
}
"#;

#[test]
fn nothing_is_dropped_in_a_choice_that_is_left() {
    let dir = package(&format!("{HEAD}{HANDED_OVER}"));
    let run = seqz(dir.path(), ["check", "--no-explore", "--format", "json"]);
    let report = run.json();
    let harnesses = report["harnesses"].as_array().unwrap();
    assert_eq!(harnesses.len(), 9, "{}", run.shown());
    for harness in harnesses {
        assert_eq!(
            harness["bugs"].as_array().map_or(0, Vec::len),
            0,
            "{harness:#}"
        );
        assert_eq!(
            harness["faults"].as_array().map_or(0, Vec::len),
            0,
            "{harness:#}"
        );
        let verdict = harness["verdict"].as_str().unwrap();
        // Copies of values with destructors of the program's own are dropped, too: nothing is promised of these.
        if harness["name"] == "h_statics_are_not_dropped" {
            assert!(
                verdict.starts_with("not exhausted")
                    && verdict.contains("whose destructors run for each copy"),
                "{harness:#}"
            );
        } else {
            assert!(verdict.starts_with("exhausted"), "{harness:#}");
        }
    }
}

/// Threads of which one runs while the other one unwinds, in the order in which `check` runs them: each has its own panics.
const BESIDE: &str = r#"
use std::panic::{AssertUnwindSafe, catch_unwind};

struct OnDrop<F: FnMut()>(F);
impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// A thread that unwinds, and does this meanwhile.
fn unwinds(mut does: impl FnMut() + Send + 'static) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        let _does = OnDrop(move || does());
        panic!("it is handled");
    })
}

#[test]
fn a_does_not_poison_the_other_ones() {
    let (x, lock) = (Arc::new(AtomicU32::new(0)), Arc::new(Mutex::new(0)));
    let (x2, x3, its) = (x.clone(), x.clone(), lock.clone());
    let other = thread::spawn(move || { *its.lock().unwrap() += x2.load(SeqCst); });
    let unwinds = unwinds(move || { x3.store(1, SeqCst); });
    let results = (other.join(), unwinds.join());
    assert!(results.0.is_ok() && results.1.is_err());
    assert!(!lock.is_poisoned() && *lock.lock().unwrap() <= 1);
}

#[test]
fn b_asks_whether_it_panics() {
    let x = Arc::new(AtomicU32::new(0));
    let (x2, x3) = (x.clone(), x.clone());
    let unwinds = unwinds(move || { assert!(thread::panicking()); x3.store(1, SeqCst); });
    let other = thread::spawn(move || {
        let _asks = OnDrop(|| assert!(!thread::panicking(), "it does not panic"));
        x2.load(SeqCst);
    });
    assert!(unwinds.join().is_err());
    other.join().unwrap();
}

#[test]
fn c_both_panic() {
    let x = Arc::new(AtomicU32::new(0));
    let (x2, x3) = (x.clone(), x.clone());
    let (one, two) = (unwinds(move || { x2.fetch_add(1, SeqCst); }), unwinds(move || { x3.fetch_add(1, SeqCst); }));
    assert!(one.join().is_err() && two.join().is_err());
    assert_eq!(x.load(SeqCst), 2);
}

/// The thread is run by a destructor of the one that waits for it.
#[test]
#[should_panic(expected = "mine")]
fn d_joins_while_it_unwinds() {
    let (x, lock) = (Arc::new(AtomicU32::new(0)), Arc::new(Mutex::new(0)));
    let (x2, its) = (x.clone(), lock.clone());
    let mut other = Some(thread::spawn(move || {
        let _asks = OnDrop(|| assert!(!thread::panicking(), "it does not panic"));
        x2.fetch_add(1, SeqCst);
        *its.lock().unwrap() += 1;
        assert!(catch_unwind(AssertUnwindSafe(|| panic!("it is caught"))).is_err());
    }));
    let _joins = OnDrop(move || {
        x.fetch_add(1, SeqCst);
        other.take().unwrap().join().unwrap();
        assert!(!lock.is_poisoned() && thread::panicking());
        assert_eq!(x.load(SeqCst), 2);
    });
    panic!("mine");
}

static LOCK: Mutex<u32> = Mutex::new(0);

#[test]
fn e_gives_a_lock_back_while_it_unwinds() {
    let caught = catch_unwind(|| {
        let _guard = LOCK.lock().unwrap();
        drop(thread::spawn(|| {
            assert!(!LOCK.is_poisoned() || LOCK.lock().is_err(), "poison lasts");
        }));
        panic!("it is caught");
    });
    assert!(caught.is_err() && LOCK.is_poisoned());
}

/// What is wrong is still found.
#[test]
fn f_poisons() {
    let lock = Arc::new(Mutex::new(0));
    let its = lock.clone();
    let other = thread::spawn(move || {
        let _guard = its.lock().unwrap();
        panic!("under the guard");
    });
    let seen = lock.is_poisoned();
    assert!(other.join().is_err());
    assert!(!seen, "it is poisoned");
}

#[test]
#[should_panic(expected = "mine")]
fn g_is_held_by_a_scope() {
    let x = AtomicU32::new(0);
    let _asserts = OnDrop(|| assert_eq!(x.load(SeqCst), 2, "the scope has waited"));
    thread::scope(|scope| {
        scope.spawn(|| x.fetch_add(1, SeqCst));
        x.fetch_add(1, SeqCst);
        panic!("mine");
    });
}
"#;

#[test]
fn threads_of_which_one_unwinds_are_as_any_others() {
    let dir = package(&format!("{HEAD}{BESIDE}"));
    let run = seqz(dir.path(), ["check", "--no-explore", "--format", "json"]);
    let report = run.json();
    let harnesses = report["harnesses"].as_array().unwrap();
    assert_eq!(harnesses.len(), 7, "{}", run.shown());
    for harness in harnesses {
        let bugs = harness["bugs"].as_array().unwrap();
        let messages: Vec<_> = bugs
            .iter()
            .map(|bug| bug["message"].as_str().unwrap())
            .collect();
        let expected: &[&str] = match harness["name"].as_str().unwrap() {
            "f_poisons" => &["it is poisoned"],
            _ => &[],
        };
        assert_eq!(messages, expected, "{harness:#}");
        assert_eq!(
            harness["faults"].as_array().map_or(0, Vec::len),
            0,
            "{harness:#}"
        );
        let verdict = harness["verdict"].as_str().unwrap();
        assert!(verdict.starts_with("exhausted"), "{harness:#}");
    }
}

/// Programs without a failure whose threads can be left at all of their events: with locks in their hands, within
/// `catch_unwind`, while they handle a panic of their own, in a destructor.
const MIDDLES: &str = r#"
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::RwLock;

/// Goes when its thread is through, and does something then; it says so if it goes before.
struct Ends<F: FnMut()> { is_over: Cell<bool>, does: F }
impl<F: FnMut()> Drop for Ends<F> {
    fn drop(&mut self) {
        assert!(self.is_over.get(), "it is dropped in the middle");
        (self.does)();
    }
}
fn ends<F: FnMut()>(does: F) -> Ends<F> {
    Ends { is_over: Cell::new(false), does }
}

#[derive(Default)]
struct Shared { x: AtomicU32, lock: Mutex<u32>, other: Mutex<u32>, table: RwLock<u32> }

fn both(does: fn(&Shared)) {
    let shared = Arc::new(Shared::default());
    let its = Arc::clone(&shared);
    let thread = thread::spawn(move || does(&its));
    does(&shared);
    thread.join().unwrap();
    assert_ne!(*shared.table.read().unwrap(), 7);
}

/// The destructor takes a lock that has been given back by then.
#[test]
fn a_locks_at_its_end() {
    both(|shared| {
        let kept = ends(|| *shared.lock.lock().unwrap() += 1);
        let mut guard = shared.lock.lock().unwrap();
        *guard += 1;
        shared.x.fetch_add(1, SeqCst);
        drop(guard);
        kept.is_over.set(true);
    });
}
#[test]
fn b_holds_two_locks() {
    both(|shared| {
        let kept = ends(|| { shared.x.fetch_add(1, SeqCst); });
        let outer = shared.lock.lock().unwrap();
        let mut inner = shared.other.lock().unwrap();
        *inner += *outer;
        kept.is_over.set(true);
    });
}
#[test]
fn c_reads_and_writes() {
    both(|shared| {
        let mut guard = shared.table.write().unwrap();
        let kept = ends(|| { shared.x.load(SeqCst); });
        *guard += 1;
        shared.x.store(*guard, SeqCst);
        kept.is_over.set(true);
        drop(kept);
        drop(guard);
        let _guard = shared.table.read().unwrap();
        shared.x.load(SeqCst);
    });
}
/// To be left is no panic.
#[test]
fn d_catches_nothing() {
    both(|shared| {
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let kept = ends(|| *shared.other.lock().unwrap() += 1);
            let _guard = shared.lock.lock().unwrap();
            shared.x.fetch_add(1, SeqCst);
            shared.x.load(SeqCst);
            kept.is_over.set(true);
        }));
        caught.expect("nothing panics");
    });
}
/// Left while it unwinds for a reason of its own, which poisons the lock.
#[test]
fn e_unwinds() {
    both(|shared| {
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let kept = ends(|| { shared.x.fetch_add(1, SeqCst); shared.x.load(SeqCst); });
            kept.is_over.set(true);
            let _guard = shared.lock.lock().unwrap_or_else(|it| it.into_inner());
            shared.x.load(SeqCst);
            panic!("it is handled");
        }));
        assert!(caught.is_err());
    });
}
/// The panic is a destructor's, of a value that goes when it should.
#[test]
fn f_panics_in_a_destructor() {
    both(|shared| {
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let kept = ends(|| {
                *shared.other.lock().unwrap_or_else(|it| it.into_inner()) += 1;
                panic!("it is handled, too");
            });
            let _guard = shared.lock.lock().unwrap_or_else(|it| it.into_inner());
            shared.x.fetch_add(1, SeqCst);
            kept.is_over.set(true);
        }));
        assert!(caught.is_err());
    });
}
#[test]
fn g_puts_back_what_it_took() {
    both(|shared| {
        let kept = ends(|| drop(shared.table.try_write()));
        if let Ok(mut guard) = shared.lock.try_lock() {
            let old = std::mem::replace(&mut *guard, 7);
            shared.x.load(SeqCst);
            *guard = old;
        }
        kept.is_over.set(true);
    });
}
"#;

/// More than the longest execution has.
const EVENTS: u32 = 28;

/// Wherever an execution is cut, nothing of the program runs any more in it, and the next one begins as if it had not been.
#[test]
fn nothing_runs_in_a_thread_that_is_left_at_any_of_its_events() {
    let dir = package(&format!("{HEAD}{MIDDLES}"));
    let mut whole = 0;
    for steps in 1..=EVENTS {
        let steps = steps.to_string();
        for by in [
            &["explore", "--strategy", "odpor"][..],
            &["explore", "--strategy", "mcr"],
            &["check", "--no-explore"],
        ] {
            let limits = [
                "--max-executions",
                "60",
                "--spurious",
                "0",
                "--max-steps",
                &steps,
            ];
            let run = seqz(
                dir.path(),
                by.iter().chain(&limits).chain(&["--format", "json"]),
            );
            assert!(
                matches!(run.code, Some(0 | 1)),
                "{steps} {by:?}: {}",
                run.shown()
            );
            let report = run.json();
            let field = if by[0] == "check" { "bugs" } else { "failures" };
            let harnesses = report["harnesses"].as_array().unwrap();
            assert_eq!(harnesses.len(), 7, "{}", run.shown());
            for harness in harnesses {
                let found = harness[field].as_array().unwrap();
                assert!(found.is_empty(), "{steps} {by:?}: {harness:#}");
                assert_eq!(
                    harness["faults"].as_array().map_or(0, Vec::len),
                    0,
                    "{harness:#}"
                );
                let verdict = harness["verdict"].as_str().unwrap();
                whole += u32::from(verdict.starts_with("exhausted"));
            }
        }
    }
    // The largest bounds let programs come to their ends.
    assert!(whole >= 7, "{whole}");
}
