//! A computation in two phases: `../phase.rs` with the bug taken out.
//!
//! A worker says that it has ended the first phase when it has added its part.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

const WORKERS: u32 = 2;

#[derive(Default)]
struct Phase {
    sum: Mutex<u32>,
    ended: AtomicU32,
}

impl Phase {
    fn work(&self, part: u32) {
        *self.sum.lock().unwrap() += part;
        if self.end() {
            self.second();
        }
    }

    /// Says that a worker has ended the first phase; true if it is the last one.
    fn end(&self) -> bool {
        self.ended.fetch_add(1, Ordering::SeqCst) + 1 == WORKERS
    }

    fn second(&self) {
        let sum = *self.sum.lock().unwrap();
        assert_eq!(sum, 1 + 2, "the second phase starts too early");
    }
}

#[test]
fn two_phases() {
    let phase = Arc::new(Phase::default());
    let workers = [1, 2].map(|part| {
        let phase = Arc::clone(&phase);
        thread::spawn(move || phase.work(part))
    });
    for worker in workers {
        worker.join().unwrap();
    }
}
