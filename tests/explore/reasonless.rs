//! What std lets happen without a reason is tried once, outside of loops that look again.

use std::collections::BTreeMap;

use serde_json::Value;

use super::support::{Package, newest_finding, package, seqz};

/// Each fails if something happens without a reason; those in loops never do.
const PROGRAM: &str = r#"
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

fn with_another(run: impl FnOnce() + Send + 'static, main: impl FnOnce()) {
    let other = thread::spawn(run);
    main();
    other.join().unwrap();
}

#[test]
fn exchange() {
    let x = Arc::new(AtomicU32::new(0));
    let y = x.clone();
    with_another(move || { y.load(SeqCst); }, || {
        assert!(x.compare_exchange_weak(0, 1, SeqCst, SeqCst).is_ok(), "it was free");
    });
}

struct Flag(AtomicBool);

impl Flag {
    fn try_take(&self) -> bool {
        self.0.compare_exchange_weak(false, true, SeqCst, SeqCst) == Ok(false)
    }
}

#[test]
fn exchange_in_a_method() {
    let flag = Arc::new(Flag(AtomicBool::new(false)));
    let same = flag.clone();
    with_another(move || { same.0.load(SeqCst); }, || {
        assert!(flag.try_take(), "nobody else takes it");
    });
}

#[test]
fn exchange_in_a_loop() {
    let x = Arc::new(AtomicU32::new(0));
    let y = x.clone();
    let add = |x: &AtomicU32| {
        let mut seen = x.load(SeqCst);
        while let Err(now) = x.compare_exchange_weak(seen, seen + 1, SeqCst, SeqCst) {
            seen = now;
        }
    };
    with_another(move || add(&y), || add(&x));
    assert_eq!(x.load(SeqCst), 2);
}

#[test]
fn a_wait() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let same = pair.clone();
    with_another(move || { *same.0.lock().unwrap() = true; same.1.notify_one(); }, || {
        let mut set = pair.0.lock().unwrap();
        if !*set {
            set = pair.1.wait(set).unwrap();
        }
        assert!(*set, "it is set");
    });
}

#[test]
fn wait_with_a_limit() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let same = pair.clone();
    with_another(move || { *same.0.lock().unwrap() = true; same.1.notify_one(); }, || {
        let set = pair.0.lock().unwrap();
        if !*set {
            let (set, over) = pair.1.wait_timeout(set, Duration::from_secs(1)).unwrap();
            assert!(*set || over.timed_out(), "the time is over, or it is set");
        }
    });
}

#[test]
fn wait_in_a_loop() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let same = pair.clone();
    with_another(move || { *same.0.lock().unwrap() = true; same.1.notify_one(); }, || {
        let mut set = pair.0.lock().unwrap();
        while !*set {
            set = pair.1.wait(set).unwrap();
        }
        drop(pair.1.wait_while(set, |set| !*set).unwrap());
    });
}

#[test]
fn wait_in_a_for() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let same = pair.clone();
    with_another(move || { *same.0.lock().unwrap() = true; same.1.notify_one(); }, || {
        let mut set = pair.0.lock().unwrap();
        for _ in 0..1 {
            if !*set {
                set = pair.1.wait(set).unwrap();
            }
        }
        assert!(*set, "it is set");
    });
}

#[test]
fn exchange_in_a_for() {
    let x = Arc::new(AtomicU32::new(0));
    let y = x.clone();
    with_another(move || { y.load(SeqCst); }, || {
        for now in 0..2 {
            assert!(x.compare_exchange_weak(now, now + 1, SeqCst, SeqCst).is_ok(), "it was free");
        }
    });
}

#[test]
fn exchange_whose_turns_are_counted() {
    let x = Arc::new(AtomicU32::new(0));
    let y = x.clone();
    with_another(move || { y.load(SeqCst); }, || {
        let mut lost = 0;
        while x.compare_exchange_weak(0, 1, SeqCst, SeqCst).is_err() {
            lost += 1;
        }
        assert_eq!(lost, 0, "nobody else takes it");
    });
}

#[test]
fn exchange_whose_failures_are_harmless() {
    let x = Arc::new(AtomicU32::new(0));
    let y = x.clone();
    let take = |x: &AtomicU32| {
        let mut lost = 0;
        while x.compare_exchange_weak(0, 1, SeqCst, SeqCst).is_err() {
            if x.load(SeqCst) == 0 { lost += 1; }
            x.store(0, SeqCst);
        }
        assert!(lost < 100);
    };
    with_another(move || take(&y), move || take(&x));
}

