//! A computation in two phases: the worker who is the last to end the first phase starts the second one.
//!
//! Source: `phase01_bad` of SCTBench, after the benchmarks of ESBMC.
//!
//! The bug: a worker says that it has ended the first phase before it has added its part to the sum.
//!
//! Threads: two workers. One read of the worker that is the last one, of the count, sees the other's write.

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
        let last = self.end();
        *self.sum.lock().unwrap() += part;
        if last {
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
