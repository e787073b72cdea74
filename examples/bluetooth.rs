//! A model of a Bluetooth driver, in which a request enters while the device is being stopped.
//!
//! Source: figure 1 of *Bounded-Interference Sequentialization for Testing Concurrent Programs* (Razavi, Farzan,
//! Holzer, 2012), after Qadeer and Wu, *KISS: Keep It Simple and Sequential* (2004).
//!
//! `pending_io` counts what is inside the driver, the driver itself included. `stop` gives the driver's own share back
//! and stops the device when nothing is left inside. The bug: `add` looks at `stopping_flag` before it counts itself in,
//! so that `stop` can see an empty driver in between, and the request then works on a stopped device.
//!
//! Threads: `add` meets `stop`. Two reads of `add` must see writes of `stop`: the increment of `pending_io` and the
//! read of `stopped`. No one of them is enough.

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
        if self.stopping_flag.load(Ordering::SeqCst) {
            return;
        }
        self.pending_io.fetch_add(1, Ordering::SeqCst);
        assert!(
            !self.stopped.load(Ordering::SeqCst),
            "a request works on a stopped device"
        );
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
