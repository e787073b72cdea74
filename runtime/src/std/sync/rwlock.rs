//! `std::sync::RwLock`.
//!
//! A thread that holds a read guard may take another one: std leaves open whether that waits behind a writer that waits, and
//! with that for ever. Both are looked at: see the module `scheduled::behind_writers`.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::ptr::NonNull;
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

use crate::log::LockMode;
use crate::shared::{Exclusive, LockCell, Shadow};
use crate::vocabulary::Site;

/// `std::sync::RwLock`, as an object of P̂ₖ.
pub struct RwLock<T> {
    // Readers share the value, so that the lock is `Sync` only where the value is.
    _shared: PhantomData<T>,
    cell: LockCell<T>,
}

impl<T> UnwindSafe for RwLock<T> {}
impl<T> RefUnwindSafe for RwLock<T> {}

impl<T> RwLock<T> {
    /// See `std::sync::RwLock::new`.
    pub const fn new(value: T) -> Self {
        Self {
            _shared: PhantomData,
            cell: LockCell::new(value),
        }
    }
}

impl<T: Shadow> RwLock<T> {
    /// A number for this object, as a part of a value.
    pub(crate) fn identity(&self) -> u64 {
        self.cell.identity()
    }

    /// See `std::sync::RwLock::read`.
    ///
    /// # Errors
    /// A thread panicked while it held a write guard.
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let site = Location::caller();
        let poisoned = self.cell.lock(LockMode::Shared, site);
        let guard = RwLockReadGuard::of(&self.cell, site);
        if poisoned {
            Err(PoisonError::new(guard))
        } else {
            Ok(guard)
        }
    }

    /// See `std::sync::RwLock::try_read`.
    ///
    /// # Errors
    /// A write guard is held, or a thread panicked while it held one.
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        let site = Location::caller();
        let Some(poisoned) = self.cell.try_lock(LockMode::Shared, site) else {
            return Err(TryLockError::WouldBlock);
        };
        let guard = RwLockReadGuard::of(&self.cell, site);
        if poisoned {
            Err(TryLockError::Poisoned(PoisonError::new(guard)))
        } else {
            Ok(guard)
        }
    }

    /// See `std::sync::RwLock::write`.
    ///
    /// # Errors
    /// A thread panicked while it held a write guard.
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let site = Location::caller();
        let poisoned = self.cell.lock(LockMode::Exclusive, site);
        let guard = RwLockWriteGuard(Exclusive::new(&self.cell, site));
        if poisoned {
            Err(PoisonError::new(guard))
        } else {
            Ok(guard)
        }
    }

    /// See `std::sync::RwLock::try_write`.
    ///
    /// # Errors
    /// A guard is held, or a thread panicked while it held a write guard.
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        let site = Location::caller();
        let Some(poisoned) = self.cell.try_lock(LockMode::Exclusive, site) else {
            return Err(TryLockError::WouldBlock);
        };
        let guard = RwLockWriteGuard(Exclusive::new(&self.cell, site));
        if poisoned {
            Err(TryLockError::Poisoned(PoisonError::new(guard)))
        } else {
            Ok(guard)
        }
    }

    /// See `std::sync::RwLock::is_poisoned`.
    #[track_caller]
    pub fn is_poisoned(&self) -> bool {
        self.cell.is_poisoned(Location::caller())
    }

    /// See `std::sync::RwLock::clear_poison`.
    #[track_caller]
    pub fn clear_poison(&self) {
        self.cell.clear_poison(Location::caller());
    }

    /// See `std::sync::RwLock::into_inner`.
    ///
    /// # Errors
    /// A thread panicked while it held a write guard.
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

    /// See `std::sync::RwLock::get_mut`.
    ///
    /// # Errors
    /// A thread panicked while it held a write guard.
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

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: Default> Default for RwLock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

// As std's, it tries to read, and looks at the poison flag when it has given the lock back.
impl<T: Shadow + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("RwLock");
        match self.try_read() {
            Ok(guard) => shown.field("data", &&*guard),
            Err(TryLockError::Poisoned(error)) => shown.field("data", &&**error.get_ref()),
            Err(TryLockError::WouldBlock) => shown.field("data", &format_args!("<locked>")),
        };
        shown.field("poisoned", &self.is_poisoned());
        shown.finish_non_exhaustive()
    }
}

/// `std::sync::RwLockReadGuard`.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'a, T: Shadow> {
    /// The cell, of this type or of one that lives longer: a guard that only reads may be one of a shorter life, as std's.
    cell: NonNull<()>,
    taken: Site,
    _value: PhantomData<&'a T>,
}

impl<'a, T: Shadow> RwLockReadGuard<'a, T> {
    fn of(cell: &'a LockCell<T>, taken: Site) -> Self {
        Self {
            cell: NonNull::from(cell).cast(),
            taken,
            _value: PhantomData,
        }
    }

    const fn cell(&self) -> &'a LockCell<T> {
        // SAFETY: it is the cell that the guard was made of, whose borrow is as long as `'a`. Under a shared guard, values are
        // only read.
        unsafe { self.cell.cast().as_ref() }
    }
}

// SAFETY: sharing a guard shares `&T` and no more.
unsafe impl<T: Shadow + Sync> Sync for RwLockReadGuard<'_, T> {}

impl<T: Shadow + RefUnwindSafe> UnwindSafe for RwLockReadGuard<'_, T> {}
impl<T: Shadow + RefUnwindSafe> RefUnwindSafe for RwLockReadGuard<'_, T> {}

impl<T: Shadow> Deref for RwLockReadGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the guard keeps writers of its line out.
        unsafe { &*self.cell().value() }
    }
}

impl<T: Shadow> Drop for RwLockReadGuard<'_, T> {
    fn drop(&mut self) {
        self.cell()
            .unlock(LockMode::Shared, self.taken, None, false);
    }
}

/// `std::sync::RwLockWriteGuard`.
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'a, T: Shadow>(Exclusive<'a, T>);

impl<'a, T: Shadow> RwLockWriteGuard<'a, T> {
    /// See `std::sync::RwLockWriteGuard::downgrade`.
    #[track_caller]
    pub fn downgrade(s: Self) -> RwLockReadGuard<'a, T> {
        let site = Location::caller();
        let cell = s.0.cell();
        cell.share(site);
        drop(s);
        cell.is_shared(site);
        RwLockReadGuard::of(cell, site)
    }
}

impl<T: Shadow> UnwindSafe for RwLockWriteGuard<'_, T> {}
impl<T: Shadow> RefUnwindSafe for RwLockWriteGuard<'_, T> {}

impl<T: Shadow> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.value()
    }
}

impl<T: Shadow> DerefMut for RwLockWriteGuard<'_, T> {
    #[track_caller]
    fn deref_mut(&mut self) -> &mut T {
        self.0.value_mut(Location::caller())
    }
}

impl<T: Shadow + fmt::Debug> fmt::Debug for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: Shadow + fmt::Debug> fmt::Debug for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: Shadow + fmt::Display> fmt::Display for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: Shadow + fmt::Display> fmt::Display for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
