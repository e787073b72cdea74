//! A harness that fails of a lock which another thread has poisoned fails, whatever becomes of the other one's panic; and
//! where that one is told, nothing is said beside it.

mod support;

use support::programs::HEAD;
use support::{package, program, seqz};

const PROGRAM: &str = r#"
fn poisons(lock: &Mutex<u32>) {
    let _guard = lock.lock().unwrap();
    panic!("on purpose");
}

#[test]
fn joined_later() {
    let lock = Arc::new(Mutex::new(0));
    let other = lock.clone();
    let thread = thread::spawn(move || poisons(&other));
    drop(lock.lock().unwrap());
    let _ = thread.join();
}

#[test]
fn expected() {
    let lock = Arc::new(Mutex::new(0));
    let other = lock.clone();
    let thread = thread::spawn(move || poisons(&other));
    *lock.lock().expect("mine") += 1;
    assert!(thread.join().is_err());
}

#[test]
fn let_go() {
    let lock = Arc::new(Mutex::new(0));
    let other = lock.clone();
    thread::spawn(move || poisons(&other));
    *lock.lock().unwrap() += 1;
}

#[test]
fn scoped() {
    let lock = Mutex::new(0);
    thread::scope(|scope| {
        let thread = scope.spawn(|| poisons(&lock));
        *lock.lock().unwrap() += 1;
        let _ = thread.join();
    });
}

#[test]
fn never_fails() {
    let lock = Arc::new(Mutex::new(0));
    let other = lock.clone();
    let thread = thread::spawn(move || poisons(&other));
    *lock.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) += 1;
    let _ = thread.join();
}
"#;

#[test]
fn the_harness_fails_though_what_poisoned_its_lock_is_handled_later() {
    let dir = package(&format!("{HEAD}{PROGRAM}"));
    let ignore = "--ignore-detached-panics";
    for (args, failures) in [
        (&["explore", ignore][..], "failures"),
        (&["explore", ignore, "--strategy", "mcr"], "failures"),
        (&["explore", ignore, "--strategy", "dfs"], "failures"),
        (&["check", ignore], "bugs"),
    ] {
        let run = seqz(dir.path(), args.iter().chain(&["--format", "json"]));
        let report = run.json();
        let harnesses = report["harnesses"].as_array().unwrap();
        assert_eq!(harnesses.len(), PROGRAM.matches("#[test]").count());
        for harness in harnesses {
            let name = harness["name"].as_str().unwrap();
            let found = harness[failures].as_array().into_iter().flatten();
            let is_own = |message: &str| message.ends_with("PoisonError { .. }");
            let own = found.filter(|it| it["message"].as_str().is_some_and(is_own));
            let expected = usize::from(name != "never_fails");
            assert_eq!(own.count(), expected, "{args:?}: {harness:#}");
        }
    }
}

/// Where the panic that poisons the lock is a failure of its own, in some executions at least.
const TOLD: &str = r#"
fn poisons(lock: &Mutex<u32>) {
    let _guard = lock.lock().unwrap();
    panic!("on purpose");
}

#[test]
fn passed_on() {
    let lock = Arc::new(Mutex::new(0));
    let other = lock.clone();
    let thread = thread::spawn(move || poisons(&other));
    drop(lock.lock().unwrap());
    thread.join().unwrap();
}

#[test]
fn let_go() {
    let lock = Arc::new(Mutex::new(0));
    let other = lock.clone();
    thread::spawn(move || poisons(&other));
    *lock.lock().expect("mine") += 1;
}

#[test]
fn scoped() {
    let lock = Mutex::new(0);
    thread::scope(|scope| {
        scope.spawn(|| poisons(&lock));
        *lock.lock().unwrap() += 1;
    });
}

#[test]
fn another_meets_it_too() {
    let lock = Arc::new(Mutex::new(0));
    let first = lock.clone();
    let first = thread::spawn(move || poisons(&first));
    let sum = *lock.lock().unwrap();
    assert_eq!(sum, 0, "not reached with another sum");
    first.join().expect("no panic");
    drop(lock.lock().unwrap());
}
"#;

