//! Readers of an `RwLock` whom no writer meets are not searched; those whom one meets are.

use super::explore_json;

/// How often tests are executed, what is promised of them, and whether they fail, by name.
const READERS: &str = "
use std::sync::RwLock;

fn readers(lock: &Arc<RwLock<u32>>) -> Vec<thread::JoinHandle<u32>> {
    let one = |_| {
        let lock = Arc::clone(lock);
        thread::spawn(move || *lock.read().unwrap())
    };
    (0..4).map(one).collect()
}

#[test]
fn a_readers_alone() {
    let lock = Arc::new(RwLock::new(1));
    *lock.write().unwrap() += 1;
    let read: u32 = readers(&lock).into_iter().map(|it| it.join().unwrap()).sum();
    *lock.write().unwrap() += read;
    assert_eq!(*lock.read().unwrap(), 10);
}

#[test]
fn b_a_writer_among_them() {
    let lock = Arc::new(RwLock::new(0));
    let all = readers(&lock);
    *lock.write().unwrap() = 1;
    let read: u32 = all.into_iter().map(|it| it.join().unwrap()).sum();
    assert_ne!(read, 2, \"two of them\");
}

#[test]
fn c_a_writer_that_comes_in_few_executions() {
    let flag = Arc::new(AtomicBool::new(false));
    let sets = Arc::clone(&flag);
    let lock = Arc::new(RwLock::new(0));
    let all = readers(&lock);
    let is_set = flag.load(SeqCst);
    let setter = thread::spawn(move || sets.store(true, SeqCst));
    if is_set || flag.load(SeqCst) {
        *lock.write().unwrap() = 1;
    }
    setter.join().unwrap();
    let read: u32 = all.into_iter().map(|it| it.join().unwrap()).sum();
    assert_ne!(read, 3, \"three of them\");
}

#[test]
fn d_readers_who_try() {
    let lock = Arc::new(RwLock::new(1));
    let one = |_| {
        let lock = Arc::clone(&lock);
        thread::spawn(move || lock.try_read().is_ok_and(|it| *it == 1))
    };
    let all: Vec<_> = (0..3).map(one).collect();
    assert!(all.into_iter().all(|it| it.join().unwrap()));
}
";

#[test]
fn readers_whom_no_writer_meets_are_one_execution() {
    for args in [
        &["--strategy", "odpor"][..],
        &["--strategy", "dpor"],
        &["--strategy", "hbr-cache+dpor"],
        &["--strategy", "odpor", "--jobs", "2"],
    ] {
        let (_, report) = explore_json(READERS, args);
        let harnesses = report["harnesses"].as_array().unwrap();
        for harness in harnesses {
            let name = harness["name"].as_str().unwrap();
            assert_eq!(harness["promise"]["state"], "exhausted", "{args:?} {name}");
            let fails = harness["failures"].as_array().unwrap().len();
            let (alone, expected) = match &name[..1] {
                "a" | "d" => (true, 0),
                _ => (false, 1),
            };
            assert_eq!(fails, expected, "{args:?} {name}");
            let executions = harness["counts"]["executions"].as_u64().unwrap();
            // A part of a search knows nothing of what others meet.
            if args.len() < 4 {
                assert_eq!(executions == 1, alone, "{args:?} {name}: {executions}");
            }
        }
        assert_eq!(harnesses.len(), 4);
    }
}
