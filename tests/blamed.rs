//! A harness that fails of a lock which another thread has poisoned fails, whatever becomes of the other one's panic.

mod support;

use support::programs::HEAD;
use support::{package, seqz};

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
