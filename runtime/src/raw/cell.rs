//! `std::cell::UnsafeCell`, with its owner's accesses told of: whoever has the cell to itself needs no pointer to it.

use std::cell;
use std::fmt;

use super::writes;

/// See [`std::cell::UnsafeCell`]. It is laid out as std's.
#[repr(transparent)]
pub struct UnsafeCell<T: ?Sized>(cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    /// See [`std::cell::UnsafeCell::new`].
    #[inline]
    pub const fn new(value: T) -> Self {
        Self(cell::UnsafeCell::new(value))
    }

    /// See [`std::cell::UnsafeCell::into_inner`].
    #[inline]
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
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

    /// See [`std::cell::UnsafeCell::get_mut`].
    #[track_caller]
    #[inline]
    pub fn get_mut(&mut self) -> &mut T {
        writes(self.get());
        self.0.get_mut()
    }

    /// See [`std::cell::UnsafeCell::raw_get`].
    #[inline]
    pub const fn raw_get(this: *const Self) -> *mut T {
        cell::UnsafeCell::raw_get(this as *const cell::UnsafeCell<T>)
    }
}

impl<T: Default> Default for UnsafeCell<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for UnsafeCell<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: ?Sized> fmt::Debug for UnsafeCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
