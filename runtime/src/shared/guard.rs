//! Guards that hold their lock exclusively: a mutex's, and the write guard of a read-write lock.

use std::marker::PhantomData;

use super::{LockCell, Shadow};
use crate::log::LockMode;
use crate::vocabulary::Site;

/// Holds a lock exclusively, and gives the lock back when the guard is dropped.
pub(crate) struct Exclusive<'a, T: Shadow> {
    cell: &'a LockCell<T>,
    taken: Site,
    /// The place where the value was last borrowed mutably, or may have been changed without that, if it was.
    written: Option<Site>,
    /// Whether the thread was unwinding already when it took the lock: then the guard does not poison the lock.
    panicking: bool,
    _not_send: PhantomData<*const ()>,
}

// SAFETY: sharing a guard shares `&T` and no more.
unsafe impl<T: Shadow + Sync> Sync for Exclusive<'_, T> {}

impl<'a, T: Shadow> Exclusive<'a, T> {
    /// The guard of a lock that has just been taken exclusively.
    pub(crate) fn new(cell: &'a LockCell<T>, taken: Site) -> Self {
        Self {
            cell,
            taken,
            written: cell.borrow_unseen(taken).then_some(taken),
            panicking: std::thread::panicking(),
            _not_send: PhantomData,
        }
    }

    /// The lock.
    pub(crate) const fn cell(&self) -> &'a LockCell<T> {
        self.cell
    }

    pub(crate) fn value(&self) -> &T {
        // SAFETY: the guard holds the lock on its line, and a shared borrow of it keeps the value from being changed.
        unsafe { &*self.cell.value() }
    }

    pub(crate) fn value_mut(&mut self, site: Site) -> &mut T {
        self.written = Some(site);
        // SAFETY: the guard holds the lock on its line, and is exclusively borrowed.
        unsafe { &mut *self.cell.value_mut(site) }
    }
}

impl<T: Shadow> Drop for Exclusive<'_, T> {
    fn drop(&mut self) {
        let poisons = !self.panicking && std::thread::panicking();
        if poisons {
            crate::running::with_panics(|panics, thread, _| panics.poison(thread));
        }
        self.cell
            .unlock(LockMode::Exclusive, self.taken, self.written, poisons);
    }
}
