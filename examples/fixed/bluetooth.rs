//! A model of a Bluetooth driver: `../bluetooth.rs` with the bug taken out.
//!
//! `add` counts itself in first and looks at `stopping_flag` afterwards. If it saw the flag down, then it was counted
//! before `stop` gave the driver's own share back, and `stop` cannot find the driver empty until `add` has left.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread;

struct Driver {
    pending_io: AtomicI32,
    stopping_flag: AtomicBool,
    stopping_event: AtomicBool,
    stopped: AtomicBool,
}

impl Driver {
    fn new() -> Self {
        Self {
            pending_io: AtomicI32::new(1),
            stopping_flag: AtomicBool::new(false),
            stopping_event: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
        }
    }

    /// Performs one request, unless the driver is about to stop.
    fn add(&self) {
        self.pending_io.fetch_add(1, Ordering::SeqCst);
        if !self.stopping_flag.load(Ordering::SeqCst) {
            assert!(
                !self.stopped.load(Ordering::SeqCst),
                "a request works on a stopped device"
            );
        }
        self.leave();
    }

    /// Stops the device if no request is inside.
    fn stop(&self) {
        self.stopping_flag.store(true, Ordering::SeqCst);
        self.leave();
        if !self.stopping_event.load(Ordering::SeqCst) {
            return;
        }
        self.stopped.store(true, Ordering::SeqCst);
    }

    /// Takes one off the count; the last one to leave signals that the driver is empty.
    fn leave(&self) {
        let before = self.pending_io.fetch_sub(1, Ordering::SeqCst);
        if before == 1 {
            self.stopping_event.store(true, Ordering::SeqCst);
        }
    }
}

#[test]
fn stop_during_a_request() {
    let driver = Arc::new(Driver::new());
    let add = {
        let driver = Arc::clone(&driver);
        thread::spawn(move || driver.add())
    };
    let stop = {
        let driver = Arc::clone(&driver);
        thread::spawn(move || driver.stop())
    };
    add.join().unwrap();
    stop.join().unwrap();
}
