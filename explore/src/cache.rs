//! Caches of happens-before relations: an execution that comes to a relation which an earlier one came to need not go on,
//! since it is in the same state.
//!
//! Source: *Partial-Order Reduction for Context-Bounded State Exploration* (Musuvathi and Qadeer, MSR-TR-2007-12) for the
//! cache; *The Lazy Happens-Before Relation* (Thomson and Donaldson), section 2, for the same with the lazy relation.
//!
//! Relations are kept as hashes of 64 bits. Two with the same hash would be taken for one, which has a probability of
//! about n² / 2⁶⁵ among n of them. A cache that is full takes what it does not know for new: it saves less then, and
//! loses nothing.

use crate::distinct::Distinct;
use crate::event::Event;
use crate::relation::Relation;

/// How many relations a cache keeps.
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

    /// Whether no execution has been here before.
    pub(crate) fn is_new(&mut self) -> bool {
        self.seen.insert(self.relation.hash())
    }

    /// How many relations executions have come to.
    pub(crate) fn len(&self) -> u64 {
        self.seen.len()
    }
}
