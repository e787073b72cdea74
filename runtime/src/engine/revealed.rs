//! The reads of T that could have been non-local too, and the writes that each could have seen.
//!
//! Where threads access one object for long, each of many reads could see each of many writes. So what a read could see
//! is a list of writes, and reads that could see the same writes share the list.

use crate::log::Object;
use crate::memory::Buffer;
use crate::vocabulary::{Pair, ReadId, WriteId};

use super::NONE;

/// A read and its writes.
#[derive(Clone, Copy, Debug)]
pub struct Choices {
    /// The read.
    pub read: ReadId,
    /// The index in [`Revealed::writes`] of the first write that the read could have seen.
    pub from: usize,
    /// The index in [`Revealed::writes`] after the last write that the read could have seen.
    pub to: usize,
}

/// All reads of an execution that could have been non-local.
#[derive(Debug, Default)]
pub struct Revealed {
    choices: Buffer<Choices>,
    writes: Buffer<WriteId>,
    /// The latest shared list of each object.
    shared: Buffer<Shared>,
}

/// A list of all writes that a read of an object could see, if T has seen none of the object's writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shared {
    /// The number by which the caller tells whether the list still holds.
    of: u32,
    from: usize,
    to: usize,
}

impl Revealed {
    pub(super) fn clear(&mut self) {
        self.choices.clear();
        self.writes.clear();
        self.shared.clear();
    }

    /// Notes that the read could have seen this write, too.
    #[inline]
    pub(super) fn push(&mut self, read: ReadId, write: WriteId) {
        let at = self.writes.len();
        self.writes.push(write);
        match self.choices.last_mut() {
            Some(last) if last.read == read && last.to == at => last.to += 1,
            _ => self.choices.push(Choices {
                read,
                from: at,
                to: at + 1,
            }),
        }
    }

    /// The list that reads of the object share, if it was made with this `of`.
    pub(super) fn shared(&self, x: Object, of: u32) -> Option<Shared> {
        let shared = self.shared.get(x as usize).copied();
        shared.filter(|shared| shared.of == of)
    }

    /// Makes a list that reads of the object share.
    pub(super) fn share(
        &mut self,
        x: Object,
        of: u32,
        writes: impl Iterator<Item = WriteId>,
    ) -> Shared {
        let from = self.writes.len();
        self.writes.extend(writes);
        let to = self.writes.len();
        let made = Shared { of, from, to };
        let x = x as usize;
        if x >= self.shared.len() {
            let none = Shared {
                of: NONE,
                from: 0,
                to: 0,
            };
            self.shared.resize(x + 1, none);
        }
        self.shared[x] = made;
        made
    }

    /// Notes that the read could have seen the writes at the beginning of the list, as long as the predicate holds of
    /// them.
    pub(super) fn push_shared(
        &mut self,
        read: ReadId,
        list: Shared,
        holds: impl Fn(WriteId) -> bool,
    ) {
        let writes = &self.writes[list.from..list.to];
        let to = list.from + writes.partition_point(|&write| holds(write));
        if list.from < to {
            self.choices.push(Choices {
                read,
                from: list.from,
                to,
            });
        }
    }

    /// The reads, each with its list.
    #[must_use]
    pub fn choices(&self) -> &[Choices] {
        &self.choices
    }

    /// The writes that the lists consist of.
    #[must_use]
    pub fn writes(&self) -> &[WriteId] {
        &self.writes
    }

    /// All reads with all of their writes.
    pub fn pairs(&self) -> impl Iterator<Item = Pair> + '_ {
        self.choices.iter().flat_map(|choices| {
            let writes = &self.writes[choices.from..choices.to];
            writes.iter().map(|&write| (choices.read, write))
        })
    }
}
