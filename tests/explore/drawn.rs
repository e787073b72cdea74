//! What fails only with other random numbers than the usual ones is a failure, told with their sequence, which a replay draws.

use serde_json::Value;

use super::support::{Package, newest_finding, package, seqz};

/// With one value of the parameter, the usual numbers lead there; with others, other ones do.
const PROGRAM: &str = r#"
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

fn draws(bad: usize, there: fn()) {
    let n = Arc::new(AtomicUsize::new(8));
    let theirs = n.clone();
    let t = thread::spawn(move || {
        let set: HashSet<usize> = (0..4).collect();
        theirs.store(*set.iter().next().unwrap(), SeqCst);
    });
    t.join().unwrap();
    if n.load(SeqCst) == bad {
        there();
    }
}

pub fn fails(bad: usize) {
    draws(bad, || panic!("drawn"));
}

pub fn dies(bad: usize) {
    draws(bad, || unsafe { std::ptr::null_mut::<u8>().write_volatile(1) });
}

pub fn hangs(bad: usize) {
    draws(bad, || loop { std::hint::black_box(0); });
}
"#;

/// The first failure that usual numbers do not lead to, with the report that it is in.
fn drawn(dir: &Package, harness: &str) -> (Value, Value) {
    for bad in 0..4 {
        let report = seqz(
            dir.path(),
            ["explore", "--format", "json", "--harness", harness]
                .map(str::to_owned)
                .into_iter()
                .chain(["--hang-after".to_owned(), "2".to_owned()])
                .chain(["--input".to_owned(), format!("bad={bad}")]),
        )
        .json();
        let failure = &report["harnesses"][0]["failures"][0];
        if failure["random_numbers"].as_u64().unwrap_or(0) > 0 {
            return (failure.clone(), report);
        }
    }
    panic!("{harness} fails with the usual numbers alone");
}

#[test]
fn what_fails_with_other_numbers_is_told_and_replayed() {
    let dir = package(PROGRAM);
    for (harness, kind) in [("fails", "panic"), ("dies", "crash"), ("hangs", "hang")] {
        let (failure, report) = drawn(&dir, harness);
        assert_eq!(failure["kind"], kind, "{failure:#}");
        assert_eq!(report["summary"]["failures"], 1, "{report:#}");
        let told = report["harnesses"][0]["verdict"].as_str().unwrap();
        assert!(!told.starts_with("exhausted"), "{told}");
        if harness != "fails" {
            continue;
        }
        let file = newest_finding(dir.path(), &report);
        let again = seqz(dir.path(), ["replay".as_ref(), file.as_os_str()]);
        let same = again.stdout.contains("as it did when it was found");
        assert!(same && again.code == Some(1), "{}", again.shown());
    }
}
