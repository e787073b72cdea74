//! A guided search that has come to its end, begun anew.
//!
//! What is learned of pairs of statements can leave out a failure that needs three of them at once, as a circle of three
//! locks does: each of the three orders has been seen, and no two of them together. Whether the search comes to it then
//! is up to what it picks where it is free to, which the paper leaves open ("let t be one of the enabled threads", algorithms
//! 1, 2 and 4), and had the operating system do. So the search is done in rounds: the first one picks as other strategies
//! do, the later ones at random, by turns any thread and mostly the one that runs: some failures take many switches, some
//! few. What has been learned stays, so that a round is short. It is over once some rounds on
//! end have taught nothing.

use crate::event::Thread;
use crate::random_numbers::RandomNumbers;
use crate::threads::ThreadSet;

/// The number of rounds in a row without anything new to learn after which a search ends.
const PATIENCE: u32 = 16;

/// The rounds of a search.
#[derive(Clone, Debug)]
pub(super) struct Rounds {
    patience: u32,
    /// The number of rounds before the current round.
    done: u32,
    /// The number of rounds in a row, up to the current round, in which nothing was learned.
    barren: u32,
    /// The number of predecessors known before the current round.
    known: usize,
    numbers: RandomNumbers,
}

impl Rounds {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            patience: PATIENCE,
            done: 0,
            barren: 0,
            known: 0,
            // Not those that schedules to learn from are drawn by.
            numbers: RandomNumbers::new(seed ^ 0x9d5c_12aa_70b3_e641),
        }
    }

    pub(super) fn only_one(&mut self) {
        self.patience = 0;
    }

    /// Whether this is the first one.
    pub(super) fn is_first(&self) -> bool {
        self.done == 0
    }

    /// Ends a round, after which `known` predecessors are known. Returns whether there is another round.
    pub(super) fn again(&mut self, known: usize) -> bool {
        self.done += 1;
        self.barren = if known > self.known {
            0
        } else {
            self.barren + 1
        };
        self.known = known;
        self.barren < self.patience
    }

    /// Any of these threads; in every second round mostly the running one, if it is one of them.
    pub(super) fn pick(&mut self, running: Option<Thread>, threads: ThreadSet) -> Option<Thread> {
        if threads.is_empty() {
            return None;
        }
        let running = running.filter(|&running| threads.contains(running));
        if self.done % 2 == 1 && running.is_some() && self.numbers.below(4) != 0 {
            return running;
        }
        let n = self.numbers.below(u64::from(threads.len()));
        threads.nth(n as u32)
    }
}
