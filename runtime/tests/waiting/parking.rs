//! `thread::park` and `unpark`.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use seqz_runtime::std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use seqz_runtime::std::thread;

use super::{all, deadlock, noted};

#[test]
fn an_unpark_before_is_not_lost() {
    let found = all(|note| {
        let flag = Arc::new(AtomicBool::new(false));
        let parked = {
            let flag = Arc::clone(&flag);
            thread::spawn(move || {
                while !flag.load(SeqCst) {
                    thread::park();
                }
            })
        };
        flag.store(true, SeqCst);
        parked.thread().unpark();
        parked.join().unwrap();
        note("joined".to_owned());
    });
    assert_eq!(noted(&found), ["joined"]);
    assert_eq!(found.failures, BTreeSet::new());
}

#[test]
fn two_unparks_may_be_one() {
    let found = all(|note| {
        let parked = thread::spawn(|| {
            thread::park();
            thread::park();
        });
        parked.thread().unpark();
        parked.thread().unpark();
        parked.join().unwrap();
        note("joined".to_owned());
    });
    assert_eq!(noted(&found), ["joined"]);
    assert_eq!(found.failures, deadlock());
}

#[test]
fn the_harness_can_be_parked() {
    let found = all(|note| {
        let harness = thread::current();
        let thread = thread::spawn(move || harness.unpark());
        thread::park();
        thread.join().unwrap();
        note("unparked".to_owned());
    });
    assert_eq!(noted(&found), ["unparked"]);
    assert_eq!(found.failures, BTreeSet::new());
}

#[test]
fn a_limit_ends_it() {
    let found = all(|note| {
        let flag = Arc::new(AtomicBool::new(false));
        let parked = {
            let flag = Arc::clone(&flag);
            thread::spawn(move || {
                thread::park_timeout(Duration::from_millis(1));
                flag.load(SeqCst)
            })
        };
        flag.store(true, SeqCst);
        parked.thread().unpark();
        note(format!("{}", parked.join().unwrap()));
    });
    assert_eq!(noted(&found), ["false", "true"]);
    assert_eq!(found.failures, BTreeSet::new());
}
