//! The choices that are still to be executed.

use crate::engine::{Choices, Revealed};
use crate::vocabulary::{Pair, WriteId};

/// Lists of non-local reads. Those that differ in their last write alone are kept together: there may be as many as T has reads
/// times T' has writes.
#[derive(Clone, Debug, Default)]
pub(super) struct Frontier {
    /// What comes before the last read of some of them.
    before: Vec<Pair>,
    /// Where that begins, and the last reads with their writes.
    groups: Vec<(usize, Choices)>,
    writes: Vec<WriteId>,
}

/// A place in it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct At {
    group: usize,
    write: usize,
}

impl Frontier {
    pub(super) fn clear(&mut self) {
        self.before.clear();
        self.groups.clear();
        self.writes.clear();
    }

    /// How many there are.
    pub(super) fn count(&self) -> u64 {
        let each = self.groups.iter();
        each.map(|(_, choices)| (choices.to - choices.from) as u64)
            .sum()
    }

    /// Adds what the execution with these non-local reads has revealed.
    pub(super) fn add(&mut self, pairs: &[Pair], revealed: &Revealed) {
        if revealed.choices().is_empty() {
            return;
        }
        let (before, writes) = (self.before.len(), self.writes.len());
        self.before.extend_from_slice(pairs);
        self.writes.extend_from_slice(revealed.writes());
        self.groups.extend(revealed.choices().iter().map(|choices| {
            let moved = Choices {
                from: choices.from + writes,
                to: choices.to + writes,
                ..*choices
            };
            (before, moved)
        }));
    }

    /// Puts the next one into `pairs`, of which it has so many, and goes on to the one after it.
    pub(super) fn next(&self, at: &mut At, k: usize, pairs: &mut Vec<Pair>) {
        let (before, choices) = self.groups[at.group];
        pairs.clear();
        pairs.extend_from_slice(&self.before[before..before + k - 1]);
        pairs.push((choices.read, self.writes[choices.from + at.write]));
        at.write += 1;
        if choices.from + at.write == choices.to {
            at.group += 1;
            at.write = 0;
        }
    }
}
