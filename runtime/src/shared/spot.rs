//! An object of the scheduled machine that has no value here: its whole state is which threads wait on it.

use super::Tag;
use crate::scheduled::{Handle, current};
use crate::vocabulary::Object;

/// An object with a name on the scheduled machine, and no value.
#[derive(Debug)]
pub(crate) struct Spot(Tag);

// SAFETY: all threads of an execution run on one OS thread, and executions run one after the other.
unsafe impl Sync for Spot {}

impl Spot {
    pub(crate) const fn new() -> Self {
        Self(Tag::unused())
    }

    /// The object's number, as a part of a value; 0 where no program runs.
    pub(crate) fn identity(&self) -> u64 {
        let Some(machine) = current() else { return 0 };
        machine.place_of_object(self.of(machine))
    }

    /// The object's name on this machine.
    pub(crate) fn of(&self, machine: Handle) -> Object {
        self.0.renew(machine.generation(), self);
        self.0.name(machine, self)
    }
}
