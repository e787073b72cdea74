//! An object of the scheduled machine that has no value here: its whole state is which threads wait on it.

use super::Tag;
use crate::engine::{self, abort, unsupported};
use crate::scheduled::{Handle, current};
use crate::vocabulary::{Object, Site};

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

    /// The machine, and the place's name in its execution. `what` is about to be done, and can only be done on the
    /// machine.
    pub(crate) fn enter(&self, what: &str, site: Site) -> (Handle, Object) {
        let machine = machine(what, site);
        (machine, self.of(machine))
    }

    /// The object's name on this machine.
    pub(crate) fn of(&self, machine: Handle) -> Object {
        self.0.renew(machine.generation(), self);
        self.0.name(machine, self)
    }
}

/// The scheduled machine that runs the program. In P̂ₖ the execution ends, as one that can't be followed.
pub(crate) fn machine(what: &str, site: Site) -> Handle {
    machine_unless_ending(what, site).unwrap_or_else(|| {
        // What a destructor needs to go on can't be made up.
        eprintln!("a destructor uses `{what}`, which the sequential program can't run");
        std::process::abort()
    })
}

/// The machine that runs the program on this OS thread, as [`machine`] returns it; `None` in a destructor, while an
/// execution of P̂ₖ is being ended.
pub(crate) fn machine_unless_ending(what: &str, site: Site) -> Option<Handle> {
    if let Some(machine) = current() {
        return Some(machine);
    }
    let Some(handle) = engine::current() else {
        panic!("`{what}` of a transformed program runs under `seqz` only");
    };
    let message = format!("`{what}` has no event in the sequential program");
    unsupported(handle, message, Some(site));
    abort::unwind(handle);
    None
}
