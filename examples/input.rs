//! A worker that paces itself by what the machine has left, while the load that it is told changes.
//!
//! Source: our own. The bug needs a particular input and a particular interleaving at once.
//!
//! The bug: `pause` makes sure that the idle share is not 0, and then loads it again to divide by it. Of all loads only
//! 100 % leaves nothing idle, and only if it comes in between is it divided by.
//!
//! Threads: the worker meets the one that sets the load. One read of the worker, the second of `idle`, sees its write.
//! The test beside the harness is the same program with an ordinary load, at which it has no bug.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;
use std::time::Duration;

struct Pace {
    /// How much of the machine is idle, in percent.
    idle: AtomicU8,
}

impl Pace {
    /// Takes note of a load, in percent; more than 100 is a machine that runs faster than it should.
    fn set_load(&self, load: u8) {
        self.idle.store(load.abs_diff(100), Ordering::SeqCst);
    }

    /// How long to pause before the next piece of work: the less is idle, the longer.
    fn pause(&self) -> Duration {
        if self.idle.load(Ordering::SeqCst) == 0 {
            return Duration::from_micros(1000);
        }
        Duration::from_micros(1000 / u64::from(self.idle.load(Ordering::SeqCst)))
    }
}

/// Sets the load to `load` percent while the worker works.
pub fn load_changes(load: u8) {
    let pace = Arc::new(Pace {
        idle: AtomicU8::new(50),
    });
    let worker = {
        let pace = Arc::clone(&pace);
        thread::spawn(move || thread::sleep(pace.pause()))
    };
    let monitor = {
        let pace = Arc::clone(&pace);
        thread::spawn(move || pace.set_load(load))
    };
    worker.join().unwrap();
    monitor.join().unwrap();
}

#[test]
fn load_changes_to_ninety() {
    load_changes(90);
}
