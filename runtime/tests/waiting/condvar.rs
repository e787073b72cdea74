//! `Condvar`.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use seqz_runtime::std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use seqz_runtime::std::sync::{Condvar, Mutex};
use seqz_runtime::std::thread;
use seqz_runtime::vocabulary::FailureKind;

use super::{LOST, all, deadlock, noted};

#[test]
fn a_flag_under_the_lock_loses_no_notification() {
    for (is_locked, lost) in [(true, false), (false, true)] {
        let found = all(|note| {
            let shared = Arc::new((Mutex::new(()), AtomicBool::new(false), Condvar::new()));
            let waiter = {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    let (lock, flag, changed) = &*shared;
                    let guard = lock.lock().unwrap();
                    let guard = changed.wait_while(guard, |()| !flag.load(SeqCst));
                    drop(guard);
                })
            };
            let (lock, flag, changed) = &*shared;
            let guard = is_locked.then(|| lock.lock().unwrap());
            flag.store(true, SeqCst);
            drop(guard);
            changed.notify_one();
            waiter.join().unwrap();
            note("joined".to_owned());
        });
        assert_eq!(noted(&found), ["joined"]);
        let failures = lost.then(|| (FailureKind::Deadlock, LOST.to_owned()));
        assert_eq!(found.failures, failures.into_iter().collect());
    }
}

#[test]
fn notify_one_wakes_either_waiter() {
    let found = all(|note| {
        let shared = Arc::new((Mutex::new(0), Condvar::new()));
        let order = Arc::new(Mutex::new(Vec::<u32>::new()));
        let waiters: Vec<_> = (0..2)
            .map(|i| {
                let (shared, order) = (Arc::clone(&shared), Arc::clone(&order));
                thread::spawn(move || {
                    let (lock, go) = &*shared;
                    let mut guard = lock.lock().unwrap();
                    *guard += 1;
                    let guard = go.wait(guard).unwrap();
                    order.lock().unwrap().push(i);
                    drop(guard);
                })
            })
            .collect();
        let (lock, go) = &*shared;
        if *lock.lock().unwrap() < 2 {
            go.notify_all();
            return;
        }
        go.notify_one();
        go.notify_one();
        for waiter in waiters {
            waiter.join().unwrap();
        }
        note(format!("{:?}", order.lock().unwrap()));
    });
    assert_eq!(noted(&found), ["[0, 1]", "[1, 0]"]);
}

#[test]
fn a_wait_with_a_limit_ends_either_way() {
    let found = all(|note| {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let other = Arc::clone(&shared);
        let notifier = thread::spawn(move || {
            let (lock, changed) = &*other;
            *lock.lock().unwrap() = true;
            changed.notify_all();
        });
        let (lock, changed) = &*shared;
        let guard = lock.lock().unwrap();
        let (guard, result) = changed.wait_timeout(guard, Duration::from_secs(1)).unwrap();
        note(format!("{} {}", *guard, result.timed_out()));
        drop(guard);
        notifier.join().unwrap();
    });
    let either = ["false true", "true false", "true true"];
    assert_eq!(noted(&found), either);
    assert_eq!(found.failures, BTreeSet::new(), "it never waits for ever");

    let found = all(|note| {
        let shared = Arc::new((Mutex::new(0), Condvar::new()));
        let other = Arc::clone(&shared);
        let notifier = thread::spawn(move || {
            let (lock, changed) = &*other;
            *lock.lock().unwrap() = 1;
            changed.notify_one();
        });
        let (lock, changed) = &*shared;
        let guard = lock.lock().unwrap();
        let limit = Duration::from_secs(1);
        let (guard, result) = changed
            .wait_timeout_while(guard, limit, |n| *n == 0)
            .unwrap();
        note(format!("{} {}", *guard, result.timed_out()));
        drop(guard);
        notifier.join().unwrap();
    });
    assert_eq!(noted(&found), ["0 true", "1 false"]);
    assert_eq!(found.failures, BTreeSet::new());
}

#[test]
fn poison_is_seen_after_a_wait() {
    let found = all(|note| {
        let shared = Arc::new((Mutex::new(()), Condvar::new(), AtomicU32::new(0)));
        let other = Arc::clone(&shared);
        let panics = thread::spawn(move || {
            let _guard = other.0.lock();
            other.1.notify_all();
            panic!("under the lock");
        });
        let (lock, changed, _) = &*shared;
        if let Ok(guard) = lock.lock() {
            let result = changed.wait_timeout(guard, Duration::ZERO);
            note(format!("poisoned: {}", result.is_err()));
        }
        assert!(panics.join().is_err());
    });
    assert_eq!(noted(&found), ["poisoned: false", "poisoned: true"]);
    assert_eq!(found.failures, BTreeSet::new(), "the panic is handled");
}

#[test]
fn statics_forget_who_waited() {
    static CHANGED: Condvar = Condvar::new();
    static LOCK: Mutex<u32> = Mutex::new(0);
    let found = all(|note| {
        let waiter = thread::spawn(|| {
            let guard = LOCK.lock().unwrap();
            drop(CHANGED.wait(guard));
        });
        *LOCK.lock().unwrap() += 1;
        CHANGED.notify_one();
        note(format!("{}", *LOCK.lock().unwrap()));
        waiter.join().unwrap();
    });
    assert_eq!(noted(&found), ["1"]);
    assert_eq!(found.failures, deadlock());
}

#[test]
fn destructors_that_wait_end_with_the_execution() {
    struct WaitsAtTheEnd(Arc<(Mutex<bool>, Condvar)>);
    impl Drop for WaitsAtTheEnd {
        fn drop(&mut self) {
            let (lock, changed) = &*self.0;
            if let Ok(guard) = lock.lock() {
                drop(changed.wait(guard));
            }
        }
    }
    let found = all(|_| {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let waits = WaitsAtTheEnd(Arc::clone(&shared));
        let waiter = thread::spawn(move || {
            let waits = waits;
            let (lock, changed) = &*waits.0;
            drop(changed.wait(lock.lock().unwrap()));
        });
        shared.1.notify_one();
        waiter.join().unwrap();
    });
    assert_eq!(found.failures, deadlock());
}
