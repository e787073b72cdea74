//! Programs are built as cargo builds them for `cargo test`: whatever they can see of their build is the same, and what compiles
//! there compiles here.

mod support;

use support::programs::HEAD;
use support::{package, seqz};

/// Values behind locks that can't be copied. A static's are the initial ones in every execution all the same.
const UNCOPIED: &str = "
use std::sync::{Condvar, RwLock, mpsc};

type Job = Box<dyn FnOnce() -> u64 + Send + 'static>;

#[test]
fn a_pool_of_threads() {
    let (send, receive) = mpsc::channel::<Job>();
    let receive = Arc::new(Mutex::new(receive));
    let workers: Vec<_> = (0..2)
        .map(|_| {
            let receive = Arc::clone(&receive);
            thread::spawn(move || {
                let mut sum = 0;
                while let Ok(job) = { let job = receive.lock().unwrap().recv(); job } { sum += job(); }
                sum
            })
        })
        .collect();
    for i in 0..2 { send.send(Box::new(move || i)).unwrap(); }
    drop(send);
    assert_eq!(workers.into_iter().map(|worker| worker.join().unwrap()).sum::<u64>(), 1);
}

#[test]
fn callbacks() {
    let all: Arc<Mutex<Vec<Box<dyn Fn(u32) -> u32 + Send>>>> = Arc::default();
    let theirs = all.clone();
    let adds = thread::spawn(move || theirs.lock().unwrap().push(Box::new(|x| x + 1)));
    assert_eq!(all.lock().unwrap().iter().map(|call| call(1)).sum::<u32>(), 2, \"not added yet\");
    adds.join().unwrap();
}

static HOOKS: Mutex<Vec<Box<dyn FnMut() -> usize + Send>>> = Mutex::new(Vec::new());

fn hook() -> usize {
    let mut hooks = HOOKS.lock().unwrap();
    let number = hooks.len();
    hooks.push(Box::new(move || number));
    hooks.iter_mut().map(|hook| hook()).sum()
}

#[test]
fn a_static_begins_anew() {
    let other = thread::spawn(hook);
    let sums = [hook(), other.join().unwrap()];
    assert!(sums == [0, 1] || sums == [1, 0]);
}

struct Once(Condvar, Mutex<Option<Box<dyn Fn() + Send>>>);

#[test]
fn a_slot_is_waited_for() {
    let slot = Arc::new(Once(Condvar::new(), Mutex::new(None)));
    let theirs = Arc::clone(&slot);
    let other = thread::spawn(move || {
        let mut slot = theirs.1.lock().unwrap();
        while slot.is_none() { slot = theirs.0.wait(slot).unwrap(); }
        slot.take().unwrap()();
    });
    *slot.1.lock().unwrap() = Some(Box::new(|| ()));
    slot.0.notify_one();
    other.join().unwrap();
}

#[test]
fn a_handle_behind_a_lock() {
    let handle = Arc::new(RwLock::new(None));
    *handle.write().unwrap() = Some(thread::spawn(|| 7));
    let theirs = Arc::clone(&handle);
    let joins = thread::spawn(move || theirs.write().unwrap().take().map(|handle| handle.join().unwrap()));
    let mine = handle.write().unwrap().take().map(|handle| handle.join().unwrap());
    assert_eq!(mine.or(joins.join().unwrap()), Some(7));
}
";

#[test]
fn explore_makes_no_copies() {
    let dir = package(&format!("{HEAD}{UNCOPIED}"));
    let explored = seqz(dir.path(), ["explore", "--format", "json"]);
    let report = explored.json();
    for harness in report["harnesses"].as_array().unwrap() {
        let name = harness["name"].as_str().unwrap();
        let failures: Vec<_> = harness["failures"]
            .as_array()
            .unwrap()
            .iter()
            .map(|failure| failure["message"].as_str().unwrap())
            .collect();
        let is_right = match name {
            "callbacks" => failures.len() == 1 && failures[0].contains("not added yet"),
            _ => failures.is_empty(),
        };
        assert!(is_right, "{name}: {failures:?}");
        assert_eq!(
            harness["promise"]["state"], "exhausted",
            "{name}: {harness}"
        );
    }
    assert_eq!(report["harnesses"].as_array().unwrap().len(), 5);
    // The finding is run again by the same worker, and `check` says what it can't do and what can.
    let found = std::fs::read_dir(report["findings"].as_str().unwrap()).unwrap();
    let finding = found
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|end| end == "json"))
        .unwrap();
    let replayed = seqz(dir.path(), ["replay".as_ref(), finding.as_os_str()]);
    assert_eq!(replayed.code, Some(1), "{}", replayed.shown());
    let checked = seqz(dir.path(), ["check", "--harness", "callbacks"]);
    assert_eq!(checked.code, Some(2), "{}", checked.shown());
    assert!(
        checked.stderr.contains("use `seqz explore`"),
        "{}",
        checked.shown()
    );
    assert!(!checked.stderr.contains("`_`"), "{}", checked.shown());
}
