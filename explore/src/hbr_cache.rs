//! `hbr-cache` and `lazy-hbr`: every schedule, depth first, but none twice from one state, as far as a happens-before
//! relation tells states.
//!
//! Source: *The Lazy Happens-Before Relation: Better Partial-Order Reduction for Systematic Concurrency Testing* (Thomson
//! and Donaldson), sections 2 and 3. The cache keeps the relation after each event; an execution that comes to a known
//! relation is given up. Since the search is depth first, the state has been searched to its end by then: the only
//! execution still under way there would have the same number of events, and be this execution.
//!
//! Promise: `hbr-cache`: exhausted. `lazy-hbr`: exhausted lazily, as two executions with the same lazy relation are in the
//! same state (theorem 2.2). Data races are no states: whether a lock orders two accesses is lost in the lazy relation.
//! None is missed all the same. Right after two accesses that nothing orders, neither thread has done anything more by
//! which a lock could order them; so it is seen in whichever execution comes to this relation first, even if that is
//! given up later.

use crate::cache::Cache;
use crate::divergence::Divergence;
use crate::event::Event;
use crate::executor::{Pick, RunEnd, View};
use crate::parts::Standing;
use crate::relation::Relation;
use crate::strategy::{Promise, Stats, Strategy};
use crate::tree::Tree;

/// Depth-first search with a cache of happens-before relations.
#[derive(Clone, Debug)]
pub struct HbrCache {
    tree: Tree,
    cache: Cache,
    is_lazy: bool,
}

impl HbrCache {
    /// `hbr-cache`.
    #[must_use]
    pub fn new() -> Self {
        Self {
            tree: Tree::new(None),
            cache: Cache::new(Relation::default()),
            is_lazy: false,
        }
    }

    /// `lazy-hbr`.
    #[must_use]
    pub fn lazy() -> Self {
        Self {
            cache: Cache::new(Relation::lazy()),
            is_lazy: true,
            ..Self::new()
        }
    }

    /// The number of relations that executions have come to, those of states that are not terminal included.
    #[must_use]
    pub fn cached(&self) -> u64 {
        self.cache.len()
    }
}

impl Default for HbrCache {
    fn default() -> Self {
        Self::new()
    }
}

impl Strategy for HbrCache {
    fn begin(&mut self) -> bool {
        self.cache.begin();
        self.tree.advance()
    }

    fn pick(&mut self, view: &View<'_>) -> Result<Pick, Divergence> {
        if !self.tree.is_repeating() && !self.cache.is_new() {
            return Ok(Pick::Abandon);
        }
        self.tree.pick(view)
    }

    fn ran(&mut self, event: &Event) -> Result<(), Divergence> {
        self.cache.ran(event);
        Ok(())
    }

    fn end(&mut self, _end: &RunEnd) {
        self.tree.end();
    }

    fn standing(&self) -> Standing {
        Standing {
            fails_again: !self.is_lazy,
            ..Standing::WHOLE
        }
    }

    fn report(&self) -> Stats {
        let promise = match (self.tree.is_done(), self.is_lazy) {
            (false, _) => Promise::Unfinished,
            (true, false) => Promise::Exhausted,
            (true, true) => Promise::ExhaustedLazily { truncated: false },
        };
        Stats::of_tree(promise, self.tree.explored())
    }
}
