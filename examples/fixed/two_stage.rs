//! Two values with a lock each: `../two_stage.rs` with the bug taken out.
//!
//! `fill` keeps the first lock until it has stored the second value.

use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Default)]
struct Stages {
    first: Mutex<u32>,
    second: Mutex<u32>,
}

impl Stages {
    fn fill(&self) {
        let mut first = self.first.lock().unwrap();
        *first = 1;
        *self.second.lock().unwrap() = *first + 1;
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
