//! `dfs`: every schedule, depth first.
//!
//! Source: stateless search as in VeriSoft (Godefroid, *Model checking for programming languages using VeriSoft*, POPL
//! 1997, section 3), without its reductions. Promise: exhausted. No schedule is executed twice, but most executions
//! are redundant in that they permute independent events; it is the yardstick for the other strategies.

use crate::divergence::Divergence;
use crate::event::Event;
use crate::executor::{Pick, RunEnd, View};
use crate::parts::{Part, Standing};
use crate::strategy::{Promise, Stats, Strategy};
use crate::tree::Tree;

/// Depth-first search of all schedules.
#[derive(Clone, Debug)]
pub struct Dfs {
    tree: Tree,
}

impl Dfs {
    /// A search before its first execution.
    #[must_use]
    pub fn new() -> Self {
        Self::part(Part::WHOLE)
    }

    /// One part of a search, before its first execution.
    #[must_use]
    pub fn part(part: Part) -> Self {
        Self {
            tree: Tree::part(None, part),
        }
    }
}

impl Default for Dfs {
    fn default() -> Self {
        Self::new()
    }
}

impl Strategy for Dfs {
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
        let promise = if self.tree.is_done() {
            Promise::Exhausted
        } else {
            Promise::Unfinished
        };
        Stats {
            turns: self.tree.turns(),
            ..Stats::of_tree(promise, self.tree.explored())
        }
    }

    fn standing(&self) -> Standing {
        self.tree.standing()
    }
}
