//! `Once`, `OnceLock` and `LazyLock`.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use seqz_runtime::std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use seqz_runtime::std::sync::{LazyLock, Mutex, Once, OnceLock};
use seqz_runtime::std::thread;
use seqz_runtime::vocabulary::FailureKind;

use super::{all, noted};

#[test]
fn one_thread_initializes_and_the_other_waits() {
    let found = all(|note| {
        let shared = Arc::new((Once::new(), AtomicU32::new(0)));
        let other = Arc::clone(&shared);
        let run = |(once, runs): &(Once, AtomicU32), by: u32| {
            once.call_once(|| {
                assert_eq!(runs.fetch_add(by, SeqCst), 0);
            });
            assert!(once.is_completed());
            runs.load(SeqCst)
        };
        let thread = thread::spawn(move || run(&other, 2));
        let own = run(&shared, 1);
        note(format!("{own} {}", thread.join().unwrap()));
    });
    assert_eq!(noted(&found), ["1 1", "2 2"]);
    assert_eq!(found.failures, BTreeSet::new());
}

#[test]
fn poison_is_for_once_and_not_for_the_forced() {
    let found = all(|note| {
        let once = Arc::new(Once::new());
        let other = Arc::clone(&once);
        let thread = thread::spawn(move || other.call_once(|| panic!("half done")));
        let mut seen = "not run".to_owned();
        once.call_once_force(|state| seen = format!("poisoned: {}", state.is_poisoned()));
        note(format!("{seen}, {}", thread.join().is_ok()));
        once.call_once(|| unreachable!());
    });
    assert_eq!(
        noted(&found),
        ["poisoned: false, true", "poisoned: true, false"]
    );
    assert_eq!(found.failures, BTreeSet::new(), "the panic is handled");
    let found = all(|_| {
        let once = Once::new();
        let caught = catch_unwind(AssertUnwindSafe(|| once.call_once(|| panic!("first"))));
        assert!(caught.is_err());
        once.call_once(|| ());
    });
    let panic = (
        FailureKind::Panic,
        "Once instance has previously been poisoned".to_owned(),
    );
    assert_eq!(found.failures, BTreeSet::from([panic]));
}

#[test]
fn a_once_lock_keeps_the_first_value() {
    let found = all(|note| {
        static VALUE: OnceLock<String> = OnceLock::new();
        let set = |text: &str| VALUE.set(text.to_owned()).map_err(|text| text.len());
        let thread = thread::spawn(move || set("ab"));
        let (early, own) = (VALUE.get(), set("c"));
        let other = thread.join().unwrap();
        note(format!("{early:?} {own:?} {other:?} {:?}", VALUE.get()));
    });
    let either = [
        "None Err(1) Ok(()) Some(\"ab\")",
        "None Ok(()) Err(2) Some(\"c\")",
        "Some(\"ab\") Err(1) Ok(()) Some(\"ab\")",
    ];
    assert_eq!(noted(&found), either);
    assert_eq!(found.failures, BTreeSet::new());
}

#[test]
fn a_once_lock_can_be_waited_for_and_taken() {
    let found = all(|note| {
        let lock = Arc::new(OnceLock::new());
        let other = Arc::clone(&lock);
        let thread = thread::spawn(move || *other.wait());
        assert_eq!(lock.get_or_init(|| 5), &5);
        assert_eq!(thread.join().unwrap(), 5);
        let mut lock = Arc::into_inner(lock).expect("the thread is over");
        *lock.get_mut().expect("a value") += 1;
        let copy = lock.clone();
        note(format!("{copy:?} {:?} {lock:?}", lock.take()));
        assert_eq!(copy, OnceLock::from(6));
        assert_eq!(copy.into_inner(), Some(6));
    });
    assert_eq!(noted(&found), ["OnceLock(6) Some(6) OnceLock(<uninit>)"]);
    assert_eq!(found.failures, BTreeSet::new());
}

#[test]
fn a_panic_leaves_a_once_lock_to_the_next() {
    let found = all(|note| {
        let lock = Arc::new(OnceLock::new());
        let other = Arc::clone(&lock);
        let thread = thread::spawn(move || *other.get_or_init(|| panic!("not me")));
        let own = *lock.get_or_init(|| 1);
        note(format!("{own} {:?}", thread.join().ok()));
    });
    assert_eq!(noted(&found), ["1 None", "1 Some(1)"]);
}

#[test]
fn lazy_statics_are_made_anew_in_each_execution() {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    static LAZY: LazyLock<Mutex<Vec<u32>>> =
        LazyLock::new(|| Mutex::new(vec![COUNT.fetch_add(1, SeqCst)]));
    let found = all(|note| {
        let thread = thread::spawn(|| LAZY.lock().unwrap().push(7));
        LAZY.lock().unwrap().push(8);
        thread.join().unwrap();
        note(format!("{:?} {}", LAZY.lock().unwrap(), COUNT.load(SeqCst)));
    });
    assert_eq!(noted(&found), ["[0, 7, 8] 1", "[0, 8, 7] 1"]);
    assert_eq!(found.failures, BTreeSet::new());
}

#[test]
fn lazy_locks_own_their_functions() {
    let found = all(|note| {
        let text = Arc::new("text".to_owned());
        let captured = Arc::clone(&text);
        let unused = LazyLock::new(move || captured.len());
        assert_eq!(format!("{unused:?}"), "LazyLock(<uninit>)");
        assert_eq!(Arc::strong_count(&text), 2);
        drop(unused);
        assert_eq!(Arc::strong_count(&text), 1);
        let captured = Arc::clone(&text);
        let mut lazy = LazyLock::new(move || captured.len());
        assert_eq!(LazyLock::get(&lazy), None);
        assert_eq!(*lazy, 4);
        *lazy += 1;
        assert_eq!(Arc::strong_count(&text), 1);
        assert_eq!(LazyLock::get_mut(&mut lazy), Some(&mut 5));
        note(format!("{lazy:?}"));
    });
    assert_eq!(noted(&found), ["LazyLock(5)"]);
    assert_eq!(found.failures, BTreeSet::new());
    let found = all(|_| {
        let lazy: LazyLock<u32> = LazyLock::new(|| panic!("first"));
        assert!(catch_unwind(AssertUnwindSafe(|| *lazy)).is_err());
        let _ = *lazy;
    });
    let panic = "LazyLock instance has previously been poisoned".to_owned();
    assert_eq!(
        found.failures,
        BTreeSet::from([(FailureKind::Panic, panic)])
    );
}
