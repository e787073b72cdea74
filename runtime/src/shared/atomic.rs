//! Atomics: values of at most 64 bits, with operations that are one event each.

mod native;
mod scheduled;
mod sequential;

use std::cell::Cell;
use std::fmt;

use super::Tag;
use crate::engine::waiting::For;
use crate::engine::{self, ValueKind};
use crate::running::by_mode;
use crate::vocabulary::Site;

/// A value that fits into 64 bits.
pub(crate) trait Bits: Copy {
    const KIND: ValueKind;
    fn to_bits(self) -> u64;
    fn from_bits(bits: u64) -> Self;
}

/// An atomic of the program under test.
pub(crate) struct AtomicCell<V> {
    /// The value at the start of every execution; outside of executions, the current value.
    initial: Cell<V>,
    tag: Tag,
    /// G.
    g: Cell<V>,
    /// G', once T' has written.
    g_prime: Cell<Option<V>>,
}

// SAFETY: inside of an execution all threads of the program run on one OS thread, and a process-wide lock lets one
// execution run at a time. Outside of executions no thread of the program exists: `spawn` refuses to make one.
unsafe impl<V> Sync for AtomicCell<V> {}

impl<V> fmt::Debug for AtomicCell<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtomicCell").finish_non_exhaustive()
    }
}

impl<V: Copy> AtomicCell<V> {
    pub(crate) const fn new(value: V) -> Self {
        Self {
            initial: Cell::new(value),
            tag: Tag::unused(),
            g: Cell::new(value),
            g_prime: Cell::new(None),
        }
    }
}

impl<V: Bits> AtomicCell<V> {
    /// Joins the execution with this number.
    #[inline]
    fn renew(&self, generation: u32) {
        if self.tag.renew(generation, self) {
            self.g.set(self.initial.get());
            self.g_prime.set(None);
        }
    }

    /// Reads the value.
    #[inline]
    pub(crate) fn load(&self, site: Site) -> V {
        by_mode!(load(self, site))
    }

    /// Writes the value.
    #[inline]
    pub(crate) fn store(&self, value: V, site: Site) {
        by_mode!(store(self, value, site));
    }

    /// Reads and, if `next` says what to write, writes in the same step. `Err` gives the value that was not replaced.
    /// An update that leaves the value as it was is logged as a read.
    ///
    /// `expected` is the one value at which `next` writes, if there is just one.
    #[inline]
    pub(crate) fn update(
        &self,
        next: impl Fn(V) -> Option<V>,
        expected: Option<V>,
        site: Site,
    ) -> Result<V, V> {
        by_mode!(update(self, next, expected, site))
    }

    /// In P̂ₖ: the current thread has just read this value, and can't go on before it has changed. Returns where the thread
    /// may look again: see [`crate::engine::waiting::wait`].
    pub(crate) fn wait_in_p_hat(&self, handle: engine::Handle, what: For, site: Site) {
        sequential::wait(handle, self, what, None, site);
    }

    /// Does what [`Self::wait_in_p_hat`] does, where a change of the other value lets the thread go on, too.
    pub(crate) fn wait_for_either<O: Bits>(
        &self,
        handle: engine::Handle,
        what: For,
        other: &AtomicCell<O>,
        site: Site,
    ) {
        let other = (handle.get().line == engine::Line::UnderTest)
            .then(|| sequential::of_under_test(handle, other));
        sequential::wait(handle, self, what, other, site);
    }

    /// The value, for a thread that has exclusive access to the atomic: reads the value, and may write it.
    pub(crate) fn place(&mut self, site: Site) -> &mut V {
        by_mode!(place(self, site))
    }

    /// The object's number; 0 where no program runs.
    pub(crate) fn identity(&self) -> u64 {
        crate::scheduled::current().map_or(0, |machine| scheduled::identity(machine, self))
    }
}
