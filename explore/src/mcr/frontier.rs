//! Seeds that wait to be executed.

use super::classes::{ClassId, Partial};
use crate::event::Thread;

/// The beginning of an execution whose class is not known yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed {
    /// Its place among the classes. `None`: it is a whole execution, which ends with threads that wait forever.
    pub member: Option<ClassId>,
    /// The key of its class, if it is a whole execution.
    pub key: u64,
    /// What it fixes.
    pub nodes: Partial,
    /// Whom to run, as far as it goes.
    pub schedule: Vec<Thread>,
}
