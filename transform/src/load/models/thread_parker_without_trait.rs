//! A parked thread, which waits on a condition variable of std.

use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::Instant;

/// A thread that parks, or can.
pub struct ThreadParker {
    is_parked: Mutex<bool>,
    is_unparked: Condvar,
}

impl ThreadParker {
    pub const IS_CHEAP_TO_CONSTRUCT: bool = true;

    pub fn new() -> ThreadParker {
        ThreadParker {
            is_parked: Mutex::new(false),
            is_unparked: Condvar::new(),
        }
    }

    pub fn prepare_park(&self) {
        *self.is_parked.lock().unwrap() = true;
    }

    pub fn timed_out(&self) -> bool {
        *self.is_parked.lock().unwrap()
    }

    pub fn park(&self) {
        let mut is_parked = self.is_parked.lock().unwrap();
        while *is_parked {
            is_parked = self.is_unparked.wait(is_parked).unwrap();
        }
    }

    pub fn park_until(&self, timeout: Instant) -> bool {
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

    pub fn unpark_lock(&self) -> UnparkHandle {
        // Once it is no longer parked, the thread may drop this: the handle can't come back to it.
        let mut is_parked = self.is_parked.lock().unwrap();
        *is_parked = false;
        self.is_unparked.notify_one();
        UnparkHandle(())
    }
}

/// What is left to do once a thread has been unparked: nothing.
pub struct UnparkHandle(());

impl UnparkHandle {
    pub fn unpark(self) {}
}

pub fn thread_yield() {
    thread::yield_now();
}
