//! The blocks of one thread, indexed: which locks the thread holds at which event, without a look at all blocks.

use super::model::Block;

/// A block with its lock.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// The lock.
    pub object: u32,
    /// The block.
    pub block: Block,
    /// The index in [`Sections::begun`] of the latest earlier block that was still open when this block began.
    outer: Option<usize>,
}

/// The end of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct End {
    object: u32,
    index: u32,
    shared: bool,
}

/// The blocks of one thread.
#[derive(Clone, Debug, Default)]
pub struct Sections {
    /// The blocks in the order in which they began.
    begun: Vec<Section>,
    /// The ends of the blocks, by lock, and for each lock in their order.
    ends: Vec<End>,
}

impl Sections {
    /// Removes all blocks, and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.begun.clear();
        self.ends.clear();
    }

    /// Adds a block of this lock.
    pub(super) fn push(&mut self, object: u32, block: Block) {
        self.begun.push(Section {
            object,
            block,
            outer: None,
        });
        self.ends.push(End {
            object,
            index: block.end,
            shared: block.shared,
        });
    }

    /// Builds the index, once all blocks have been added.
    pub(super) fn seal(&mut self) {
        self.begun.sort_unstable_by_key(|of| of.block.start);
        self.ends.sort_unstable();
        for at in 1..self.begun.len() {
            let start = self.begun[at].block.start;
            let mut outer = Some(at - 1);
            // A block that was open when the ended block began is still open, or has ended as well.
            while let Some(ended) = outer.filter(|&outer| self.begun[outer].block.end < start) {
                outer = self.begun[ended].outer;
            }
            self.begun[at].outer = outer;
        }
    }

    /// The blocks that are open after `events` events of the thread, from the last.
    pub fn open_after(&self, events: u32) -> impl Iterator<Item = &Section> {
        let begun = self.begun.partition_point(|of| of.block.start < events);
        let last = begun.checked_sub(1);
        std::iter::successors(last, |&at| self.begun[at].outer)
            .map(|at| &self.begun[at])
            .filter(move |of| events <= of.block.end)
    }

    /// Returns the index of the event that ended the last block of the lock among the thread's first `events` events. With
    /// `only_exclusive`, shared blocks don't count.
    #[must_use]
    pub fn last_end(&self, object: u32, events: u32, only_exclusive: bool) -> Option<u32> {
        let before = End {
            object,
            index: events,
            shared: false,
        };
        let ended = self.ends.partition_point(|&end| end < before);
        let ends = self.ends[..ended].iter().rev();
        ends.take_while(|end| end.object == object)
            .find(|end| !(only_exclusive && end.shared))
            .map(|end| end.index)
    }
}
