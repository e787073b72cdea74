//! `pos`: partial-order sampling: random priorities for events instead of threads, drawn anew after a race.
//!
//! Source: *Partial Order Aware Concurrency Sampling* (Yuan, Yang, Gu, CAV 2018), section 3 (full POS). Every announced
//! operation has a random priority, the highest enabled one runs, and every other announced operation that is dependent
//! with it (they race) gets a new priority, so that the order of later races does not hang on the outcome of earlier ones.
//! Promise: sampled; every Mazurkiewicz trace has a probability that does not shrink with the number of its
//! interleavings' independent permutations.

use crate::divergence::Divergence;
use crate::event::Event;
use crate::executor::{Pick, RunEnd, View};
use crate::random_numbers::RandomNumbers;
use crate::strategy::{Promise, Stats, Strategy};
use crate::threads::ThreadSet;

/// Partial-order sampling.
#[derive(Clone, Debug)]
pub struct Pos {
    numbers: RandomNumbers,
    priorities: Vec<u64>,
    /// Threads whose announced operation has its priority.
    drawn: ThreadSet,
}

impl Pos {
    /// A search with this seed: the same seed gives the same schedules.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            numbers: RandomNumbers::new(seed),
            priorities: Vec::new(),
            drawn: ThreadSet::EMPTY,
        }
    }
}

impl Strategy for Pos {
    fn begin(&mut self) -> bool {
        self.drawn = ThreadSet::EMPTY;
        true
    }

    #[inline]
    fn pick(&mut self, view: &View<'_>) -> Result<Pick, Divergence> {
        for thread in view.live.difference(self.drawn).iter() {
            let index = usize::from(thread);
            if index >= self.priorities.len() {
                self.priorities.resize(index + 1, 0);
            }
            self.priorities[index] = self.numbers.bits();
        }
        self.drawn = view.live;
        let Some(best) = view
            .enabled
            .iter()
            .max_by_key(|&thread| self.priorities[usize::from(thread)])
        else {
            return Ok(Pick::Abandon);
        };
        let next = view.of(best);
        self.drawn.remove(best);
        for thread in view.live.iter() {
            let other = view.of(thread);
            if other.object == next.object && other.kind.class().conflicts(next.kind.class()) {
                self.drawn.remove(thread);
            }
        }
        Ok(Pick::Run(best))
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
