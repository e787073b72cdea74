//! `thread::park` and `unpark`.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use seqz_runtime::std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use seqz_runtime::std::sync::mpsc;
use seqz_runtime::std::thread::{self, Thread};

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

/// A thread that is unparked, and then waits for another one by a channel, and parks.
const USED_UP: [fn(Thread); 4] = [
    |harness| {
        let (sender, receiver) = mpsc::channel();
        let thread = thread::spawn(move || {
            harness.unpark();
            sender.send(1).unwrap();
        });
        receiver.recv().unwrap();
        thread::park();
        thread.join().unwrap();
    },
    |harness| {
        let (sender, receiver) = mpsc::sync_channel(2);
        let thread = thread::spawn(move || {
            harness.unpark();
            sender.send(1).unwrap();
        });
        assert_eq!(receiver.iter().sum::<u32>(), 1);
        thread::park();
        thread.join().unwrap();
    },
    |harness| {
        let (sender, receiver) = mpsc::sync_channel(1);
        let thread = thread::spawn(move || {
            harness.unpark();
            receiver.recv().unwrap();
            receiver
        });
        sender.send(1).unwrap();
        sender.send(2).unwrap();
        thread::park();
        thread.join().unwrap();
    },
    |harness| {
        let (sender, receiver) = mpsc::channel::<()>();
        let thread = thread::spawn(move || {
            harness.unpark();
            drop(sender);
        });
        assert!(receiver.recv().is_err());
        thread::park();
        thread.join().unwrap();
    },
];

#[test]
fn whoever_waits_for_a_channel_uses_up_what_it_was_unparked_for() {
    for program in USED_UP {
        let found = all(|note| {
            program(thread::current());
            note("unparked".to_owned());
        });
        // It may have come late, and not have waited.
        assert_eq!(noted(&found), ["unparked"]);
        assert_eq!(found.failures, deadlock());
    }
}

#[test]
fn what_comes_after_a_channel_was_waited_for_is_kept() {
    let found = all(|note| {
        let harness = thread::current();
        let (sender, receiver) = mpsc::channel();
        let (back, answers) = mpsc::channel();
        let thread = thread::spawn(move || {
            sender.send(1).unwrap();
            answers.recv().unwrap();
            harness.unpark();
        });
        receiver.recv().unwrap();
        back.send(()).unwrap();
        thread::park();
        thread.join().unwrap();
        note("unparked".to_owned());
    });
    assert_eq!(noted(&found), ["unparked"]);
    assert_eq!(found.failures, BTreeSet::new());
}
