//! `std::sync::OnceLock`.

use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};

use super::once::Once;
use crate::shared::Late;
use crate::vocabulary::Site;

/// `std::sync::OnceLock`.
pub struct OnceLock<T> {
    once: Once,
    value: Late<T>,
}

// SAFETY: a value that was put there by one thread is seen, and may be dropped, by others.
unsafe impl<T: Sync + Send> Sync for OnceLock<T> {}
impl<T: UnwindSafe> UnwindSafe for OnceLock<T> {}
impl<T: RefUnwindSafe + UnwindSafe> RefUnwindSafe for OnceLock<T> {}

impl<T> OnceLock<T> {
    /// See `std::sync::OnceLock::new`.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            once: Once::new(),
            value: Late::empty(),
        }
    }

    /// See `std::sync::OnceLock::get`.
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        let made = self.once.made_at(Location::caller());
        made.map(|number| self.value.get(number))
    }

    /// See `std::sync::OnceLock::get_mut`.
    #[track_caller]
    pub fn get_mut(&mut self) -> Option<&mut T> {
        let made = self.once.made_at(Location::caller());
        made.map(|number| self.value.get_mut(number))
    }

    /// See `std::sync::OnceLock::wait`.
    #[track_caller]
    pub fn wait(&self) -> &T {
        let number = self.once.wait_at(true, Location::caller());
        self.value.get(number)
    }

    /// See `std::sync::OnceLock::set`.
    ///
    /// # Errors
    /// There is a value already, and this one is given back.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.init(Location::caller(), || value.take());
        value.map_or(Ok(()), Err)
    }

    /// See `std::sync::OnceLock::get_or_init`.
    #[track_caller]
    pub fn get_or_init<F: FnOnce() -> T>(&self, init: F) -> &T {
        let number = self.init(Location::caller(), || Some(init()));
        self.value.get(number)
    }

    #[track_caller]
    fn init(&self, site: Site, init: impl FnOnce() -> Option<T>) -> u64 {
        // A panic in an initialization leaves it to the next one.
        self.once.call(true, site, |_| {
            if let Some(value) = init() {
                // SAFETY: no other initialization runs, and no thread reads before this one is over.
                unsafe { self.value.put(value) };
            }
        })
    }

    /// See `std::sync::OnceLock::into_inner`.
    #[track_caller]
    pub fn into_inner(mut self) -> Option<T> {
        self.take()
    }

    /// See `std::sync::OnceLock::take`.
    #[track_caller]
    pub fn take(&mut self) -> Option<T> {
        let made = self.once.made_at(Location::caller());
        self.once.reset();
        self.value.take(made)
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> From<T> for OnceLock<T> {
    fn from(value: T) -> Self {
        Self {
            once: Once::completed(),
            value: Late::with(value),
        }
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    #[track_caller]
    fn clone(&self) -> Self {
        self.get().cloned().map_or_else(Self::new, Self::from)
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut tuple = f.debug_tuple("OnceLock");
        match self.get() {
            Some(value) => tuple.field(value),
            None => tuple.field(&format_args!("<uninit>")),
        };
        tuple.finish()
    }
}

impl<T: PartialEq> PartialEq for OnceLock<T> {
    #[track_caller]
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceLock<T> {}
