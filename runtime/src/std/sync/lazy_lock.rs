//! `std::sync::LazyLock`.

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

const TWICE: &str = "both threads make the value of this `LazyLock`, whose function owns something: the sequential program would need the \
     function twice";

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
    fn init(&self, site: Site) -> u64 {
        self.once.call(true, site, |state| {
            assert!(!state.is_poisoned(), "{POISONED}");
            if self.value.note_taken() && std::mem::needs_drop::<F>() {
                crate::running::refuse(TWICE, site);
            }
            // SAFETY: this is done once in the life of a lazy lock that is dropped some time, since the one attempt at it
            // completes or poisons it. For statics see above. In P̂ₖ both threads may do it, where the function owns
            // nothing.
            let init = unsafe { std::ptr::read(&raw const *self.init) };
            let value = init();
            // SAFETY: no other initialization runs, and no thread reads before this one is over.
            unsafe { self.value.put(value) };
        })
    }

    /// See `std::sync::LazyLock::force`.
    #[track_caller]
    pub fn force(this: &Self) -> &T {
        let number = this.init(Location::caller());
        this.value.get(number)
    }

    /// See `std::sync::LazyLock::force_mut`.
    #[track_caller]
    pub fn force_mut(this: &mut Self) -> &mut T {
        let number = this.init(Location::caller());
        this.value.get_mut(number)
    }
}

impl<T, F> LazyLock<T, F> {
    /// See `std::sync::LazyLock::get`.
    #[track_caller]
    pub fn get(this: &Self) -> Option<&T> {
        let made = this.once.made_at(Location::caller());
        made.map(|number| this.value.get(number))
    }

    /// See `std::sync::LazyLock::get_mut`.
    #[track_caller]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        let made = this.once.made_at(Location::caller());
        made.map(|number| this.value.get_mut(number))
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
