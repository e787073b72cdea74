//! `mpsc`.

use std::collections::BTreeSet;
use std::sync::mpsc::{RecvTimeoutError, TryRecvError, TrySendError};
use std::time::Duration;

use seqz_runtime::std::sync::mpsc::{channel, sync_channel};
use seqz_runtime::std::thread;

use super::{all, deadlock, noted};

#[test]
fn messages_of_one_sender_keep_their_order() {
    let found = all(|note| {
        let (sender, receiver) = channel();
        let other = sender.clone();
        let threads = [(sender, 0), (other, 10)].map(|(sender, from)| {
            thread::spawn(move || {
                sender.send(from + 1).unwrap();
                sender.send(from + 2).unwrap();
            })
        });
        note(format!("{:?}", receiver.iter().collect::<Vec<_>>()));
        for thread in threads {
            thread.join().unwrap();
        }
    });
    let orders = [
        "[1, 11, 12, 2]",
        "[1, 11, 2, 12]",
        "[1, 2, 11, 12]",
        "[11, 1, 12, 2]",
        "[11, 1, 2, 12]",
        "[11, 12, 1, 2]",
    ];
    assert_eq!(noted(&found), orders);
    assert_eq!(found.failures, BTreeSet::new());
}

#[test]
fn a_receiver_waits_as_long_as_there_are_senders() {
    let found = all(|_| {
        let (sender, receiver) = channel::<u32>();
        let _kept = sender.clone();
        thread::spawn(move || sender.send(1).unwrap())
            .join()
            .unwrap();
        assert_eq!(receiver.into_iter().count(), 1);
    });
    assert_eq!(found.failures, deadlock());
}

#[test]
fn who_does_not_wait_is_told_why() {
    let found = all(|note| {
        let (sender, receiver) = channel();
        let thread = thread::spawn(move || sender.send(1).unwrap());
        let first = receiver.try_recv();
        let second = receiver.recv_timeout(Duration::from_millis(1));
        thread.join().unwrap();
        let rest: Vec<u32> = receiver.try_iter().collect();
        note(format!("{first:?} {second:?} {rest:?}"));
    });
    let shown = |first: Result<u32, TryRecvError>, second: Result<u32, RecvTimeoutError>, rest| {
        let rest: &[u32] = rest;
        format!("{first:?} {second:?} {rest:?}")
    };
    let (empty, timeout) = (Err(TryRecvError::Empty), Err(RecvTimeoutError::Timeout));
    let disconnected = Err(RecvTimeoutError::Disconnected);
    let all = [
        shown(empty, Ok(1), &[]),
        shown(empty, timeout, &[1]),
        shown(Ok(1), disconnected, &[]),
        shown(Ok(1), timeout, &[]),
    ];
    assert_eq!(found.noted, BTreeSet::from(all));
    assert_eq!(found.failures, BTreeSet::new());
}

#[test]
fn a_message_comes_back_if_nobody_receives() {
    let found = all(|note| {
        let (sender, receiver) = sync_channel(0);
        let thread = thread::spawn(move || drop(receiver));
        let first = sender.try_send("a".to_owned());
        let second = sender.send("b".to_owned());
        thread.join().unwrap();
        note(format!("{first:?} {second:?}"));
    });
    let shown = |first: TrySendError<String>| {
        let first: Result<(), _> = Err(first);
        format!(
            "{first:?} {:?}",
            Err::<(), _>(std::sync::mpsc::SendError("b".to_owned()))
        )
    };
    let both = [
        shown(TrySendError::Full("a".to_owned())),
        shown(TrySendError::Disconnected("a".to_owned())),
    ];
    assert_eq!(found.noted, BTreeSet::from(both));
    assert_eq!(found.failures, BTreeSet::new());
}

#[test]
fn a_bound_makes_senders_wait() {
    for (bound, most) in [(0, 0), (1, 1), (2, 2)] {
        let found = all(|note| {
            let (sender, receiver) = sync_channel(bound);
            let thread = thread::spawn(move || {
                let sent = (0..3).take_while(|&n| sender.try_send(n).is_ok());
                sent.count()
            });
            let sent = thread.join().unwrap();
            note(format!("{sent} {}", receiver.iter().count()));
        });
        assert_eq!(noted(&found), [format!("{most} {most}")]);
    }
}

#[test]
fn messages_left_are_dropped_with_the_receiver() {
    let found = all(|note| {
        let (sender, receiver) = channel();
        let inner = channel::<u32>();
        sender.send(inner.0).unwrap();
        drop(receiver);
        note(format!("{:?}", inner.1.recv()));
    });
    assert_eq!(noted(&found), ["Err(RecvError)"]);
}
