//! Two values with a lock each, the second of which is computed from the first.
//!
//! Source: `twostage_bad` and `twostage_100_bad` of SCTBench.
//!
//! The bug: `fill` stores the first value and the second one in two critical sections. `check`, which takes the same two
//! locks one after the other, finds the first but not the second.
//!
//! Threads: one that fills meets one that checks; or 99 that fill. One read of the one that checks, of the first value,
//! sees a write of the other.

use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Default)]
struct Stages {
    first: Mutex<u32>,
    second: Mutex<u32>,
}

impl Stages {
    fn fill(&self) {
        *self.first.lock().unwrap() = 1;
        let first = *self.first.lock().unwrap();
        *self.second.lock().unwrap() = first + 1;
    }

    fn check(&self) {
        let first = *self.first.lock().unwrap();
        if first == 0 {
            return;
        }
        let second = *self.second.lock().unwrap();
        assert_eq!(second, first + 1, "the second stage is missing");
    }
}

fn threads(fillers: usize) {
    let stages = Arc::new(Stages::default());
    let fillers: Vec<_> = (0..fillers)
        .map(|_| {
            let stages = Arc::clone(&stages);
            thread::spawn(move || stages.fill())
        })
        .collect();
    let checker = {
        let stages = Arc::clone(&stages);
        thread::spawn(move || stages.check())
    };
    for filler in fillers {
        filler.join().unwrap();
    }
    checker.join().unwrap();
}

#[test]
fn one_fills() {
    threads(1);
}

#[test]
fn ninety_nine_fill() {
    threads(99);
}
