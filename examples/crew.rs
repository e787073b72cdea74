//! Workers that hand their results to a collector over a channel.
//!
//! Source: folklore of `std::sync::mpsc`: a receiver that holds a sender itself, to clone it for who joins later, never sees the
//! end of its channel, so that somebody has to tell it.
//!
//! The bug: each worker counts itself out in two steps, and the one that is the last says so. Two workers that finish at once
//! both find that the other one is still there, and neither says it: the collector waits for good.
//!
//! Threads: two workers, and the collector.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;

enum Message {
    Part(u32),
    /// No more will come.
    Last,
}

fn work(part: u32, busy: &AtomicUsize, results: &Sender<Message>) {
    results.send(Message::Part(part)).unwrap();
    let left = busy.load(Ordering::SeqCst) - 1;
    busy.store(left, Ordering::SeqCst);
    if left == 0 {
        results.send(Message::Last).unwrap();
    }
}

#[test]
fn collect_from_two() {
    let (results, parts) = mpsc::channel();
    let busy = Arc::new(AtomicUsize::new(2));
    for part in [1, 2] {
        let (busy, results) = (Arc::clone(&busy), results.clone());
        thread::spawn(move || work(part, &busy, &results));
    }
    let mut sum = 0;
    while let Message::Part(part) = parts.recv().unwrap() {
        sum += part;
    }
    drop(results);
    assert_eq!(sum, 3, "a part is missing");
}
