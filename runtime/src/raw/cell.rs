//! `std::cell::UnsafeCell`, with its owner's accesses told of: whoever has the cell to itself needs no pointer to it.
//!
//! A constant function can't tell of anything. So a crate in which one looks into a cell through a `&mut` has cells whose
//! owners' accesses are not told of.

use std::cell;
use std::fmt;

use super::writes;

/// See [`std::cell::UnsafeCell`]. It is laid out as std's.
#[repr(transparent)]
pub struct UnsafeCell<T: ?Sized, const IS_TOLD: bool>(cell::UnsafeCell<T>);

impl<T, const IS_TOLD: bool> UnsafeCell<T, IS_TOLD> {
    /// See [`std::cell::UnsafeCell::new`].
    #[inline]
    pub const fn new(value: T) -> Self {
        Self(cell::UnsafeCell::new(value))
    }

    /// See [`std::cell::UnsafeCell::into_inner`].
    #[inline]
    pub const fn into_inner(self) -> T {
        // SAFETY: the value is this cell's own, which is forgotten.
        let value = unsafe { self.0.get().read() };
        std::mem::forget(self);
        value
    }
}

impl<T: ?Sized, const IS_TOLD: bool> UnsafeCell<T, IS_TOLD> {
    /// See [`std::cell::UnsafeCell::from_mut`].
    #[inline]
    pub const fn from_mut(value: &mut T) -> &mut Self {
        let inner = cell::UnsafeCell::from_mut(value);
        // SAFETY: this type is a transparent wrapper of std's.
        unsafe { &mut *(std::ptr::from_mut(inner) as *mut Self) }
    }

    /// See [`std::cell::UnsafeCell::get`].
    #[inline]
    pub const fn get(&self) -> *mut T {
        self.0.get()
    }

    /// See [`std::cell::UnsafeCell::raw_get`].
    #[inline]
    pub const fn raw_get(this: *const Self) -> *mut T {
        cell::UnsafeCell::raw_get(this as *const cell::UnsafeCell<T>)
    }
}

impl<T: ?Sized> UnsafeCell<T, true> {
    /// See [`std::cell::UnsafeCell::get_mut`].
    #[track_caller]
    #[inline]
    pub fn get_mut(&mut self) -> &mut T {
        writes(self.get());
        self.0.get_mut()
    }
}

impl<T: ?Sized> UnsafeCell<T, false> {
    /// See [`std::cell::UnsafeCell::get_mut`].
    #[inline]
    pub const fn get_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }
}

impl<T: Default, const IS_TOLD: bool> Default for UnsafeCell<T, IS_TOLD> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T, const IS_TOLD: bool> From<T> for UnsafeCell<T, IS_TOLD> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: ?Sized, const IS_TOLD: bool> fmt::Debug for UnsafeCell<T, IS_TOLD> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
