//! A timer and its delay: `../updatetimer.rs` with the bug taken out.
//!
//! When the timer fires is not stored, but computed when it is asked for.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

struct Timer {
    started: AtomicU32,
    delay: AtomicU32,
}

impl Timer {
    fn start(&self, now: u32) {
        self.started.store(now, Ordering::SeqCst);
    }

    fn set_delay(&self, delay: u32) {
        self.delay.store(delay, Ordering::SeqCst);
    }

    fn fires(&self) -> u32 {
        let started = self.started.load(Ordering::SeqCst);
        let delay = self.delay.load(Ordering::SeqCst);
        started + delay
    }
}

#[test]
fn set_the_delay_during_a_start() {
    let timer = Arc::new(Timer {
        started: AtomicU32::new(0),
        delay: AtomicU32::new(5),
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
    assert_eq!(timer.fires(), 120, "the timer fires at the wrong time");
}
