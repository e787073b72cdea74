//! The lock of crossbeam's atomic cells, which the values of all sizes take: each access to a value is in a critical section,
//! none is read while another thread may write it.

use core::sync::atomic::{AtomicUsize, Ordering};

pub(crate) struct SeqLock {
    /// 1 while a thread has the lock.
    state: AtomicUsize,
}

impl SeqLock {
    pub(crate) const fn new() -> Self {
        Self {
            state: AtomicUsize::new(0),
        }
    }

    pub(crate) fn optimistic_read(&self) -> Option<usize> {
        None
    }

    pub(crate) fn validate_read(&self, _stamp: usize) -> bool {
        false
    }

    pub(crate) fn write(&'static self) -> SeqLockWriteGuard {
        while self
            .state
            .compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            core::hint::spin_loop();
        }
        SeqLockWriteGuard { lock: self }
    }
}

pub(crate) struct SeqLockWriteGuard {
    lock: &'static SeqLock,
}

impl SeqLockWriteGuard {
    pub(crate) fn abort(self) {}
}

impl Drop for SeqLockWriteGuard {
    fn drop(&mut self) {
        self.lock.state.store(0, Ordering::Release);
    }
}
