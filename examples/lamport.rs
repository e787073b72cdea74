//! Lamport's fast mutual exclusion, in too great a hurry.
//!
//! Source: Lamport, *A Fast Mutual Exclusion Algorithm* (1987).
//!
//! The bug: a thread that has met another one at the door looks at the second one's sign, `inner`, at once, and does
//! not wait until all others have made up their minds. One that saw the door open may be past it by then, with its sign
//! written over.
//!
//! Threads: two that enter the section. Two reads of the one see the other's writes: its sign at the door, `outer`, and
//! the count of those inside.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::thread;

/// How often a thread tries to enter before it gives up.
const PATIENCE: usize = 2;

/// The sign of no thread.
const NOBODY: usize = 0;

#[derive(Default)]
struct Section {
    outer: AtomicUsize,
    inner: AtomicUsize,
    inside: AtomicU32,
}

impl Section {
    fn try_enter(&self, me: usize) -> bool {
        self.outer.store(me, Ordering::SeqCst);
        if self.inner.load(Ordering::SeqCst) != NOBODY {
            return false;
        }
        self.inner.store(me, Ordering::SeqCst);
        if self.outer.load(Ordering::SeqCst) == me {
            return true;
        }
        self.inner.load(Ordering::SeqCst) == me
    }

    fn enter(&self, me: usize) -> bool {
        (0..PATIENCE).any(|_| {
            let entered = self.try_enter(me);
            if !entered {
                thread::yield_now();
            }
            entered
        })
    }

    fn leave(&self) {
        self.inner.store(NOBODY, Ordering::SeqCst);
    }

    fn work(&self, me: usize) {
        if self.enter(me) {
            let others = self.inside.fetch_add(1, Ordering::SeqCst);
            assert_eq!(others, 0, "two threads are in the section");
            self.inside.fetch_sub(1, Ordering::SeqCst);
            self.leave();
        }
    }
}

#[test]
fn two_threads_enter() {
    let section = Arc::new(Section::default());
    let workers = [1, 2].map(|me| {
        let section = Arc::clone(&section);
        thread::spawn(move || section.work(me))
    });
    for worker in workers {
        worker.join().unwrap();
    }
}
