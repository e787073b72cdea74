//! Workers and a collector behind a channel: `../crew.rs` with the bug taken out.
//!
//! A worker counts itself out in one step, so that one of them is the last.

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
    let left = busy.fetch_sub(1, Ordering::SeqCst) - 1;
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
