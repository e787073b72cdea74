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

    /// Reads the value in place.
    #[allow(clippy::should_implement_trait)]
    #[track_caller]
    pub fn borrow(&self) -> &V {
        // SAFETY: the pointer is valid. That the reference is not used across a write is for the program's `unsafe` code
        // to see to, as it was for the `static mut`.
        unsafe { &*self.cell.borrow(Location::caller()) }
    }

    /// Reads, and then writes the value in place.
    #[allow(clippy::mut_from_ref, clippy::should_implement_trait)]
    #[track_caller]
    pub fn borrow_mut(&self) -> &mut V {
        // SAFETY: the pointer is valid. The program's `unsafe` code has to see to it that the reference is not used
        // across another access, as for the `static mut`.
        unsafe { &mut *self.cell.borrow_mut(Location::caller()) }
    }
}

impl<V: Shadow + fmt::Display> fmt::Display for StaticMut<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.borrow().fmt(f)
    }
}
