//! Caches of happens-before relations: an execution that comes to a relation which an earlier execution came to need not
//! go on, since both executions are in the same state there.
//!
//! Source: *Partial-Order Reduction for Context-Bounded State Exploration* (Musuvathi and Qadeer, MSR-TR-2007-12) for the
//! cache; *The Lazy Happens-Before Relation* (Thomson and Donaldson), section 2, for the same with the lazy relation.
//!
//! A cache keeps relations as hashes of 64 bits. Two relations with the same hash would be taken for one relation, which
//! has a probability of about n² / 2⁶⁵ among n relations. A full cache takes every relation that it does not know for new:
//! then the search saves less, and loses nothing.

use crate::distinct::Distinct;
use crate::event::Event;
use crate::relation::Relation;

/// The number of relations that a cache keeps.
const KEPT: usize = 1 << 24;

/// The relation of the execution so far, and all relations that executions have come to.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    relation: Relation,
    seen: Distinct,
}

impl Cache {
    pub(crate) fn new(relation: Relation) -> Self {
        Self {
            relation,
            seen: Distinct::new(KEPT),
        }
    }

    /// The next execution begins.
    pub(crate) fn begin(&mut self) {
        self.relation.clear();
    }

    #[inline]
    pub(crate) fn ran(&mut self, event: &Event) {
        self.relation.push(event);
    }

    /// Whether no earlier execution has come to the current relation.
    pub(crate) fn is_new(&mut self) -> bool {
        self.seen.insert(self.relation.hash())
    }

    /// The number of relations that executions have come to.
    pub(crate) fn len(&self) -> u64 {
        self.seen.len()
    }
}