#[test]
fn exchange_that_is_given_up() {
    let x = Arc::new(AtomicU32::new(0));
    let y = x.clone();
    with_another(move || { y.load(SeqCst); }, || {
        let mut has_failed = false;
        loop {
            match x.compare_exchange_weak(0, 1, SeqCst, SeqCst) {
                Ok(_) => break,
                Err(_) if has_failed => break,
                Err(_) => has_failed = true,
            }
        }
        assert!(!has_failed, "nobody else takes it");
    });
}

#[test]
fn exchange_that_ends_a_loop() {
    let x = Arc::new(AtomicU32::new(0));
    let y = x.clone();
    with_another(move || { y.load(SeqCst); }, || {
        let taken = loop {
            if x.load(SeqCst) == 1 {
                break false;
            }
            if x.compare_exchange_weak(0, 1, SeqCst, SeqCst).is_err() {
                break false;
            }
            break true;
        };
        assert!(taken, "nobody else takes it");
    });
}

#[test]
fn wait_after_which_something_is_claimed() {
    let pair = Arc::new((Mutex::new(0), Condvar::new()));
    let same = pair.clone();
    with_another(move || { *same.0.lock().unwrap() = 2; same.1.notify_one(); }, || {
        let mut set = pair.0.lock().unwrap();
        while *set < 2 {
            set = pair.1.wait(set).unwrap();
            assert_ne!(*set, 0, "it is set");
        }
    });
}

#[test]
fn wait_with_a_number_of_turns() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let same = pair.clone();
    with_another(move || { *same.0.lock().unwrap() = true; same.1.notify_one(); }, || {
        let mut set = pair.0.lock().unwrap();
        let mut turns = 0;
        while !*set && turns < 1 {
            turns += 1;
            set = pair.1.wait(set).unwrap();
        }
        assert!(*set, "it is set");
    });
}

#[test]
fn exchange_that_pauses_longer_in_a_loop() {
    let x = Arc::new(AtomicU32::new(0));
    let y = x.clone();
    with_another(move || { y.load(SeqCst); }, || {
        let mut step = 0;
        while x.compare_exchange_weak(0, 1, SeqCst, SeqCst).is_err() {
            for _ in 0..1 << step {
                std::hint::spin_loop();
            }
            if step < 6 {
                step += 1;
            }
        }
    });
}

#[test]
fn exchange_whose_result_is_judged_after_the_loop() {
    let x = Arc::new(AtomicU32::new(0));
    let y = x.clone();
    with_another(move || { y.load(SeqCst); }, || {
        let mut result;
        loop {
            result = x.compare_exchange_weak(0, 1, SeqCst, SeqCst);
            if x.load(SeqCst) < 2 {
                break;
            }
        }
        assert!(result.is_ok(), "nobody else takes it");
    });
}

macro_rules! bump {
    ($number:ident) => { $number += 1 };
}

#[test]
fn exchange_in_a_loop_with_a_macro_that_counts() {
    let x = Arc::new(AtomicU32::new(0));
    let y = x.clone();
    with_another(move || { y.load(SeqCst); }, || {
        let mut lost = 0;
        while x.compare_exchange_weak(0, 1, SeqCst, SeqCst).is_err() {
            bump!(lost);
        }
        assert_eq!(lost, 0, "nobody else takes it");
    });
}

macro_rules! take {
    ($x:expr) => { $x.compare_exchange_weak(0, 1, SeqCst, SeqCst).is_ok() };
}

macro_rules! take_by_another {
    ($x:expr) => { if true { take!($x) } else { false } };
}

macro_rules! take_all {
    ($($x:ident),*) => { $( assert!($x.compare_exchange_weak(0, 1, SeqCst, SeqCst).is_ok()); )* };
}

macro_rules! now {
    (do $what:expr ; now) => { $what };
}

macro_rules! retry {
    ($x:expr) => { while $x.compare_exchange_weak(0, 1, SeqCst, SeqCst).is_err() {} };
}

#[test]
fn exchange_in_the_text_of_a_macro() {
    let x = Arc::new(AtomicU32::new(0));
    let y = x.clone();
    with_another(move || { y.load(SeqCst); }, || assert!(take!(x), "nobody else takes it"));
}

#[test]
fn exchange_in_a_macro_in_a_macro() {
    let x = Arc::new(AtomicU32::new(0));
    let y = x.clone();
    with_another(move || { y.load(SeqCst); }, || assert!(take_by_another!(x)));
}

#[test]
fn exchange_that_a_macro_repeats() {
    let x = Arc::new(AtomicU32::new(0));
    let y = x.clone();
    with_another(move || { y.load(SeqCst); }, || { take_all!(x); });
}

