//! Lamport's fast mutual exclusion: `../lamport.rs` with the bug taken out.
//!
//! A thread that has met another one waits until no other is at the door before it looks whose sign is inside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::thread;

/// How often a thread tries to enter before it gives up.
const PATIENCE: usize = 2;

/// How many threads there are; their signs are 1, 2, …
const THREADS: usize = 2;

/// The sign of no thread.
const NOBODY: usize = 0;

#[derive(Default)]
struct Section {
    /// Which threads are at the door or inside, by their signs.
    near: [AtomicBool; THREADS + 1],
    outer: AtomicUsize,
    inner: AtomicUsize,
    inside: AtomicU32,
}

impl Section {
    fn try_enter(&self, me: usize) -> bool {
        self.near[me].store(true, Ordering::SeqCst);
        self.outer.store(me, Ordering::SeqCst);
        if self.inner.load(Ordering::SeqCst) != NOBODY {
            self.near[me].store(false, Ordering::SeqCst);
            return false;
        }
        self.inner.store(me, Ordering::SeqCst);
        if self.outer.load(Ordering::SeqCst) == me {
            return true;
        }
        self.near[me].store(false, Ordering::SeqCst);
        self.await_others() && self.inner.load(Ordering::SeqCst) == me
    }

    /// Waits until no thread is near.
    fn await_others(&self) -> bool {
        self.near[1..].iter().all(|near| {
            (0..PATIENCE).any(|_| {
                let gone = !near.load(Ordering::SeqCst);
                if !gone {
                    thread::yield_now();
                }
                gone
            })
        })
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

    fn leave(&self, me: usize) {
        self.inner.store(NOBODY, Ordering::SeqCst);
        self.near[me].store(false, Ordering::SeqCst);
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
    let workers = [1, 2].map(|me| {
        let section = Arc::clone(&section);
        thread::spawn(move || section.work(me))
    });
    for worker in workers {
        worker.join().unwrap();
    }
}
