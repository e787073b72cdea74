//! The spin lock of the crate's documentation, taken by two threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use lock_api::{GuardSend, Mutex, RawMutex};

struct RawSpinlock(AtomicBool);

unsafe impl RawMutex for RawSpinlock {
    const INIT: RawSpinlock = RawSpinlock(AtomicBool::new(false));
    type GuardMarker = GuardSend;

    fn lock(&self) {
        while !self.try_lock() {}
    }

    fn try_lock(&self) -> bool {
        self.0.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    unsafe fn unlock(&self) {
        self.0.store(false, Ordering::Release);
    }
}

#[test]
fn two_threads_add() {
    let count = Arc::new(Mutex::<RawSpinlock, u32>::new(0));
    let theirs = count.clone();
    let other = thread::spawn(move || *theirs.lock() += 1);
    *count.lock() += 1;
    other.join().unwrap();
    assert_eq!(*count.lock(), 2);
}
