//! `pct`: probabilistic concurrency testing: random priorities, lowered at a few random moments.
//!
//! Source: *A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs* (Burckhardt, Kothari, Musuvathi,
//! Nagarakatte, ASPLOS 2010), section 2.2. Every thread gets a random high priority; d − 1 moments are drawn from the k
//! events of an execution; the enabled thread of highest priority runs, and at the i-th moment falls to priority i. For a
//! program of n threads, an execution hits a bug of depth d with probability at least 1 / (n kᵈ⁻¹). k is taken from
//! the longest execution so far. Promise: sampled.

use crate::divergence::Divergence;
use crate::event::{Event, Thread};
use crate::executor::{Pick, RunEnd, View};
use crate::random_numbers::RandomNumbers;
use crate::strategy::{Promise, Stats, Strategy};
use crate::threads::ThreadSet;

/// Probabilistic concurrency testing.
#[derive(Clone, Debug)]
pub struct Pct {
    numbers: RandomNumbers,
    depth: u32,
    longest: u64,
    events: u64,
    /// Event counts at which the running thread falls, ascending, each with the priority it falls to.
    moments: Vec<(u64, u64)>,
    next_moment: usize,
    priorities: Vec<u64>,
    known: ThreadSet,
}

impl Pct {
    /// For bugs of this depth (1 or more: how many ordering constraints it takes to hit it).
    #[must_use]
    pub fn new(seed: u64, depth: u32) -> Self {
        Self {
            numbers: RandomNumbers::new(seed),
            depth: depth.max(1),
            longest: 1,
            events: 0,
            moments: Vec::new(),
            next_moment: 0,
            priorities: Vec::new(),
            known: ThreadSet::EMPTY,
        }
    }

    fn highest(&self, enabled: ThreadSet) -> Option<Thread> {
        enabled
            .iter()
            .max_by_key(|&thread| self.priorities[usize::from(thread)])
    }
}

impl Strategy for Pct {
    fn begin(&mut self) -> bool {
        self.events = 0;
        self.known = ThreadSet::EMPTY;
        self.next_moment = 0;
        self.moments.clear();
        for priority in 1..self.depth {
            let moment = self.numbers.below(self.longest);
            self.moments.push((moment, u64::from(priority)));
        }
        self.moments.sort_unstable();
        true
    }

    #[inline]
    fn pick(&mut self, view: &View<'_>) -> Result<Pick, Divergence> {
        for thread in view.enabled.difference(self.known).iter() {
            let index = usize::from(thread);
            if index >= self.priorities.len() {
                self.priorities.resize(index + 1, 0);
            }
            // Above all that a thread can fall to; two equal ones are as good as impossible, and harmless.
            self.priorities[index] = self.numbers.bits() | 1 << 63;
            self.known.insert(thread);
        }
        while let Some(&(moment, priority)) = self.moments.get(self.next_moment)
            && moment <= self.events
        {
            self.next_moment += 1;
            if let Some(thread) = self.highest(view.willing()) {
                self.priorities[usize::from(thread)] = priority;
            }
        }
        Ok(self
            .highest(view.willing())
            .map_or(Pick::Abandon, Pick::Run))
    }

    #[inline]
    fn ran(&mut self, _event: &Event) -> Result<(), Divergence> {
        self.events += 1;
        Ok(())
    }

    fn end(&mut self, _end: &RunEnd) {
        self.longest = self.longest.max(self.events);
    }

    fn report(&self) -> Stats {
        Stats::new(Promise::Sampled)
    }
}
