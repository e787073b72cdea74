//! A value that is guarded by one lock in one place, and by another lock in another one.
//!
//! Source: `wronglock_bad` and `wronglock_3_bad` of SCTBench.
//!
//! The bug: `bump` holds a lock, but not the one that `reset` holds. Each excludes its own kind, and not the other.
//!
//! Threads: one that resets meets one, three or seven that bump. With one of each, one read of the former sees the
//! latter's write.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Default)]
struct Register {
    resets: Mutex<()>,
    bumps: Mutex<()>,
    value: AtomicU32,
}

impl Register {
    fn reset(&self) {
        let _locked = self.resets.lock().unwrap();
        self.value.store(0, Ordering::Relaxed);
        let value = self.value.load(Ordering::Relaxed);
        assert_eq!(value, 0, "the value has changed under the lock");
    }

    fn bump(&self) {
        let _locked = self.bumps.lock().unwrap();
        let value = self.value.load(Ordering::Relaxed);
        self.value.store(value + 1, Ordering::Relaxed);
    }
}

fn threads(bumpers: usize) {
    let register = Arc::new(Register::default());
    let resetting = {
        let register = Arc::clone(&register);
        thread::spawn(move || register.reset())
    };
    let bumping: Vec<_> = (0..bumpers)
        .map(|_| {
            let register = Arc::clone(&register);
            thread::spawn(move || register.bump())
        })
        .collect();
    resetting.join().unwrap();
    for bumper in bumping {
        bumper.join().unwrap();
    }
}

#[test]
fn one_bumps() {
    threads(1);
}

#[test]
fn three_bump() {
    threads(3);
}

#[test]
fn seven_bump() {
    threads(7);
}
