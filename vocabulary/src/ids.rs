//! Names for the choices that are the extra inputs of P̂ₖ: which read of T, which write of T', which thread is T.

use crate::message;
use crate::wire::{Wire, WireError};
use std::fmt;

/// The n-th shared read of T in program order, from 0: an entry of `rds`.
///
/// Reads are atomic loads, read-modify-writes (failed compare-exchanges too), the read of a protected value when a
/// guard is taken, reads of a `static mut`, and attempts to take a lock without blocking. An id names an occurrence,
/// not a place in the source: the same line in a loop has a new id in each turn. What the harness reads after it has
/// joined T' counts as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReadId(pub u32);

/// The m-th shared write of T' in program order, from 0: an entry of `wrts`.
///
/// Writes are atomic stores, read-modify-writes that write, guards that were borrowed mutably (at their drop), writes
/// of a `static mut`, and takings of locks, since a failed attempt to take a lock observes that the lock was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WriteId(pub u32);

impl fmt::Display for ReadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r{}", self.0)
    }
}

impl fmt::Display for WriteId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "w{}", self.0)
    }
}

/// One non-local read: the read of T, and the write of T' that it sees.
pub type Pair = (ReadId, WriteId);

message! {
    /// Which of the two concurrent parties is T, the thread under test. The other party is T', the interfering thread.
    ///
    /// The parties are ordered by creation; the thread that runs the harness comes before those that it spawns.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Role {
        /// T is the party that was created first.
        First,
        /// T is the party that was created second.
        Second,
    }
}

impl Role {
    /// Both role assignments.
    pub const BOTH: [Self; 2] = [Self::First, Self::Second];

    /// The assignment with T and T' exchanged.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }
}

impl Wire for ReadId {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, WireError> {
        u32::take(bytes).map(Self)
    }
}

impl Wire for WriteId {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, WireError> {
        u32::take(bytes).map(Self)
    }
}
