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
