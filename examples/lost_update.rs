//! A counter that two threads increment, each in two steps.
//!
//! Source: folklore, the first bug of every course on concurrency.
//!
//! The bug: between the load and the store of one thread, the other's increment comes and is lost.
//!
//! Threads: the two that increment. No read at all has to see the other thread's write: both load the initial value, and
//! the check, after both are joined, sees the last store.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

fn increment(counter: &AtomicU32) {
    let value = counter.load(Ordering::SeqCst);
    counter.store(value + 1, Ordering::SeqCst);
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
