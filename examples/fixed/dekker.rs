//! Dekker's algorithm for mutual exclusion: `../dekker.rs` with the bug taken out.
//!
//! A thread that has waited for its turn says again that it wants to enter.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::thread;

/// How often a thread looks whether it may go on before it gives up.
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
        self.wants[me].store(true, Ordering::SeqCst);
        for _ in 0..PATIENCE {
            if !self.wants[other].load(Ordering::SeqCst) {
                return true;
            }
            if self.turn.load(Ordering::SeqCst) == other {
                self.wants[me].store(false, Ordering::SeqCst);
                if !self.await_turn(me) {
                    return false;
                }
                self.wants[me].store(true, Ordering::SeqCst);
            }
            thread::yield_now();
        }
        self.wants[me].store(false, Ordering::SeqCst);
        false
    }

    fn await_turn(&self, me: usize) -> bool {
        for _ in 0..PATIENCE {
            if self.turn.load(Ordering::SeqCst) == me {
                return true;
            }
            thread::yield_now();
        }
        false
    }

    fn leave(&self, me: usize) {
        self.turn.store(1 - me, Ordering::SeqCst);
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
fn one_enters_twice() {
    let section = Arc::new(Section::default());
    let first = {
        let section = Arc::clone(&section);
        thread::spawn(move || {
            section.work(0);
            section.work(0);
        })
    };
    let second = {
        let section = Arc::clone(&section);
        thread::spawn(move || section.work(1))
    };
    first.join().unwrap();
    second.join().unwrap();
}
