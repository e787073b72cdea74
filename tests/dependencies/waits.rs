//! Loops that wait, as far as this crate can tell.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

pub trait Relax {
    fn relax();
}

pub struct Spin;

impl Relax for Spin {
    fn relax() {
        std::hint::spin_loop();
    }
}

pub fn wait<R: Relax>(flag: &AtomicBool) {
    while !flag.load(SeqCst) {
        R::relax();
    }
}

pub fn until(ready: impl Fn() -> bool) {
    while !ready() {
        std::thread::yield_now();
    }
}
