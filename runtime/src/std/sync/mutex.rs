//! `std::sync::Mutex`.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

use crate::log::LockMode;
use crate::shared::{Exclusive, LockCell, Shadow};
use crate::vocabulary::Site;

/// `std::sync::Mutex`, as an object of P̂ₖ.
pub struct Mutex<T> {
    cell: LockCell<T>,
}

impl<T> UnwindSafe for Mutex<T> {}
impl<T> RefUnwindSafe for Mutex<T> {}

impl<T> Mutex<T> {
    /// See `std::sync::Mutex::new`.
    pub const fn new(value: T) -> Self {
        Self {
            cell: LockCell::new(value),
        }
    }
}

impl<T: Shadow> Mutex<T> {
    /// A number for this object, as a part of a value.
    pub(crate) fn identity(&self) -> u64 {
        self.cell.identity()
    }

    /// See `std::sync::Mutex::lock`.
    ///
    /// # Errors
    /// A thread panicked while it held the lock.
    // So that the guard is made where it is to be, and not copied out of result after result.
    #[inline]
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let site = Location::caller();
        let poisoned = self.cell.lock(LockMode::Exclusive, site);
        let guard = MutexGuard(Exclusive::new(&self.cell, site));
        if poisoned {
            Err(PoisonError::new(guard))
        } else {
            Ok(guard)
        }
    }

    /// See `std::sync::Mutex::try_lock`.
    ///
    /// # Errors
    /// The lock is held, or a thread panicked while it held it.
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        let site = Location::caller();
        let Some(poisoned) = self.cell.try_lock(LockMode::Exclusive, site) else {
            return Err(TryLockError::WouldBlock);
        };
        let guard = MutexGuard(Exclusive::new(&self.cell, site));
        if poisoned {
            Err(TryLockError::Poisoned(PoisonError::new(guard)))
        } else {
            Ok(guard)
        }
    }

    /// See `std::sync::Mutex::is_poisoned`.
    #[track_caller]
    pub fn is_poisoned(&self) -> bool {
        self.cell.is_poisoned(Location::caller())
    }

    /// See `std::sync::Mutex::clear_poison`.
    #[track_caller]
    pub fn clear_poison(&self) {
        self.cell.clear_poison(Location::caller());
    }

    /// See `std::sync::Mutex::into_inner`.
    ///
    /// # Errors
    /// A thread panicked while it held the lock.
    #[track_caller]
    pub fn into_inner(mut self) -> LockResult<T> {
        let poisoned = self.cell.settle(false, Location::caller());
        let value = self.cell.into_inner();
        if poisoned {
            Err(PoisonError::new(value))
        } else {
            Ok(value)
        }
    }

    /// See `std::sync::Mutex::get_mut`.
    ///
    /// # Errors
    /// A thread panicked while it held the lock.
    #[track_caller]
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        let site = Location::caller();
        let poisoned = self.cell.settle(true, site);
        // SAFETY: `self` is exclusively borrowed, so there is no guard and no other reference to the value.
        let value = unsafe { &mut *self.cell.settled_mut(site) };
        if poisoned {
            Err(PoisonError::new(value))
        } else {
            Ok(value)
        }
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

// As std's, it tries to take the lock, and looks at the poison flag when it has given it back.
impl<T: Shadow + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Mutex");
        match self.try_lock() {
            Ok(guard) => shown.field("data", &&*guard),
            Err(TryLockError::Poisoned(error)) => shown.field("data", &&**error.get_ref()),
            Err(TryLockError::WouldBlock) => shown.field("data", &format_args!("<locked>")),
        };
        shown.field("poisoned", &self.is_poisoned());
        shown.finish_non_exhaustive()
    }
}

/// `std::sync::MutexGuard`.
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, T: Shadow>(Exclusive<'a, T>);

impl<'a, T: Shadow> MutexGuard<'a, T> {
    /// Gives the mutex back, does `meanwhile`, and takes it again.
    pub(super) fn without(self, site: Site, meanwhile: impl FnOnce()) -> LockResult<Self> {
        let cell = self.0.cell();
        drop(self);
        meanwhile();
        let poisoned = cell.lock(LockMode::Exclusive, site);
        let guard = MutexGuard(Exclusive::new(cell, site));
        if poisoned {
            Err(PoisonError::new(guard))
        } else {
            Ok(guard)
        }
    }
}

impl<T: Shadow> UnwindSafe for MutexGuard<'_, T> {}
impl<T: Shadow> RefUnwindSafe for MutexGuard<'_, T> {}

impl<T: Shadow> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.value()
    }
}

impl<T: Shadow> DerefMut for MutexGuard<'_, T> {
    #[track_caller]
    fn deref_mut(&mut self) -> &mut T {
        self.0.value_mut(Location::caller())
    }
}

impl<T: Shadow + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: Shadow + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
