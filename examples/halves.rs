//! Two threads that take steps in time with each other: each makes its half of the next field from all of the present one.
//!
//! Source: folklore of `std::sync::Barrier`: one of those that wait is the leader, and does what is to be done once between
//! two steps. The others don't wait for that, unless there is a second barrier.
//!
//! The bug: the second barrier is left out. As the leader came last and goes on at once, while the other one has to be woken,
//! it is nearly always through when that takes its next step.
//!
//! Threads: two, in time by a barrier.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

const STEPS: usize = 2;

struct Fields {
    fields: [[AtomicU32; 2]; 2],
    /// Which one is the present one.
    present: AtomicUsize,
    step: Barrier,
}

impl Fields {
    fn sum(&self) -> u32 {
        let field = &self.fields[self.present.load(Ordering::SeqCst)];
        field[0].load(Ordering::SeqCst) + field[1].load(Ordering::SeqCst)
    }

    fn advance(&self, half: usize) {
        for _ in 0..STEPS {
            let next = 1 - self.present.load(Ordering::SeqCst);
            self.fields[next][half].store(self.sum(), Ordering::SeqCst);
            if self.step.wait().is_leader() {
                self.present.store(next, Ordering::SeqCst);
            }
        }
    }
}

#[test]
fn two_steps() {
    let field = |value| [AtomicU32::new(value), AtomicU32::new(value)];
    let fields = Arc::new(Fields {
        fields: [field(1), field(0)],
        present: AtomicUsize::new(0),
        step: Barrier::new(2),
    });
    let other = Arc::clone(&fields);
    let upper = thread::spawn(move || other.advance(1));
    fields.advance(0);
    upper.join().unwrap();
    assert_eq!(fields.sum(), 8, "a step was taken from an old field");
}
