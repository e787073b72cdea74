//! `std::sync::Weak`.

use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::Weak as Handle;

use super::Arc;
use super::count::act;
use crate::engine::counts::{Act, Count};
use crate::vocabulary::Site;

/// `std::sync::Weak`, counted.
#[repr(transparent)]
pub struct Weak<T: ?Sized, const OBSERVED: bool>(pub(super) Handle<T>);

impl<T: ?Sized + RefUnwindSafe, const OBSERVED: bool> UnwindSafe for Weak<T, OBSERVED> {}
impl<T: ?Sized + RefUnwindSafe, const OBSERVED: bool> RefUnwindSafe for Weak<T, OBSERVED> {}

impl<T, const OBSERVED: bool> Weak<T, OBSERVED> {
    /// See `std::sync::Weak::new`.
    #[must_use]
    pub const fn new() -> Self {
        Self(Handle::new())
    }
}

impl<T: ?Sized, const OBSERVED: bool> Weak<T, OBSERVED> {
    /// Whether the handle never had a value: then it has no allocation, and no count to change.
    fn is_new(&self) -> bool {
        self.0.as_ptr().cast::<()>().addr() == usize::MAX
    }

    /// The number of handles: none of either kind once the value is gone, as std counts.
    fn count(&self) -> Count {
        count_of(&self.0)
    }

    fn act<R>(&self, what: Act, site: Site, then: impl FnOnce() -> (R, Count)) -> R {
        act(self.0.as_ptr().cast(), what, site, || self.count(), then)
    }

    #[track_caller]
    fn look(&self) -> Count {
        if self.is_new() {
            return self.count();
        }
        self.act(Act::Look, Location::caller(), || {
            let count = self.count();
            (count, count)
        })
    }

    /// See `std::sync::Weak::upgrade`.
    #[must_use]
    #[track_caller]
    pub fn upgrade(&self) -> Option<Arc<T, OBSERVED>> {
        if self.is_new() {
            return None;
        }
        self.act(Act::Upgrade, Location::caller(), || {
            let strong = self.0.upgrade().map(Arc::of);
            (strong, self.count())
        })
    }

    /// See `std::sync::Weak::strong_count`.
    #[must_use]
    #[track_caller]
    pub fn strong_count(&self) -> usize {
        self.look().strong
    }

    /// See `std::sync::Weak::weak_count`.
    #[must_use]
    #[track_caller]
    pub fn weak_count(&self) -> usize {
        self.look().weak
    }

    /// See `std::sync::Weak::ptr_eq`.
    #[must_use]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        self.0.ptr_eq(&other.0)
    }

    /// See `std::sync::Weak::as_ptr`.
    #[must_use]
    pub fn as_ptr(&self) -> *const T {
        self.0.as_ptr()
    }

    /// See `std::sync::Weak::into_raw`.
    #[must_use]
    pub fn into_raw(self) -> *const T {
        let value = self.0.as_ptr();
        std::mem::forget(self);
        value
    }

    /// See `std::sync::Weak::from_raw`.
    ///
    /// # Safety
    /// The std function's requirements.
    #[must_use]
    pub unsafe fn from_raw(value: *const T) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { Handle::from_raw(value) })
    }
}

fn count_of<T: ?Sized>(handle: &Handle<T>) -> Count {
    Count {
        strong: handle.strong_count(),
        weak: handle.weak_count(),
    }
}

/// The count once a weak handle is gone.
const fn one_less(count: Count) -> Count {
    Count {
        weak: count.weak.saturating_sub(1),
        ..count
    }
}

impl<T: ?Sized, const OBSERVED: bool> Clone for Weak<T, OBSERVED> {
    #[track_caller]
    fn clone(&self) -> Self {
        if self.is_new() {
            return Self(self.0.clone());
        }
        self.act(Act::Add, Location::caller(), || {
            let another = Self(self.0.clone());
            (another, self.count())
        })
    }
}

impl<T: ?Sized, const OBSERVED: bool> Drop for Weak<T, OBSERVED> {
    #[track_caller]
    fn drop(&mut self) {
        if self.is_new() {
            return;
        }
        let site = Location::caller();
        // The handle itself is dropped right after this.
        self.act(Act::Add, site, || ((), one_less(self.count())));
    }
}

impl<T, const OBSERVED: bool> Default for Weak<T, OBSERVED> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: ?Sized, const OBSERVED: bool> fmt::Debug for Weak<T, OBSERVED> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
