//! Seeds that wait to be executed.

use super::classes::{ClassId, Partial};
use crate::event::Thread;

/// What a seed is executed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To see what becomes of it: this member of the classes.
    Class(ClassId),
    /// Its pairs of reads and writes are new: see [`rv_causal`](crate::rv_causal).
    Pairs,
    /// It is a whole execution, which ends with threads that wait forever: that of this key.
    Ending(u64),
    /// Its last two accesses race.
    Race,
}

/// The beginning of an execution that is to come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed {
    /// What for.
    pub purpose: Purpose,
    /// What it fixes.
    pub nodes: Partial,
    /// Whom to run, as far as it goes.
    pub schedule: Vec<Thread>,
}
