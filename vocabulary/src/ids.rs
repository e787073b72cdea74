//! Names for the choices that are the extra inputs of P̂ₖ: which read of T, which write of T', which thread is T.

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

/// Which of the parties that run side by side is T, the thread under test. The others interfere.
///
/// The parties are numbered from 0 by creation; the thread that runs the harness comes before those that it spawns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Role(pub u8);

impl Role {
    /// T is the party that was created first.
    pub const FIRST: Self = Self(0);
    /// T is the party that was created second.
    pub const SECOND: Self = Self(1);

    /// The roles of two parties.
    pub const BOTH: [Self; 2] = [Self::FIRST, Self::SECOND];

    const NAMES: [&str; 9] = [
        "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth",
    ];

    /// What the party is called by its number: `first`, `second`, and so on.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES.get(self.index()).copied().unwrap_or("last")
    }

    /// The role that has this [name](Self::name).
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let mut all = (0..).zip(Self::NAMES);
        all.find_map(|(number, known)| (known == name).then_some(Self(number)))
    }

    /// The party's index among all parties.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl Wire for Role {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, WireError> {
        u8::take(bytes).map(Self)
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
