//! `random`: at every scheduling point, each enabled thread with equal probability.
//!
//! A random walk over the tree of schedules: cheap and hard to fool, but far from uniform over schedules, let alone over
//! Mazurkiewicz traces. Promise: sampled.

use crate::divergence::Divergence;
use crate::event::Event;
use crate::executor::{Pick, RunEnd, View};
use crate::random_numbers::RandomNumbers;
use crate::strategy::{Promise, Stats, Strategy};

/// A random walk.
#[derive(Clone, Debug)]
pub struct Random {
    numbers: RandomNumbers,
}

impl Random {
    /// A search with this seed: the same seed gives the same schedules.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            numbers: RandomNumbers::new(seed),
        }
    }
}

impl Strategy for Random {
    fn begin(&mut self) -> bool {
        true
    }

    #[inline]
    fn pick(&mut self, view: &View<'_>) -> Result<Pick, Divergence> {
        let n = self.numbers.below(u64::from(view.enabled.len()));
        let thread = view.enabled.nth(n as u32);
        Ok(thread.map_or(Pick::Abandon, Pick::Run))
    }

    #[inline]
    fn ran(&mut self, _event: &Event) -> Result<(), Divergence> {
        Ok(())
    }

    fn end(&mut self, _end: &RunEnd) {}

    fn report(&self) -> Stats {
        Stats::new(Promise::Sampled)
    }
}