#[test]
fn what_follows_from_poison_is_not_told_beside_what_poisoned() {
    let dir = package(&format!("{HEAD}{TOLD}"));
    for (args, failures) in [
        (&["explore"][..], "failures"),
        (&["explore", "--jobs", "2"], "failures"),
        (&["explore", "--strategy", "random"], "failures"),
        (&["explore", "--strategy", "mcr"], "failures"),
        (&["check"], "bugs"),
    ] {
        let run = seqz(dir.path(), args.iter().chain(&["--format", "json"]));
        let report = run.json();
        let harnesses = report["harnesses"].as_array().unwrap();
        assert_eq!(harnesses.len(), TOLD.matches("#[test]").count());
        for harness in harnesses {
            let found = harness[failures].as_array().into_iter().flatten();
            let said: Vec<_> = found.map(|it| it["message"].as_str().unwrap()).collect();
            assert_eq!(said, ["on purpose"], "{args:?}: {harness:#}");
        }
    }
}

/// A thread that nobody joins panics, and the harness fails of that in a destructor.
const DETACHED: &str = r#"
struct Pool {
    _worker: thread::JoinHandle<()>,
    jobs: channel::Sender<()>,
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.jobs.send(()).expect("the worker is there");
    }
}

#[test]
fn pool() {
    let (jobs, receiver) = channel::channel();
    let worker = thread::spawn(move || {
        let _receiver = receiver;
        panic!("on purpose");
    });
    drop(Pool { _worker: worker, jobs });
}
"#;

#[test]
fn a_panic_that_nobody_joins_is_told_once() {
    let dir = package(&format!(
        "{HEAD}use std::sync::mpsc as channel;\n{DETACHED}"
    ));
    for (args, kinds) in [
        (&["explore"][..], &["detached_panic", "panic"][..]),
        (&["explore", "--ignore-detached-panics"], &["panic"]),
    ] {
        let run = seqz(dir.path(), args.iter().chain(&["--format", "json"]));
        let report = run.json();
        let found = report["harnesses"][0]["failures"]
            .as_array()
            .unwrap()
            .iter();
        let mut found: Vec<_> = found.map(|it| it["kind"].as_str().unwrap()).collect();
        found.sort_unstable();
        assert_eq!(found, kinds, "{report:#}");
    }
}

/// A dependency that is compiled where it is has files of the same names, with other lines.
#[test]
fn a_panic_of_a_dependency_is_in_no_file_of_the_program() {
    let manifest = |name: &str, more: &str| {
        format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n{more}"
        )
    };
    let app = "use std::sync::{Arc, atomic::{AtomicU32, Ordering::SeqCst}};\nuse std::thread;\n\n\
        pub fn two(x: u32) -> u32 {\n    x + 2\n}\n\n#[test]\nfn asks() {\n\
        let a = Arc::new(AtomicU32::new(1));\nlet b = a.clone();\n\
        let t = thread::spawn(move || b.store(0, SeqCst));\ndep::positive(a.load(SeqCst));\nt.join().unwrap();\n}\n";
    let own = manifest("app", "[dependencies]\ndep = { path = \"../dep\" }\n");
    let of_dep = manifest("dep", "");
    let dir = program(&[
        ("app/Cargo.toml", own.as_str()),
        ("app/src/lib.rs", app),
        ("dep/Cargo.toml", of_dep.as_str()),
        (
            "dep/src/lib.rs",
            "// One.\n// Two.\n// Three.\npub fn positive(n: u32) -> u32 {\n    assert!(n > 0, \"not positive\"); n\n}\n",
        ),
    ]);
    for command in ["check", "explore"] {
        let run = seqz(dir.path(), [command, "app", "--format", "json"]);
        let report = run.json();
        let harness = &report["harnesses"][0];
        let found = if command == "check" {
            "bugs"
        } else {
            "failures"
        };
        assert_eq!(
            harness[found][0]["message"],
            "not positive",
            "{}",
            run.shown()
        );
        assert!(harness[found][0]["site"].is_null(), "{}", run.shown());
    }
}
