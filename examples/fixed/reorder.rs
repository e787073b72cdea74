//! Two variables that belong together: `../reorder.rs` with the bug taken out.
//!
//! They are one variable, in two halves.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

#[derive(Default)]
struct Pair(AtomicU64);

impl Pair {
    fn set(&self) {
        let (a, b) = (1_i32, -1_i32);
        let both = u64::from(a.cast_unsigned()) << 32 | u64::from(b.cast_unsigned());
        self.0.store(both, Ordering::SeqCst);
    }

    fn check(&self) {
        let both = self.0.load(Ordering::SeqCst);
        let (a, b) = ((both >> 32) as i32, both as i32);
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
