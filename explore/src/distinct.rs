//! Counting distinct hashes.

use std::hash::{BuildHasherDefault, Hasher};

/// A hasher for words that are hashes already.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = crate::hash::mix(self.0, u64::from(byte));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = word;
    }
}

/// A set of hashes that stops growing at a bound, and then counts no more.
#[derive(Clone, Debug)]
pub struct Distinct {
    seen: std::collections::HashSet<u64, BuildHasherDefault<Identity>>,
    bound: usize,
    full: bool,
}

impl Distinct {
    /// Keeps at most `bound` hashes (some 9 to 18 bytes each).
    #[must_use]
    pub fn new(bound: usize) -> Self {
        Self {
            seen: std::collections::HashSet::default(),
            bound,
            full: false,
        }
    }

    /// Inserts a hash. Returns whether the hash is new. Once the set is full, every hash that is not in the set counts as
    /// new, and [`Self::is_exact`] is false.
    pub fn insert(&mut self, hash: u64) -> bool {
        if self.seen.len() < self.bound {
            return self.seen.insert(hash);
        }
        let new = !self.seen.contains(&hash);
        self.full |= new;
        new
    }

    /// The number of distinct hashes in the set.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.seen.len() as u64
    }

    /// Whether no hash has been inserted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// Whether [`Self::len`] is the number of distinct hashes inserted, not only a lower bound of that number.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        !self.full
    }

    /// The hashes in the set, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = u64> {
        self.seen.iter().copied()
    }
}
