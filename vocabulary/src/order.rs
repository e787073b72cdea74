//! The orderings of atomic operations and fences, as the program wrote them.

use crate::message;

message! {
    /// The ordering of an access or of a fence.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Order {
        /// No atomic access: plain data, or nothing that has an ordering.
        #[default]
        Plain,
        /// `Relaxed`.
        Relaxed,
        /// `Acquire`.
        Acquire,
        /// `Release`.
        Release,
        /// `AcqRel`.
        AcqRel,
        /// `SeqCst`.
        SeqCst,
    }
}

impl Order {
    /// Whether a read or a fence of this ordering acquires.
    #[inline]
    #[must_use]
    pub const fn acquires(self) -> bool {
        matches!(self, Self::Acquire | Self::AcqRel | Self::SeqCst)
    }

    /// Whether a write or a fence of this ordering releases.
    #[inline]
    #[must_use]
    pub const fn releases(self) -> bool {
        matches!(self, Self::Release | Self::AcqRel | Self::SeqCst)
    }
}

impl From<std::sync::atomic::Ordering> for Order {
    #[inline]
    fn from(order: std::sync::atomic::Ordering) -> Self {
        use std::sync::atomic::Ordering;
        match order {
            Ordering::Relaxed => Self::Relaxed,
            Ordering::Acquire => Self::Acquire,
            Ordering::Release => Self::Release,
            Ordering::AcqRel => Self::AcqRel,
            _ => Self::SeqCst,
        }
    }
}
