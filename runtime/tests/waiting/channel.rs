//! `mpsc`.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, TryRecvError, TrySendError};
use std::time::Duration;

use seqz_explore::Mcr;
use seqz_runtime::std::sync::Mutex;
use seqz_runtime::std::sync::mpsc::{channel, sync_channel};
use seqz_runtime::std::thread;

use super::{Note, all, deadlock, explore_by_values, noted};

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

/// A message whose end others see.
struct Noisy {
    name: u32,
    /// The names of the messages that have been dropped.
    dropped: Arc<Mutex<Vec<u32>>>,
    /// What the thread that dropped it saw.
    seen: Seen,
}

/// What a thread saw, in words. No event tells of it.
type Seen = Arc<std::sync::Mutex<String>>;

impl Drop for Noisy {
    fn drop(&mut self) {
        let mut dropped = self.dropped.lock().unwrap();
        let by = thread::current()
            .name()
            .map(str::to_owned)
            .unwrap_or_default();
        let line = format!("{by}: {} after {:?}; ", self.name, *dropped);
        self.seen.lock().unwrap().push_str(&line);
        dropped.push(self.name);
    }
}

/// Senders of noisy messages, and a receiver that takes so many of them and goes. Notes all that each thread saw.
fn noisy(note: Note<'_>, bound: Option<usize>, senders: &[u32], received: u32) {
    let dropped = Arc::new(Mutex::new(Vec::new()));
    let seen: Vec<Seen> = (0..=senders.len()).map(|_| Seen::default()).collect();
    let named = |name: usize| thread::Builder::new().name(name.to_string());
    let message = |name, seen: &Seen| Noisy {
        name,
        dropped: Arc::clone(&dropped),
        seen: Arc::clone(seen),
    };
    let (unbounded, bounded) = match bound {
        None => (Some(channel()), None),
        Some(bound) => (None, Some(sync_channel(bound))),
    };
    let (mut threads, all) = (Vec::new(), Seen::default());
    let receiver = match (unbounded, bounded) {
        (Some((sender, receiver)), _) => {
            for (at, &count) in senders.iter().enumerate() {
                let (sender, own) = (sender.clone(), Arc::clone(&seen[at]));
                let to_send: Vec<_> = (0..count)
                    .map(|n| message(10 * at as u32 + n, &all))
                    .collect();
                let send = move || {
                    for message in to_send {
                        let sent = sender.send(message).map_err(drop);
                        own.lock().unwrap().push_str(&format!("{sent:?}; "));
                    }
                };
                threads.push(named(at).spawn(send).unwrap());
            }
            receiver
        }
        (_, Some((sender, receiver))) => {
            for (at, &count) in senders.iter().enumerate() {
                let (sender, own) = (sender.clone(), Arc::clone(&seen[at]));
                let to_send: Vec<_> = (0..count)
                    .map(|n| message(10 * at as u32 + n, &all))
                    .collect();
                let send = move || {
                    for message in to_send {
                        let full = |error| matches!(error, TrySendError::Full(_));
                        let sent = sender.try_send(message).map_err(full);
                        own.lock().unwrap().push_str(&format!("{sent:?}; "));
                    }
                };
                threads.push(named(at).spawn(send).unwrap());
            }
            receiver
        }
        _ => unreachable!("one of the two"),
    };
    let own = Arc::clone(&seen[senders.len()]);
    let receive = move || {
        for _ in 0..received {
            let name = receiver.try_recv().map(|message: Noisy| message.name);
            own.lock().unwrap().push_str(&format!("{name:?}; "));
        }
        drop(receiver);
    };
    threads.push(named(senders.len()).spawn(receive).unwrap());
    for thread in threads {
        thread.join().unwrap();
    }
    let all = all.lock().unwrap().clone();
    let mut lines: Vec<&str> = all.split_inclusive("; ").collect();
    // What each thread saw, in its order; not the order of threads.
    lines.sort_by_key(|line| line.split(':').next().map(str::to_owned));
    let seen: Vec<String> = seen
        .iter()
        .map(|seen| seen.lock().unwrap().clone())
        .collect();
    note(format!("{lines:?} {seen:?}"));
}

#[test]
fn what_is_dropped_with_the_receiver_is_seen() {
    let shapes: [(Option<usize>, &[u32], u32); 8] = [
        (None, &[1], 0),
        (None, &[2], 0),
        (None, &[2], 1),
        (None, &[1, 1], 0),
        (None, &[1, 1], 1),
        (Some(0), &[1], 1),
        (Some(1), &[2], 0),
        (Some(1), &[1, 1], 1),
    ];
    for (bound, senders, received) in shapes {
        let found = all(|note| noisy(note, bound, senders, received));
        let executions = Cell::new(0);
        let counted = explore_by_values(Mcr::new(), |note| {
            executions.set(executions.get() + 1);
            noisy(note, bound, senders, received);
        });
        assert_eq!(counted, found);
        assert_eq!(
            executions.get(),
            found.noted.len(),
            "{bound:?} {senders:?} {received}"
        );
    }
}
