//! A counter that two threads increment: `../lost_update.rs` with the bug taken out.
//!
//! An increment is one step.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

fn increment(counter: &AtomicU32) {
    counter.fetch_add(1, Ordering::SeqCst);
}

#[test]
fn two_increments() {
    let counter = Arc::new(AtomicU32::new(0));
    let first = {
        let counter = Arc::clone(&counter);
        thread::spawn(move || increment(&counter))
    };
    let second = {
        let counter = Arc::clone(&counter);
        thread::spawn(move || increment(&counter))
    };
    first.join().unwrap();
    second.join().unwrap();
    assert_eq!(counter.load(Ordering::SeqCst), 2, "an increment is lost");
}
