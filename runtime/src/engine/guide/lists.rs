//! Lists of writes of T', all in one place: a list is passed on as a number, and costs no allocation of its own.

use crate::memory::Buffer;

/// The most numbers that are kept.
const MOST: usize = 1 << 16;

/// A list: the index in [`Lists`] at which it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct List(u32);

/// The lists of the execution, behind the lists that are kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists {
    /// For each list its length, then its writes.
    numbers: Buffer<u32>,
    kept: usize,
}

impl Lists {
    /// Forgets all lists but the kept ones.
    pub(super) fn shorten(&mut self) {
        self.numbers.truncate(self.kept);
    }

    /// Forgets all lists.
    pub(super) fn clear(&mut self) {
        self.kept = 0;
        self.shorten();
    }

    /// Adds a list.
    pub(super) fn add(&mut self, writes: &[u32]) -> List {
        let place = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
        self.numbers
            .push(u32::try_from(writes.len()).unwrap_or(u32::MAX));
        self.numbers.extend_from_slice(writes);
        List(place)
    }

    /// Keeps all lists that there are now, if there is room. Returns whether there is.
    pub(super) fn keep(&mut self) -> bool {
        let room = self.numbers.len() <= MOST;
        if room {
            self.kept = self.numbers.len();
        }
        room
    }

    /// The writes in the list.
    pub(super) fn get(&self, list: List) -> &[u32] {
        let (length, rest) = (self.numbers[list.0 as usize], list.0 as usize + 1);
        &self.numbers[rest..rest + length as usize]
    }
}
