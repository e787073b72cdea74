//! A hand-made lock that lets two threads into the critical section.
//!
//! Source: the Mutual benchmark of Razavi, Farzan and Holzer (2012), "a buggy program in which threads can be in a
//! critical section simultaneously due to improper synchronization". They use it to tell interference from context
//! switches: the bug needs three switches, but only one read that sees the other thread.
//!
//! The bug: `try_enter` tests `busy` and sets it, in two steps.
//!
//! Threads: two that enter the section. One read, of `owner` inside the section, sees the other thread's write.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

const ATTEMPTS: usize = 3;

#[derive(Default)]
struct Section {
    busy: AtomicBool,
    owner: AtomicU32,
}

impl Section {
    fn try_enter(&self) -> bool {
        if self.busy.load(Ordering::SeqCst) {
            return false;
        }
        self.busy.store(true, Ordering::SeqCst);
        true
    }

    fn leave(&self) {
        self.busy.store(false, Ordering::SeqCst);
    }

    /// Does the work of thread `me` inside the section; false if the section stayed busy.
    fn work(&self, me: u32) -> bool {
        for _ in 0..ATTEMPTS {
            if self.try_enter() {
                self.owner.store(me, Ordering::SeqCst);
                assert_eq!(
                    self.owner.load(Ordering::SeqCst),
                    me,
                    "two threads are in the critical section"
                );
                self.leave();
                return true;
            }
            thread::yield_now();
        }
        false
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