#[test]
fn exchange_that_a_macro_is_given() {
    let x = Arc::new(AtomicU32::new(0));
    let y = x.clone();
    with_another(move || { y.load(SeqCst); }, || {
        assert!(now!(do x.compare_exchange_weak(0, 1, SeqCst, SeqCst).is_ok() ; now));
    });
}

#[test]
fn exchange_of_a_macro_in_a_loop() {
    let x = Arc::new(AtomicU32::new(0));
    let y = x.clone();
    with_another(move || { y.load(SeqCst); }, || retry!(x));
}

#[test]
fn wait_before_the_first_look() {
    let pair = Arc::new((Mutex::new(false), Condvar::new(), AtomicBool::new(false)));
    let same = pair.clone();
    let run = move || {
        *same.0.lock().unwrap() = true;
        same.2.store(true, SeqCst);
        same.1.notify_one();
    };
    with_another(run, || {
        let mut set = pair.0.lock().unwrap();
        if !*set {
            loop {
                set = pair.1.wait(set).unwrap();
                if *set {
                    break;
                }
            }
            assert!(pair.2.load(SeqCst), "it has been notified");
        }
    });
}

#[test]
fn wait_while_that_counts_its_looks() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let same = pair.clone();
    with_another(move || { *same.0.lock().unwrap() = true; same.1.notify_one(); }, || {
        let mut looks = 0;
        let set = pair.0.lock().unwrap();
        drop(pair.1.wait_while(set, |set| { looks += 1; !*set }).unwrap());
        assert!(looks <= 2, "one look before the wait, and one after it");
    });
}

#[test]
fn wait_while_that_changes_what_it_looks_at() {
    let pair = Arc::new((Mutex::new((false, 0)), Condvar::new()));
    let same = pair.clone();
    with_another(move || { same.0.lock().unwrap().0 = true; same.1.notify_one(); }, || {
        let set = pair.0.lock().unwrap();
        let set = Condvar::wait_while(&pair.1, set, |(set, looks)| { *looks += 1; !*set }).unwrap();
        assert!(set.1 <= 2, "one look before the wait, and one after it");
    });
}

#[test]
fn wait_while_with_a_limit_that_keeps_what_it_sees() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let same = pair.clone();
    with_another(move || { *same.0.lock().unwrap() = true; same.1.notify_one(); }, || {
        let mut seen = Vec::new();
        let set = pair.0.lock().unwrap();
        let limit = Duration::from_secs(1);
        drop(pair.1.wait_timeout_while(set, limit, |set| { seen.push(*set); !*set }).unwrap());
        assert!(seen.len() <= 2, "one look before the wait, and one after it");
    });
}

#[test]
fn wait_while_that_is_harmless() {
    struct State { set: bool }
    impl State { fn waits(&self) -> bool { !self.set } }
    let pair = Arc::new((Mutex::new(State { set: false }), Condvar::new(), AtomicBool::new(true)));
    let same = pair.clone();
    with_another(move || { same.0.lock().unwrap().set = true; same.1.notify_one(); }, || {
        let state = pair.0.lock().unwrap();
        let state = pair.1.wait_while(state, |state| state.waits() && pair.2.load(SeqCst)).unwrap();
        drop(pair.1.wait_while(state, |state| !state.set).unwrap());
    });
}

#[test]
fn update_that_counts_its_calls() {
    let x = Arc::new(AtomicU32::new(0));
    let y = x.clone();
    with_another(move || { y.load(SeqCst); }, || {
        let mut calls = 0;
        loop {
            let done = x.fetch_update(SeqCst, SeqCst, |x| { calls += 1; x.checked_add(1) });
            if done.is_ok() { break; }
        }
        assert_eq!(calls, 1, "nobody else changes it");
    });
}

static CALLS: AtomicU32 = AtomicU32::new(0);

fn next(x: u32) -> Option<u32> {
    CALLS.fetch_add(1, SeqCst);
    Some(x + 1)
}

#[test]
fn update_by_a_function_with_an_event() {
    let x = Arc::new(AtomicU32::new(0));
    let y = x.clone();
    with_another(move || { y.load(SeqCst); }, || {
        x.fetch_update(SeqCst, SeqCst, next).unwrap();
        assert_eq!(CALLS.load(SeqCst), 1, "nobody else changes it");
    });
}

