//! The changes that a later search needs to go on from where this search is.
//!
//! A search is a sequence of changes to what it knows. Any beginning of that sequence is a state that it was in, so a
//! journal that ends anywhere is good for going on: a run whose expansion it does not tell the end of is made again.

use super::classes::{Node, Partial};
use super::expand::Effort;
use super::schedule::Schedule;
use crate::event::Thread;

/// What a seed is for: see [`Purpose`](super::frontier::Purpose).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// A class.
    Class,
    /// A whole execution, by its key.
    Ending(u64),
    /// To show a race. Which one is not kept, as places may be numbered otherwise next time: it may be shown again.
    Race,
}

/// The origin of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// No seed: the run is the first of all.
    First,
    /// The seed of this number.
    Seed(u32),
    /// The run of this number, which is made again: the search was broken off before all seeds of the run had been planted.
    Again(u32),
}

/// How a run's class relates to the known members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Membership {
    /// The class is the member that the seed became when it was planted.
    Planted,
    /// The class is a new member, which came with the run.
    Own,
    /// The class had been executed before: the run only showed something of it.
    Known,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A thread has been given a number: the n-th that `parent` forks, from 0.
    Thread {
        /// Its number.
        thread: Thread,
        /// The thread that forks it.
        parent: Thread,
        /// The number of threads that `parent` forks before it.
        nth: u32,
    },
    /// A history has got its number: the next.
    Node {
        /// The thread whose history it is.
        thread: Thread,
        /// The history before the last observation.
        parent: Node,
        /// The hash of the last observation.
        observation: u64,
    },
    /// A seed has got its number: the next.
    Seed {
        /// The aim of the seed.
        aim: Aim,
        /// See [`Seed::nodes`](super::frontier::Seed::nodes).
        nodes: Partial,
        /// See [`Seed::schedule`](super::frontier::Seed::schedule).
        schedule: Schedule,
    },
    /// A run is over. Runs are numbered in the order of these.
    Ran {
        /// The origin of the run.
        origin: Origin,
        /// How the run's class relates to the known members.
        member: Membership,
        /// Whether the run is to be expanded.
        leads_on: bool,
        /// Per thread: all that it observed in the run.
        ends: Partial,
        /// The key of the run's class.
        key: u64,
        /// Whether the run did not follow its seed.
        lost: bool,
        /// Whether the run has events whose outcome depends on more than its model knows.
        open: bool,
    },
    /// All that follows from a run has been planted.
    Expanded {
        /// Its number.
        run: u32,
        /// The counts of the run's expansion.
        effort: Effort,
    },
}

/// Writes changes down.
pub trait Journal: Send + Sync {
    /// Takes the next change. Called while the threads' shared state is locked, so implementations must be fast.
    fn note(&mut self, change: &Change);

    /// Writes the noted changes out. Called after a run has been settled or expanded.
    fn flush(&mut self);
}
