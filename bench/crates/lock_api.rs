//! The spin lock of the crate's documentation, taken by two threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use lock_api::{Mutex, RawMutex};

struct RawSpinlock(AtomicBool);

unsafe impl RawMutex for RawSpinlock {
    const INIT: RawSpinlock = RawSpinlock(AtomicBool::new(false));
    type Guard = ();

    fn lock(&self) {
        while self.try_lock().is_none() {}
    }

    fn try_lock(&self) -> Option<()> {
        let done = self.0.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed);
        done.is_ok().then_some(())
    }

    unsafe fn unlock(&self, _: ()) {
        self.0.store(false, Ordering::Release);
    }

    fn is_locked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
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
