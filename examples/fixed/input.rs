//! A worker that paces itself by what the machine has left: `../input.rs` with the bug taken out.
//!
//! `pause` loads the idle share once, and divides by what it has tested.

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
        let idle = u64::from(self.idle.load(Ordering::SeqCst));
        Duration::from_micros(1000u64.checked_div(idle).unwrap_or(1000))
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
