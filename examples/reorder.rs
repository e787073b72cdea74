//! Two variables that belong together, which any number of threads set to the same pair of values.
//!
//! Source: `reorder_3_bad`, `_4_`, `_5_`, `_10_` and `_20_` of SCTBench.
//!
//! The bug: `set` writes one variable after the other, and `check` reads one after the other, so that it can meet a half.
//! All who set write the same values: only the first one counts, and with many of them a schedule drawn at random seldom
//! has the check between its two writes.
//!
//! Threads: one that checks, and 2, 3, 4, 9 or 19 that set.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;

#[derive(Default)]
struct Pair {
    a: AtomicI32,
    b: AtomicI32,
}

impl Pair {
    fn set(&self) {
        self.a.store(1, Ordering::SeqCst);
        self.b.store(-1, Ordering::SeqCst);
    }

    fn check(&self) {
        let a = self.a.load(Ordering::SeqCst);
        let b = self.b.load(Ordering::SeqCst);
        assert_eq!(a + b, 0, "half of the pair is set");
    }
}

fn threads(n: usize) {
    let pair = Arc::new(Pair::default());
    let setters: Vec<_> = (1..n)
        .map(|_| {
            let pair = Arc::clone(&pair);
            thread::spawn(move || pair.set())
        })
        .collect();
    let checker = {
        let pair = Arc::clone(&pair);
        thread::spawn(move || pair.check())
    };
    for setter in setters {
        setter.join().unwrap();
    }
    checker.join().unwrap();
}

#[test]
fn three_threads() {
    threads(3);
}

#[test]
fn four_threads() {
    threads(4);
}

#[test]
fn five_threads() {
    threads(5);
}

#[test]
fn ten_threads() {
    threads(10);
}

#[test]
fn twenty_threads() {
    threads(20);
}
