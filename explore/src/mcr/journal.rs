//! What a search would have to be told to go on from where it is.
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

/// What a run comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// Nothing: it is the first of all.
    First,
    /// The seed of this number.
    Seed(u32),
    /// The run of this number, which is made again: the search was broken off before all that follows had been planted.
    Again(u32),
}

/// Which member of the classes a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Membership {
    /// The one that its seed has been since it was planted.
    Planted,
    /// One that came with it.
    Own,
    /// None: it only showed something of a class that had been executed.
    Known,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A thread has been given a number: the n-th that `parent` forks, from 0.
    Thread {
        /// Its number.
        thread: Thread,
        /// Who forks it.
        parent: Thread,
        /// After how many others.
        nth: u32,
    },
    /// A history has got its number: the next.
    Node {
        /// Whose it is.
        thread: Thread,
        /// The history before the last observation.
        parent: Node,
        /// That.
        observation: u64,
    },
    /// A seed has got its number: the next.
    Seed {
        /// What for.
        aim: Aim,
        /// See [`Seed::nodes`](super::frontier::Seed::nodes).
        nodes: Partial,
        /// See [`Seed::schedule`](super::frontier::Seed::schedule).
        schedule: Schedule,
    },
    /// A run is over. Runs are numbered in the order of these.
    Ran {
        /// What it comes from.
        origin: Origin,
        /// Which member it is.
        member: Membership,
        /// Whether it is to be expanded.
        leads_on: bool,
        /// How far it went.
        ends: Partial,
        /// The key of its class.
        key: u64,
        /// Whether it left its seed.
        lost: bool,
        /// Whether its model says too little.
        open: bool,
    },
    /// All that follows from a run has been planted.
    Expanded {
        /// Its number.
        run: u32,
        /// What that took.
        effort: Effort,
    },
}

/// Takes changes down.
pub trait Journal: Send + Sync {
    /// The next change. Called with what all threads share locked, so it is not the time for slow things.
    fn note(&mut self, change: &Change);

    /// Much has been noted: the time to write it.
    fn flush(&mut self);
}
