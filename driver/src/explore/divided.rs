//! Puts together what several workers say of the parts of one search, to what one worker would say of the whole search.

use std::collections::{BTreeMap, HashSet};

use seqz_runtime::worker::message::Explored;
use serde::{Deserialize, Serialize};

/// The position of an execution in the exploration of a harness: the number of choices of inputs that are done, the
/// turn of the search, and the number of the execution in that turn.
pub(super) type Standing = (usize, u64, u64);

/// The search of one choice of inputs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Search {
    relations: HashSet<u64>,
    states: HashSet<u64>,
    /// For each turn, the index of the part that made the turn, and the number of executions in it.
    own: BTreeMap<u64, (usize, u64)>,
    /// For each part that is done, the number of turns that the part counted.
    turns: BTreeMap<usize, u64>,
    /// Whether two parts have made the same turn.
    overlap: bool,
}

impl Search {
    /// Takes in some of the relations and states that a part has seen. A part may say the same relations again, if its
    /// worker is replaced.
    pub(super) fn seen(&mut self, relations: Vec<u64>, states: Vec<u64>) {
        self.relations.extend(relations);
        self.states.extend(states);
    }

    /// Takes in that a part is done; returns whether all `parts` are.
    pub(super) fn done(
        &mut self,
        part: usize,
        parts: usize,
        turns: u64,
        own: Vec<(u64, u64)>,
    ) -> bool {
        self.turns.insert(part, turns);
        for (turn, executions) in own {
            let known = self.own.insert(turn, (part, executions));
            self.overlap |= known.is_some_and(|known| known != (part, executions));
        }
        self.is_done(parts)
    }

    /// Takes in the search of another piece, whose parts are numbered from `offset` here.
    pub(super) fn join(&mut self, other: &Self, offset: usize) {
        self.relations.extend(&other.relations);
        self.states.extend(&other.states);
        self.overlap |= other.overlap;
        let turns = other.turns.iter();
        self.turns
            .extend(turns.map(|(part, &turns)| (part + offset, turns)));
        for (&turn, &(part, executions)) in &other.own {
            let known = self.own.insert(turn, (part + offset, executions));
            self.overlap |= known.is_some();
        }
    }

    /// Whether this number of parts are done.
    pub(super) fn is_done(&self, parts: usize) -> bool {
        self.turns.len() == parts
    }

    /// Whether each turn was made by one part. If not, the parts have not seen the same tree: the program does
    /// something else under the same schedule.
    pub(super) fn is_whole(&self) -> bool {
        let mut counted = self.turns.values();
        let turns = counted.next().copied().unwrap_or_default();
        !self.overlap
            && counted.all(|&other| other == turns)
            && self.own.keys().copied().eq(1..=turns)
    }

    /// Returns the number of an execution in the whole search, from 1. The search has to be done.
    pub(super) fn number(&self, turn: u64, within: u64) -> u64 {
        let before = self.own.range(..turn);
        before.map(|(_, (_, executions))| executions).sum::<u64>() + within
    }

    /// Returns the counts of the whole search. The search has to be done.
    pub(super) fn counts<'a>(&self, parts: impl Iterator<Item = &'a Explored>) -> Explored {
        let mut counts = together(parts);
        counts.states = self.states.len() as u64;
        if !self.relations.is_empty() {
            // A relation that is new to one part may be known to another part.
            let relations = self.relations.len() as u64;
            counts.redundant += counts.relations - relations.min(counts.relations);
            counts.relations = relations;
        }
        counts
    }
}

/// Adds up the counts of parts without the sets of what each part has seen: distinct relations as if no two parts saw
/// the same relation, distinct states of the part that saw most.
pub(super) fn together<'a>(parts: impl Iterator<Item = &'a Explored>) -> Explored {
    let mut counts = Explored::default();
    let mut explored = 0.0;
    for part in parts {
        counts.executions += part.executions;
        counts.redundant += part.redundant;
        counts.abandoned += part.abandoned;
        counts.blocked += part.blocked;
        counts.truncated += part.truncated;
        counts.waiting += part.waiting;
        counts.doubts.add(part.doubts);
        counts.undecided = counts.undecided.saturating_add(part.undecided);
        counts.failing += part.failing;
        counts.events += part.events;
        counts.relations += part.relations;
        counts.states = counts.states.max(part.states);
        if let Some(estimate) = part.estimate.filter(|&estimate| estimate > 0) {
            explored += part.executions as f64 / estimate as f64;
        }
    }
    if explored > 0.0 {
        counts.estimate = Some((counts.executions as f64 / explored).round() as u64);
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_that_do_not_fit_are_noticed() {
        let mut search = Search::default();
        assert!(!search.done(0, 2, 4, vec![(1, 1), (2, 5), (4, 2)]));
        // The worker of this part was replaced.
        assert!(!search.done(0, 2, 4, vec![(1, 1), (2, 5), (4, 2)]));
        assert!(search.done(1, 2, 4, vec![(3, 10)]));
        assert!(search.is_whole());
        assert_eq!(search.number(1, 1), 1);
        assert_eq!(search.number(4, 2), 18);
        let fits = |other: u64, own: Vec<(u64, u64)>| {
            let mut search = Search::default();
            search.done(0, 2, 2, vec![(1, 1)]);
            search.done(1, 2, other, own);
            search.is_whole()
        };
        assert!(fits(2, vec![(2, 1)]));
        assert!(!fits(3, vec![(2, 1), (3, 1)]));
        assert!(!fits(2, Vec::new()));
        assert!(!fits(2, vec![(1, 1), (2, 1)]));
    }

    #[test]
    fn what_two_parts_see_is_counted_once() {
        let part = |relations, states| Explored {
            executions: 5,
            redundant: 5 - relations,
            relations,
            states,
            estimate: Some(20),
            ..Explored::default()
        };
        let parts = [part(3, 1), part(2, 2)];
        let mut search = Search::default();
        search.seen(vec![1, 2, 3], vec![7]);
        search.seen(vec![3, 4], vec![8, 7]);
        let counts = search.counts(parts.iter());
        assert_eq!((counts.relations, counts.redundant), (4, 6));
        assert_eq!((counts.states, counts.executions), (2, 10));
        assert_eq!(together(parts.iter()).estimate, Some(20));
    }
}
