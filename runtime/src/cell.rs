//! What the transformation makes of a `static mut`.

use std::fmt;
use std::panic::Location;

use crate::shared::{PlainCell, Shadow};

/// A `static mut`: every read and every write of it is an event, and unordered ones are data races.
#[derive(Debug)]
pub struct StaticMut<V> {
    cell: PlainCell<V>,
}

impl<V> StaticMut<V> {
    /// A static with this value at the start of each execution.
    #[must_use]
    pub const fn new(value: V) -> Self {
        Self {
            cell: PlainCell::new(value),
        }
    }
}

impl<V: Shadow> StaticMut<V> {
    /// Reads the value.
    #[track_caller]
    pub fn get(&self) -> V
    where
        V: Copy,
    {
        // SAFETY: the pointer is valid, and no other thread writes at this moment.
        unsafe { *self.cell.borrow(Location::caller()) }
    }

    /// Writes the value.
    #[track_caller]
    pub fn set(&self, value: V) {
        self.cell.set(value, Location::caller());
    }

    /// Returns a pointer to the value. Accesses through it aren't seen.
    pub fn pointer(&self) -> *mut V {
        self.cell.pointer()
    }

    /// Reads the value in place.
    ///
    /// # Safety
    /// As for the `static mut`: the reference is not used across a write.
    #[track_caller]
    pub unsafe fn borrow<'a>(&self) -> &'a V {
        // SAFETY: the pointer is valid, and the caller answers for the rest.
        unsafe { &*self.cell.borrow(Location::caller()) }
    }

    /// Reads, and then writes the value in place.
    ///
    /// # Safety
    /// As for the `static mut`: the reference is not used across another access.
    #[track_caller]
    pub unsafe fn borrow_mut<'a>(&self) -> &'a mut V {
        // SAFETY: the pointer is valid, and the caller answers for the rest.
        unsafe { &mut *self.cell.borrow_mut(Location::caller()) }
    }
}

impl<V: Shadow + fmt::Display> fmt::Display for StaticMut<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: the pointer is valid. Formatting a `static mut` takes `unsafe` code of the program, which answers for the rest.
        unsafe { &*self.cell.borrow(Location::caller()) }.fmt(f)
    }
}
