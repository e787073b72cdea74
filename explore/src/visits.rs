//! The states that have been explored, each with the operations that came after the state.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use crate::event::{Event, Kind, Object, Pending, Thread};
use crate::hash::Mixer;
use crate::threads::ThreadSet;

/// What was left out when a state was explored: nothing, if it is [nothing beside](Self::is_within) what is left out now.
pub(crate) trait LeftOut: Copy {
    /// Whether all of it is left out with the other, too.
    fn is_within(self, other: Self) -> bool;
}

/// Executions that begin with one of these threads.
impl LeftOut for ThreadSet {
    fn is_within(self, other: Self) -> bool {
        self.difference(other).is_empty()
    }
}

/// Executions with more preemptions after the state than the bound leaves after so many.
impl LeftOut for u32 {
    fn is_within(self, other: Self) -> bool {
        self <= other
    }
}

/// The number of visits that are kept. Further states are explored, and not remembered: then the search saves less, and
/// loses nothing.
const KEPT: usize = 1 << 22;

/// An operation that some execution had after a state, as far as races go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Operation {
    pub(crate) thread: Thread,
    pub(crate) kind: Kind,
    pub(crate) object: Object,
}

impl Operation {
    pub(crate) const fn of(event: &Event) -> Self {
        Self {
            thread: event.thread,
            kind: event.kind,
            object: event.object,
        }
    }

    pub(crate) const fn announced(thread: Thread, pending: &Pending) -> Self {
        Self {
            thread,
            kind: pending.kind,
            object: pending.object,
        }
    }
}

/// A state that has been explored to its end.
#[derive(Clone, Copy, Debug)]
struct Visit<L> {
    left_out: L,
    /// The index in [`Visits::sets`] of the set of operations that come after the state.
    after: usize,
}

/// All states that have been explored to their end, by their relations.
#[derive(Clone, Debug)]
pub(crate) struct Visits<L> {
    visits: HashMap<u64, Vec<Visit<L>>, BuildHasherDefault<Mixer>>,
    kept: usize,
    operations: Vec<Operation>,
    numbers: HashMap<Operation, u32, BuildHasherDefault<Mixer>>,
    /// Sets of operations: numbers, ascending.
    sets: Vec<Box<[u32]>>,
    known_sets: HashMap<Box<[u32]>, usize>,
}

impl<L> Default for Visits<L> {
    fn default() -> Self {
        Self {
            visits: HashMap::default(),
            kept: 0,
            operations: Vec::new(),
            numbers: HashMap::default(),
            sets: Vec::new(),
            known_sets: HashMap::new(),
        }
    }
}

impl<L: LeftOut> Visits<L> {
    /// Forgets the states that have been explored.
    pub(crate) fn clear(&mut self) {
        self.visits.clear();
        self.kept = 0;
    }

    /// The number of an operation.
    pub(crate) fn number(&mut self, operation: Operation) -> u32 {
        let next = self.operations.len() as u32;
        let number = *self.numbers.entry(operation).or_insert(next);
        if number == next {
            self.operations.push(operation);
        }
        number
    }

    pub(crate) fn operation(&self, number: u32) -> Operation {
        self.operations[number as usize]
    }

    /// What comes after a state with this relation, if all of it has been explored that is not left out now.
    pub(crate) fn find(&self, relation: u64, left_out: L) -> Option<&[u32]> {
        let visits = self.visits.get(&relation)?;
        let visit = visits
            .iter()
            .find(|visit| visit.left_out.is_within(left_out))?;
        Some(&self.sets[visit.after])
    }

    /// A state has been explored to its end.
    pub(crate) fn insert(&mut self, relation: u64, left_out: L, after: &[u32]) {
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
            .push(Visit { left_out, after });
        self.kept += 1;
    }
}

/// Adds `more` to a set of numbers.
pub(crate) fn add(set: &mut Vec<u32>, more: &[u32]) {
    for &number in more {
        if let Err(at) = set.binary_search(&number) {
            set.insert(at, number);
        }
    }
}
