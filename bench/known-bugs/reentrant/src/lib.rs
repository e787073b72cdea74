use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Arc;
use std::thread;

use lock_api::{GetThreadId, GuardSend, RawMutex, ReentrantMutex};

/// A spin lock.
struct Spin(AtomicBool);

unsafe impl RawMutex for Spin {
    const INIT: Self = Self(AtomicBool::new(false));

    type GuardMarker = GuardSend;

    fn lock(&self) {
        while !self.try_lock() {
            thread::yield_now();
        }
    }

    fn try_lock(&self) -> bool {
        let locked = self.0.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed);
        locked.is_ok()
    }

    fn unlock(&self) {
        self.0.store(false, Ordering::Release);
    }
}

/// Numbers for threads.
struct Numbers;

unsafe impl GetThreadId for Numbers {
    const INIT: Self = Self;

    fn nonzero_thread_id(&self) -> NonZeroUsize {
        static NEXT: AtomicUsize = AtomicUsize::new(1);
        thread_local!(static OWN: usize = NEXT.fetch_add(1, Ordering::Relaxed));
        NonZeroUsize::new(OWN.with(|own| *own)).unwrap()
    }
}

#[test]
fn two_threads_take_turns() {
    let mutex = Arc::new(ReentrantMutex::<Spin, Numbers, u32>::new(1));
    let other = {
        let mutex = Arc::clone(&mutex);
        thread::spawn(move || *mutex.lock())
    };
    drop(mutex.lock());
    other.join().unwrap();
}
