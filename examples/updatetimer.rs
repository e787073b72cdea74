//! A timer whose delay is set anew while it is started.
//!
//! Source: updatetimer of the predecessor-set paper, an atomicity violation extracted from Mozilla. Of the program itself
//! the paper says nothing.
//!
//! The bug: `start` and `set_delay` both compute when the timer fires from what they read before, and store it on its
//! own. The one that is the last to store it can be the one that has read what no longer holds.
//!
//! Threads: one that starts the timer meets one that sets its delay. Two reads of either, one of
//! them at the end, see writes of the other.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

struct Timer {
    started: AtomicU32,
    delay: AtomicU32,
    fires: AtomicU32,
}

impl Timer {
    fn start(&self, now: u32) {
        self.started.store(now, Ordering::SeqCst);
        self.update();
    }

    fn set_delay(&self, delay: u32) {
        self.delay.store(delay, Ordering::SeqCst);
        self.update();
    }

    fn update(&self) {
        let started = self.started.load(Ordering::SeqCst);
        let delay = self.delay.load(Ordering::SeqCst);
        self.fires.store(started + delay, Ordering::SeqCst);
    }
}

#[test]
fn set_the_delay_during_a_start() {
    let timer = Arc::new(Timer {
        started: AtomicU32::new(0),
        delay: AtomicU32::new(5),
        fires: AtomicU32::new(5),
    });
    let starting = {
        let timer = Arc::clone(&timer);
        thread::spawn(move || timer.start(100))
    };
    let setting = {
        let timer = Arc::clone(&timer);
        thread::spawn(move || timer.set_delay(20))
    };
    starting.join().unwrap();
    setting.join().unwrap();
    let fires = timer.fires.load(Ordering::SeqCst);
    assert_eq!(fires, 120, "the timer fires at the wrong time");
}
