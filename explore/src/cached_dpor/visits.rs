//! The states that have been explored, each with the operations that came after the state.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use crate::event::{Event, Kind, Object, Pending, Thread};
use crate::hash::Mixer;
use crate::threads::ThreadSet;

/// The number of visits that are kept. Further states are explored, and not remembered: then the search saves less, and
/// loses nothing.
const KEPT: usize = 1 << 22;

/// An operation that some execution had after a state, as far as races go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Operation {
    pub(super) thread: Thread,
    pub(super) kind: Kind,
    pub(super) object: Object,
}

impl Operation {
    pub(super) const fn of(event: &Event) -> Self {
        Self {
            thread: event.thread,
            kind: event.kind,
            object: event.object,
        }
    }

    pub(super) const fn announced(thread: Thread, pending: &Pending) -> Self {
        Self {
            thread,
            kind: pending.kind,
            object: pending.object,
        }
    }
}

/// A state that has been explored to its end.
#[derive(Clone, Copy, Debug)]
struct Visit {
    /// The threads that slept when the state was explored, so that executions beginning with these threads were left out.
    asleep: ThreadSet,
    /// The index in [`Visits::sets`] of the set of operations that come after the state.
    after: usize,
}

/// All states that have been explored to their end, by their relations.
#[derive(Clone, Debug, Default)]
pub(super) struct Visits {
    visits: HashMap<u64, Vec<Visit>, BuildHasherDefault<Mixer>>,
    kept: usize,
    operations: Vec<Operation>,
    numbers: HashMap<Operation, u32, BuildHasherDefault<Mixer>>,
    /// Sets of operations: numbers, ascending.
    sets: Vec<Box<[u32]>>,
    known_sets: HashMap<Box<[u32]>, usize>,
}

impl Visits {
    /// The number of an operation.
    pub(super) fn number(&mut self, operation: Operation) -> u32 {
        let next = self.operations.len() as u32;
        let number = *self.numbers.entry(operation).or_insert(next);
        if number == next {
            self.operations.push(operation);
        }
        number
    }

    pub(super) fn operation(&self, number: u32) -> Operation {
        self.operations[number as usize]
    }

    /// What comes after a state with this relation, if all of it that does not begin with a thread that sleeps now has
    /// been explored.
    pub(super) fn find(&self, relation: u64, asleep: ThreadSet) -> Option<&[u32]> {
        let visits = self.visits.get(&relation)?;
        let visit = visits
            .iter()
            .find(|visit| visit.asleep.difference(asleep).is_empty())?;
        Some(&self.sets[visit.after])
    }

    /// A state has been explored to its end.
    pub(super) fn insert(&mut self, relation: u64, asleep: ThreadSet, after: &[u32]) {
        if self.kept == KEPT {
            return;
        }
        let after = match self.known_sets.get(after) {
            Some(&number) => number,
            None => {
                let set: Box<[u32]> = after.into();
                self.sets.push(set.clone());
                self.known_sets.insert(set, self.sets.len() - 1);
                self.sets.len() - 1
            }
        };
        self.visits
            .entry(relation)
            .or_default()
            .push(Visit { asleep, after });
        self.kept += 1;
    }
}

/// Adds `more` to a set of numbers.
pub(super) fn add(set: &mut Vec<u32>, more: &[u32]) {
    for &number in more {
        if let Err(at) = set.binary_search(&number) {
            set.insert(at, number);
        }
    }
}
