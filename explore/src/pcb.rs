//! `pcb`: every schedule with at most a given number of preemptions, depth first.
//!
//! Source: *Iterative Context Bounding for Systematic Testing of Multithreaded Programs* (Musuvathi and Qadeer, PLDI
//! 2007), section 2, at one fixed bound. A preemption is a switch away from a thread that is still enabled; a thread
//! that ends, waits or is parked gives way for free. Unlike CHESS, every shared access is a point of preemption, as in
//! *Maximal Causality Reduction* (Huang), section 4. Promise: bounded, or exhausted if the bound cut nothing off.

use crate::divergence::Divergence;
use crate::event::Event;
use crate::executor::{Pick, RunEnd, View};
use crate::strategy::{Promise, Stats, Strategy};
use crate::tree::Tree;

/// Search of all schedules within a preemption bound.
#[derive(Clone, Debug)]
pub struct Pcb {
    tree: Tree,
    bound: u32,
}

impl Pcb {
    /// At most `bound` preemptions.
    #[must_use]
    pub fn new(bound: u32) -> Self {
        Self {
            tree: Tree::new(Some(bound)),
            bound,
        }
    }

    /// The bound.
    #[must_use]
    pub fn bound(&self) -> u32 {
        self.bound
    }

    /// The number of preemptions of the execution that has just ended.
    #[must_use]
    pub fn preemptions(&self) -> u32 {
        self.tree.preemptions()
    }
}

impl Strategy for Pcb {
    fn begin(&mut self) -> bool {
        self.tree.advance()
    }

    #[inline]
    fn pick(&mut self, view: &View<'_>) -> Result<Pick, Divergence> {
        self.tree.pick(view)
    }

    #[inline]
    fn ran(&mut self, _event: &Event) -> Result<(), Divergence> {
        Ok(())
    }

    fn end(&mut self, _end: &RunEnd) {
        self.tree.end();
    }

    fn report(&self) -> Stats {
        let promise = match (self.tree.is_done(), self.tree.was_cut()) {
            (false, _) => Promise::Unfinished,
            (true, false) => Promise::Exhausted,
            (true, true) => Promise::Bounded {
                preemptions: Some(self.bound),
                truncated: false,
            },
        };
        Stats::of_tree(promise, self.tree.explored())
    }
}
