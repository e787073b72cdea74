//! A parked thread, which waits on a condition variable of std.

use std::sync::{Condvar, Mutex};
use std::time::Instant;

/// A thread that parks, or can.
pub struct ThreadParker {
    is_parked: Mutex<bool>,
    is_unparked: Condvar,
}

impl super::ThreadParkerT for ThreadParker {
    type UnparkHandle = UnparkHandle;

    const IS_CHEAP_TO_CONSTRUCT: bool = true;

    fn new() -> ThreadParker {
        ThreadParker {
            is_parked: Mutex::new(false),
            is_unparked: Condvar::new(),
        }
    }

    unsafe fn prepare_park(&self) {
        *self.is_parked.lock().unwrap() = true;
    }

    unsafe fn timed_out(&self) -> bool {
        *self.is_parked.lock().unwrap()
    }

    unsafe fn park(&self) {
        let mut is_parked = self.is_parked.lock().unwrap();
        while *is_parked {
            is_parked = self.is_unparked.wait(is_parked).unwrap();
        }
    }

    unsafe fn park_until(&self, timeout: Instant) -> bool {
        let mut is_parked = self.is_parked.lock().unwrap();
        while *is_parked {
            let now = Instant::now();
            if timeout <= now {
                return false;
            }
            is_parked = self.is_unparked.wait_timeout(is_parked, timeout - now).unwrap().0;
        }
        true
    }

    unsafe fn unpark_lock(&self) -> UnparkHandle {
        // Once it is no longer parked, the thread may drop this: the handle can't come back to it.
        let mut is_parked = self.is_parked.lock().unwrap();
        *is_parked = false;
        self.is_unparked.notify_one();
        UnparkHandle(())
    }
}

/// What is left to do once a thread has been unparked: nothing.
pub struct UnparkHandle(());

impl super::UnparkHandleT for UnparkHandle {
    unsafe fn unpark(self) {}
}

pub fn thread_yield() {
    std::thread::yield_now();
}
