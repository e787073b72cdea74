//! A hand-made lock: `../mutual.rs` with the bug taken out.
//!
//! `try_enter` tests and sets `busy` in one step.

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
        !self.busy.swap(true, Ordering::SeqCst)
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
