//! Plain data that threads share without synchronisation: a `static mut`.

mod native;
mod scheduled;
mod sequential;

use std::cell::Cell;

use super::{Initial, Kept, Made, Shadow, Slot, Tag};
use crate::running::by_mode;
use crate::vocabulary::Site;

/// A `static mut` of the program under test. Every access is an event, and unordered ones are data races.
#[derive(Debug)]
pub(crate) struct PlainCell<V> {
    tag: Tag,
    /// G; outside of executions, the current value.
    g: Slot<V>,
    initial: Initial<V>,
    /// G', once T' has written.
    g_prime: Made<Slot<V>>,
    kept: Kept<V>,
    /// A write of T' whose value has to be kept, and is there when T' accesses the cell again, or T begins.
    pending: Cell<Option<u32>>,
}

// SAFETY: see `AtomicCell`. The program's own `unsafe` answers for references not overlapping, as it does for the
// `static mut` that the cell replaces.
unsafe impl<V> Sync for PlainCell<V> {}

impl<V> PlainCell<V> {
    pub(crate) const fn new(value: V) -> Self {
        Self {
            tag: Tag::unused(),
            g: Slot::new(value),
            initial: Initial::none(),
            g_prime: Made::none(),
            kept: Kept::none(),
            pending: Cell::new(None),
        }
    }
}

impl<V: Shadow> PlainCell<V> {
    /// Reads the value.
    pub(crate) fn borrow(&self, site: Site) -> *const V {
        by_mode!(read(self, site))
    }

    /// Reads the value; the caller then writes through the returned pointer.
    pub(crate) fn borrow_mut(&self, site: Site) -> *mut V {
        by_mode!(read(self, site));
        by_mode!(write(self, None, site))
    }

    /// Returns a pointer to the value, which is no event. What is done through it isn't seen.
    pub(crate) fn pointer(&self) -> *mut V {
        by_mode!(pointer(self))
    }

    /// Writes the value.
    pub(crate) fn set(&self, value: V, site: Site) {
        let place = by_mode!(write(self, Some(&value), site));
        // SAFETY: the place is this cell's, which no other thread accesses at this moment. What was there is dropped when
        // the cell has the new value: its destructor is the program's code.
        drop(unsafe { place.replace(value) });
    }
}
