//! Lists of writes of T', all in one place: a list is passed on as a number, and costs no allocation of its own.

use crate::memory::Buffer;

/// How many numbers may be kept.
const MOST: usize = 1 << 16;

/// One of the lists: where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct List(u32);

/// Those of the execution, behind those that are kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists {
    /// How long a list is, and what is in it.
    numbers: Buffer<u32>,
    kept: usize,
}

impl Lists {
    /// Forgets all but what is kept.
    pub(super) fn shorten(&mut self) {
        self.numbers.truncate(self.kept);
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.kept = 0;
        self.shorten();
    }

    /// One more list.
    pub(super) fn add(&mut self, writes: &[u32]) -> List {
        let place = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
        self.numbers
            .push(u32::try_from(writes.len()).unwrap_or(u32::MAX));
        self.numbers.extend_from_slice(writes);
        List(place)
    }

    /// Keeps the lists that there are, if there is room.
    pub(super) fn keep(&mut self) -> bool {
        let room = self.numbers.len() <= MOST;
        if room {
            self.kept = self.numbers.len();
        }
        room
    }

    /// What is in the list.
    pub(super) fn get(&self, list: List) -> &[u32] {
        let (length, rest) = (self.numbers[list.0 as usize], list.0 as usize + 1);
        &self.numbers[rest..rest + length as usize]
    }
}
