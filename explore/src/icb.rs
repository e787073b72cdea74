//! `icb`: iterative context bounding: all schedules with no preemption, then all with at most one, and so on.
//!
//! Source: *Iterative Context Bounding for Systematic Testing of Multithreaded Programs* (Musuvathi and Qadeer, PLDI
//! 2007), section 3: the first failure found has the fewest preemptions that any witness of it has. The paper keeps a
//! queue of all schedules to be extended by one more preemption, which grows with the number of schedules (the MCR
//! paper's table 3 shows it run out of memory). Here every bound is a depth-first search of its own, in memory linear
//! in the length of an execution; what is executed again has fewer preemptions than the bound and is a small part of
//! the whole, since the number of schedules grows by a factor about the length of an execution with each bound.
//! [`Icb::repeated`] counts these executions. Promise: exhausted, or bounded by the last bound that was completed.

use crate::divergence::Divergence;
use crate::event::Event;
use crate::executor::{Pick, RunEnd, View};
use crate::strategy::{Promise, Stats, Strategy};
use crate::tree::Tree;

/// Iterative context bounding.
#[derive(Clone, Debug)]
pub struct Icb {
    tree: Tree,
    bound: u32,
    last: Option<u32>,
    completed: Option<u32>,
    exhausted: bool,
    repeated: u64,
}

impl Icb {
    /// Bounds 0, 1, 2, … up to `last`, or until a bound cuts nothing off.
    #[must_use]
    pub fn new(last: Option<u32>) -> Self {
        Self {
            tree: Tree::new(Some(0)),
            bound: 0,
            last,
            completed: None,
            exhausted: false,
            repeated: 0,
        }
    }

    /// The current bound on preemptions.
    #[must_use]
    pub fn bound(&self) -> u32 {
        self.bound
    }

    /// The last bound that was completed.
    #[must_use]
    pub fn completed(&self) -> Option<u32> {
        self.completed
    }

    /// The number of executions with fewer preemptions than the bound at which they ran: they were executed before.
    #[must_use]
    pub fn repeated(&self) -> u64 {
        self.repeated
    }
}

impl Strategy for Icb {
    fn begin(&mut self) -> bool {
        if self.tree.advance() {
            return true;
        }
        self.completed = Some(self.bound);
        self.exhausted = !self.tree.was_cut();
        if self.exhausted || self.last.is_some_and(|last| self.bound >= last) {
            return false;
        }
        self.bound += 1;
        self.tree = Tree::new(Some(self.bound));
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
        self.repeated += u64::from(self.tree.preemptions() < self.bound);
    }

    /// Of the tree at the current bound.
    fn report(&self) -> Stats {
        let promise = match self.completed {
            _ if self.exhausted => Promise::Exhausted,
            None => Promise::Unfinished,
            completed => Promise::Bounded {
                preemptions: completed,
                truncated: false,
            },
        };
        Stats::of_tree(promise, self.tree.explored())
    }
}
