//! Memory where the runtime is built without the scheduler: there are no regions, and all memory is the system's.

mod access;
mod buffer;

pub(crate) use access::Access;
pub(crate) use arena::outside;
pub(crate) use buffer::{Buffer, reserve};

/// There are no regions.
pub(crate) mod arena {
    /// Has nothing to keep.
    #[derive(Debug, Default)]
    pub(crate) struct Arena {}

    impl Arena {
        /// A thread has no region.
        #[inline]
        pub(crate) const fn begin_thread(&self, _thread: usize) {}

        /// Allocations are the system's before and after this.
        #[inline]
        pub(crate) const fn enter(&self, _thread: usize) -> Outside {
            Outside
        }

        /// There is nothing to give back.
        #[inline]
        pub(crate) fn give_back(&self, _is_let_go: impl FnOnce(&dyn Fn(usize) -> bool) -> bool) {}
    }

    /// All code runs outside of regions.
    #[must_use]
    pub(crate) struct Outside;

    impl Outside {
        /// Nothing changes.
        #[inline]
        pub(crate) const fn leave(self) {}
    }

    /// Nothing changes.
    #[inline]
    pub(crate) const fn leave_program() -> Outside {
        Outside
    }

    /// Runs code whose allocations outlive the execution: all do.
    #[inline]
    pub(crate) fn outside<R>(run: impl FnOnce() -> R) -> R {
        run()
    }

    /// No address lies in a region.
    #[inline]
    pub(crate) const fn contains(_address: usize) -> bool {
        false
    }

    /// Accesses to memory are not noted.
    #[inline]
    pub(crate) const fn is_watched() -> bool {
        false
    }
}
