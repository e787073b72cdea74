//! Places for values that the program refers to while the runtime looks at what is beside them.
//!
//! The program has `&mut` to a value under a guard. So the runtime may make no reference to memory that the value is part of, but
//! through the place that the value is in, and there only where the program has none: a shared reference to an object as a whole
//! reaches no value, since each is in a [`Slot`] of its own.

use std::cell::{Cell, UnsafeCell};
use std::fmt;

use super::Lasts;
use super::room::make_room;

/// The place of one value.
#[derive(Debug)]
pub(crate) struct Slot<T>(UnsafeCell<T>);

impl<T> Slot<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// The value's place.
    #[inline]
    pub(crate) const fn as_ptr(&self) -> *mut T {
        self.0.get()
    }

    /// The value.
    ///
    /// # Safety
    /// As long as the reference is used, the value is not replaced, and nothing is written through its place.
    #[inline]
    pub(crate) const unsafe fn get(&self) -> &T {
        // SAFETY: the place is valid, and the caller sees to it that nothing changes what is there.
        unsafe { &*self.0.get() }
    }

    /// Puts another value there, and returns the one that was there.
    ///
    /// # Safety
    /// No reference to the value that was there is used any more.
    #[inline]
    pub(crate) const unsafe fn replace(&self, value: T) -> T {
        // SAFETY: the place is valid, and by the caller's promise nothing refers to it.
        unsafe { std::ptr::replace(self.0.get(), value) }
    }

    pub(crate) fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

/// A copy that is made at most once in an execution.
#[derive(Debug)]
pub(crate) struct Made<T>(Slot<Option<T>>);

impl<T> Made<T> {
    pub(crate) const fn none() -> Self {
        Self(Slot::new(None))
    }

    /// A copy that is there from the beginning.
    pub(crate) const fn already(copy: T) -> Self {
        Self(Slot::new(Some(copy)))
    }

    pub(crate) fn get_mut(&mut self) -> Option<&mut T> {
        self.0.0.get_mut().as_mut()
    }

    /// The copy, if it has been made.
    #[inline]
    pub(crate) const fn get(&self) -> Option<&T> {
        // SAFETY: a copy that is there is replaced by `take` alone, whose caller answers for that.
        unsafe { self.0.get() }.as_ref()
    }

    /// Puts the copy there, if there is none.
    pub(crate) fn make(&self, copy: T) {
        if self.get().is_none() {
            // SAFETY: there is no copy, so that there is no reference to one.
            unsafe { self.0.replace(Some(copy)) };
        }
    }

    /// Takes the copy away.
    ///
    /// # Safety
    /// No reference to the copy is used any more.
    pub(crate) unsafe fn take(&self) -> Option<T> {
        // SAFETY: the caller's promise.
        unsafe { self.0.replace(None) }
    }

    pub(crate) fn into_inner(self) -> Option<T> {
        self.0.into_inner()
    }
}

/// The values that T may see, by the event of T' that wrote them, in the order of the events.
pub(crate) struct Kept<T>(Cell<Vec<(u32, T)>>);

impl<T> fmt::Debug for Kept<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").finish_non_exhaustive()
    }
}

impl<T> Kept<T> {
    pub(crate) const fn none() -> Self {
        Self(Cell::new(Vec::new()))
    }

    /// Keeps what this event wrote.
    pub(crate) fn push(&self, event: u32, value: T) {
        let mut all = self.0.take();
        make_room(&mut all, self);
        all.push((event, value));
        self.0.set(all);
    }

    /// Calls `copy` with what this event wrote, if that is kept. Meanwhile nothing is kept here, so that the program's code,
    /// which `copy` may run, does not move what it is looking at.
    pub(crate) fn with<R>(&self, event: u32, copy: impl FnOnce(&T) -> R) -> Option<R> {
        struct PutBack<'k, T>(&'k Kept<T>, Vec<(u32, T)>);
        impl<T> Drop for PutBack<'_, T> {
            fn drop(&mut self) {
                self.0.0.set(std::mem::take(&mut self.1));
            }
        }
        let all = PutBack(self, self.0.take());
        let at = all.1.binary_search_by_key(&event, |(at, _)| *at).ok()?;
        Some(copy(&all.1[at].1))
    }

    /// Gives up all of it. The list's own memory serves the next execution.
    pub(crate) fn give_up(&self, lasts: Lasts) {
        let mut all = self.0.take();
        lasts.give_up_all(&mut all);
        self.0.set(all);
    }

    /// Whether nothing is kept.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        // SAFETY: the list is not changed meanwhile.
        unsafe { &*self.0.as_ptr() }.is_empty()
    }
}
