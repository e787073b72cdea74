//! Peterson's algorithm for mutual exclusion, with its first two steps in the wrong order.
//!
//! Source: Peterson, *Myths About the Mutual Exclusion Problem* (1981).
//!
//! The bug: `enter` gives the turn away before it says that it wants to enter. The order matters.
//!
//! Threads: two that enter the section. Three reads of the one see the other's writes: its wish, the turn that it gave
//! away, and the count of those inside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::thread;

/// How often a thread looks whether it may enter before it gives up.
const PATIENCE: usize = 2;

#[derive(Default)]
struct Section {
    wants: [AtomicBool; 2],
    turn: AtomicUsize,
    inside: AtomicU32,
}

impl Section {
    fn enter(&self, me: usize) -> bool {
        let other = 1 - me;
        self.turn.store(other, Ordering::SeqCst);
        self.wants[me].store(true, Ordering::SeqCst);
        for _ in 0..PATIENCE {
            if !self.wants[other].load(Ordering::SeqCst) || self.turn.load(Ordering::SeqCst) == me {
                return true;
            }
            thread::yield_now();
        }
        self.leave(me);
        false
    }

    fn leave(&self, me: usize) {
        self.wants[me].store(false, Ordering::SeqCst);
    }

    fn work(&self, me: usize) {
        if self.enter(me) {
            let others = self.inside.fetch_add(1, Ordering::SeqCst);
            assert_eq!(others, 0, "two threads are in the section");
            self.inside.fetch_sub(1, Ordering::SeqCst);
            self.leave(me);
        }
    }
}

#[test]
fn two_threads_enter() {
    let section = Arc::new(Section::default());
    let first = {
        let section = Arc::clone(&section);
        thread::spawn(move || section.work(0))
    };
    let second = {
        let section = Arc::clone(&section);
        thread::spawn(move || section.work(1))
    };
    first.join().unwrap();
    second.join().unwrap();
}
