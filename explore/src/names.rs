//! Names for threads and objects that do not depend on the schedule.
//!
//! Numbering threads or objects in the order in which they come up would make two forks by different threads
//! dependent: swapped, they would swap numbers, and a schedule made from one execution would name the wrong thread in
//! another. Numbering by *creator and count* does not: the n-th fork of thread t is the same thread in every execution.

use std::collections::HashMap;

/// Gives dense numbers to (creating thread, how many it had created) pairs. An executor keeps one for threads and one
/// for objects **for as long as the search goes on**, not for one execution.
#[derive(Clone, Debug, Default)]
pub struct Names {
    known: HashMap<(u32, u32), u32>,
}

impl Names {
    /// The number of what `creator` created after `before` others.
    pub fn of(&mut self, creator: u32, before: u32) -> u32 {
        let next = self.known.len() as u32;
        *self.known.entry((creator, before)).or_insert(next)
    }

    /// How many numbers have been given.
    #[must_use]
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether none has been given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }
}
