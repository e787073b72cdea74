//! Names for threads and objects that do not depend on the schedule.
//!
//! Numbering threads or objects in the order in which they come up would make two forks by different threads
//! dependent: swapped forks would swap their numbers, and a schedule made from one execution would name the wrong thread
//! in another. Numbering by *creator and count* has no such effect: the n-th fork of thread t is the same thread in every
//! execution.

/// Gives dense numbers to pairs (creating thread, number of its creations before). An executor keeps one `Names` for
/// threads and one for objects **for as long as the search goes on**, not for one execution.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Per creator's number plus one: the numbers of the creator's threads or objects in the order of their creation, or
    /// [`NONE`] where a creation has not come up.
    known: Vec<Vec<u32>>,
    count: u32,
}

const NONE: u32 = u32::MAX;

impl Names {
    /// Returns the number of what `creator` created after `before` others. The creator `u32::MAX` stands for what no thread
    /// created.
    #[inline]
    pub fn of(&mut self, creator: u32, before: u32) -> u32 {
        let (creator, before) = (creator.wrapping_add(1) as usize, before as usize);
        match self.known.get(creator).and_then(|known| known.get(before)) {
            Some(&name) if name != NONE => name,
            _ => self.give(creator, before),
        }
    }

    #[cold]
    fn give(&mut self, creator: usize, before: usize) -> u32 {
        if creator >= self.known.len() {
            self.known.resize_with(creator + 1, Vec::new);
        }
        let known = &mut self.known[creator];
        if before >= known.len() {
            known.resize(before + 1, NONE);
        }
        known[before] = self.count;
        self.count += 1;
        known[before]
    }

    /// Gives the number `name`, as an earlier search has.
    pub fn recall(&mut self, creator: u32, before: u32, name: u32) {
        let next = self.count;
        self.count = name;
        self.give(creator.wrapping_add(1) as usize, before as usize);
        self.count = self.count.max(next);
    }

    /// The count of numbers that have been given.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether no number has been given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}
