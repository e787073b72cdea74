//! Two threads in time by a barrier: `../halves.rs` with the bug taken out.
//!
//! All wait until the leader is through.

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
            self.step.wait();
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
