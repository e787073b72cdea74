//! `std::sync::LazyLock`, on the scheduled machine.

use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::panic::{Location, RefUnwindSafe, UnwindSafe};

use super::once::Once;
use crate::shared::Late;
use crate::vocabulary::Site;

/// `std::sync::LazyLock`.
///
/// A static lazy lock is made anew in every execution. Its function is used again then: the function comes out of a
/// constant, so it owns nothing that could be given away twice.
pub struct LazyLock<T, F = fn() -> T> {
    once: Once,
    value: Late<T>,
    init: ManuallyDrop<F>,
}

// SAFETY: a value that was made by one thread is seen by others; the function is called by one of them.
unsafe impl<T: Sync + Send, F: Send> Sync for LazyLock<T, F> {}
impl<T: UnwindSafe, F: UnwindSafe> UnwindSafe for LazyLock<T, F> {}
impl<T: RefUnwindSafe + UnwindSafe, F: UnwindSafe> RefUnwindSafe for LazyLock<T, F> {}

const POISONED: &str = "LazyLock instance has previously been poisoned";

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// See `std::sync::LazyLock::new`.
    pub const fn new(init: F) -> Self {
        Self {
            once: Once::new(),
            value: Late::empty(),
            init: ManuallyDrop::new(init),
        }
    }

    #[track_caller]
    fn init(&self, what: &str, site: Site) {
        self.once.call(what, true, site, |state| {
            assert!(!state.is_poisoned(), "{POISONED}");
            self.value.note_taken();
            // SAFETY: this is done once in the life of a lazy lock that is dropped some time, since the one attempt at it
            // completes or poisons it. For statics see above.
            let init = unsafe { std::ptr::read(&raw const *self.init) };
            let value = init();
            // SAFETY: no other initialization runs, and no thread reads before this one is over.
            unsafe { self.value.put(value) };
        });
    }

    /// See `std::sync::LazyLock::force`.
    #[track_caller]
    pub fn force(this: &Self) -> &T {
        this.init("LazyLock::force", Location::caller());
        this.value.get()
    }

    /// See `std::sync::LazyLock::force_mut`.
    #[track_caller]
    pub fn force_mut(this: &mut Self) -> &mut T {
        this.init("LazyLock::force_mut", Location::caller());
        this.value.get_mut()
    }
}

impl<T, F> LazyLock<T, F> {
    /// See `std::sync::LazyLock::get`.
    #[track_caller]
    pub fn get(this: &Self) -> Option<&T> {
        let there = this
            .once
            .is_completed_at("LazyLock::get", Location::caller());
        there.then(|| this.value.get())
    }

    /// See `std::sync::LazyLock::get_mut`.
    #[track_caller]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        let there = this
            .once
            .is_completed_at("LazyLock::get_mut", Location::caller());
        there.then(|| this.value.get_mut())
    }
}

impl<T, F> Drop for LazyLock<T, F> {
    fn drop(&mut self) {
        if !self.value.is_taken() {
            // SAFETY: the function has not been taken out.
            unsafe { ManuallyDrop::drop(&mut self.init) };
        }
    }
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        Self::force(self)
    }
}

impl<T, F: FnOnce() -> T> DerefMut for LazyLock<T, F> {
    #[track_caller]
    fn deref_mut(&mut self) -> &mut T {
        Self::force_mut(self)
    }
}

impl<T: Default> Default for LazyLock<T> {
    fn default() -> Self {
        Self::new(T::default)
    }
}

impl<T: fmt::Debug, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut tuple = f.debug_tuple("LazyLock");
        match Self::get(self) {
            Some(value) => tuple.field(value),
            None => tuple.field(&format_args!("<uninit>")),
        };
        tuple.finish()
    }
}
