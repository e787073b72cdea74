//! Destructors that use what threads share while their thread panics: no other thread can run in between, so no
//! strategy may say that it has seen everything.

mod support;

use serde_json::Value;
use support::programs::HEAD;
use support::{package, seqz};

const NOTES: &str = "
struct Note(Arc<AtomicU32>, Arc<AtomicU32>);

impl Drop for Note {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
        self.1.fetch_add(1, SeqCst);
    }
}

#[test]
fn a_note_is_taken_of_a_panic() {
    let (first, second) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let note = Note(first.clone(), second.clone());
    let reader = thread::spawn(move || {
        let (one, other) = (first.load(SeqCst), second.load(SeqCst));
        assert!(one >= other || one == 0);
    });
    let noted = thread::spawn(move || {
        let _note = note;
        panic!(\"this is noted\");
    });
    let is_noted = noted.join().is_err();
    reader.join().unwrap();
    assert!(!is_noted, \"a note is taken\");
}
";

#[test]
fn nothing_is_exhausted_where_threads_could_not_be_switched() {
    let dir = package(&format!("{HEAD}{NOTES}"));
    for strategy in ["dfs", "dpor", "odpor", "icb", "mcr", "rv-causal"] {
        let run = seqz(
            dir.path(),
            ["explore", "--strategy", strategy, "--format", "json"],
        );
        let harness = &run.json()["harnesses"][0];
        // A search that would run another thread while one unwinds ends there, and what the test handles is no failure.
        let failures = harness["failures"].as_array().into_iter().flatten();
        let found = failures.map(|failure| failure["message"].as_str());
        let found: Vec<_> = found.map(Option::unwrap_or_default).collect();
        assert!(
            found.iter().all(|&message| message == "a note is taken"),
            "{strategy}: {found:?}"
        );
        assert!(strategy != "dfs" || !found.is_empty(), "the panic is found");
        let reasons = harness["promise"]["reasons"].as_array();
        assert!(
            reasons.is_some_and(|reasons| reasons.contains(&Value::from("unwinding"))),
            "{strategy}: {harness:#}"
        );
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
            let reasons = harness["promise"]["reasons"].as_array();
            assert!(
                reasons.is_some_and(|reasons| reasons.contains(&Value::from("unwinding"))),
                "{strategy}: {harness:#}"
            );
        }
    }
}