#[test]
fn update_by_a_closure_that_calls_such_a_function() {
    let x = Arc::new(AtomicU32::new(0));
    let y = x.clone();
    with_another(move || { y.load(SeqCst); }, || {
        AtomicU32::fetch_update(&x, SeqCst, SeqCst, |x| next(x)).unwrap();
        assert_eq!(CALLS.load(SeqCst), 1, "nobody else changes it");
    });
}

#[test]
fn update_that_is_harmless() {
    fn next(x: u32) -> Option<u32> { x.checked_add(1) }
    let x = Arc::new(AtomicU32::new(0));
    let y = x.clone();
    with_another(move || { y.fetch_update(SeqCst, SeqCst, |x| Some(x + 1)).unwrap(); }, || {
        x.fetch_update(SeqCst, SeqCst, |x| if x == 9 { None } else { Some(x * 2) }).unwrap();
    });
}

#[test]
fn a_park() {
    let set = Arc::new(AtomicBool::new(false));
    let same = set.clone();
    let main = thread::current();
    with_another(move || { same.store(true, SeqCst); main.unpark(); }, || {
        thread::park();
        assert!(set.load(SeqCst), "it is unparked");
    });
}

#[test]
fn park_in_a_loop() {
    let set = Arc::new(AtomicBool::new(false));
    let same = set.clone();
    let main = thread::current();
    with_another(move || { same.store(true, SeqCst); main.unpark(); }, || {
        while !set.load(SeqCst) {
            thread::park();
        }
    });
}
"#;

fn failing(dir: &Package, args: &[&str]) -> (BTreeMap<String, bool>, Value) {
    let all = ["explore", "--format", "json"].iter().chain(args);
    let report = seqz(dir.path(), all).json();
    let harnesses = report["harnesses"].as_array().unwrap();
    let all = harnesses.iter().map(|harness| {
        let name = harness["name"].as_str().unwrap().to_owned();
        let exhausted = harness["promise"]["state"] == "exhausted";
        assert!(exhausted, "{args:?}: {harness:#}");
        (name, harness["failures"] != Value::Array(Vec::new()))
    });
    (all.collect(), report.clone())
}

fn passes(name: &str) -> bool {
    name.ends_with("in_a_loop") || name.ends_with("harmless")
}

/// Whether something may happen without a reason there that makes a difference, as far as the source shows.
fn is_tried(name: &str) -> bool {
    !passes(name) || name == "exchange_whose_failures_are_harmless"
}

#[test]
fn what_may_happen_without_a_reason_does_outside_of_loops() {
    let dir = package(PROGRAM);
    let (found, report) = failing(&dir, &[]);
    assert_eq!(found.len(), 33);
    for (name, fails) in &found {
        let passes = passes(name);
        assert_eq!(*fails, !passes, "{name}");
    }
    for harness in report["harnesses"].as_array().unwrap() {
        let name = harness["name"].as_str().unwrap();
        let told = harness["verdict"].as_str().unwrap();
        let once = told.contains("without a reason, once in an execution");
        assert_eq!(once, is_tried(name), "{told}");
    }
    let file = newest_finding(dir.path(), &report);
    let again = seqz(dir.path(), ["replay".as_ref(), file.as_os_str()]);
    assert!(
        again.stdout.contains("as it did when it was found"),
        "{}",
        again.shown()
    );

    let (found, report) = failing(&dir, &["--spurious", "0"]);
    assert!(found.values().all(|fails| !fails), "{found:?}");
    let told = report["harnesses"][0]["verdict"].as_str().unwrap();
    assert!(told.contains("--spurious 0"), "{told}");
}

#[test]
fn a_check_that_does_not_try_it_is_not_exhausted() {
    let dir = package(PROGRAM);
    let harnesses = ["exchange", "exchange_in_a_method", "exchange_in_a_loop"];
    let names = harnesses.iter().flat_map(|name| ["--harness", name]);
    let all: Vec<_> = ["check", "--format", "json"]
        .into_iter()
        .chain(names)
        .collect();
    let report = seqz(dir.path(), &all).json();
    assert_eq!(report["summary"]["bugs"], 0);
    assert_eq!(report["summary"]["failures"], 2, "{report:#}");
    for harness in report["harnesses"].as_array().unwrap() {
        let told = harness["verdict"].as_str().unwrap();
        let whole = harness["name"] == "exchange_in_a_loop";
        assert_eq!(told.starts_with("exhausted"), whole, "{told}");
        assert_eq!(told.contains("the weak exchange at src/lib.rs:"), !whole);
    }
    let report = seqz(dir.path(), all.iter().chain(&["--spurious", "0"])).json();
    assert_eq!(report["summary"]["failures"], 0);
    assert_eq!(report["summary"]["exhausted"], true, "{report:#}");
}
