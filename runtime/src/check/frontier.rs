//! The choices that are still to be executed.

use crate::engine::{Choices, Revealed};
use crate::vocabulary::{Pair, WriteId};

/// Lists of non-local reads. Lists that differ in their last write alone are kept together: there may be as many lists
/// as T has reads times T' has writes.
#[derive(Clone, Debug, Default)]
pub(super) struct Frontier {
    /// The pairs before the last read of each group, one group after another.
    before: Vec<Pair>,
    /// The groups: the index in `before` of the group's pairs, and the last read with its writes.
    groups: Vec<(usize, Choices)>,
    writes: Vec<WriteId>,
}

/// A position in a [`Frontier`].
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

    /// The number of lists.
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

    /// Puts the next entry, of `k` pairs, into `pairs`, and moves `at` on to the entry after it.
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
