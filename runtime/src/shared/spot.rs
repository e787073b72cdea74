//! An object of the scheduled machine that has no value here: its whole state is which threads wait on it.

use std::cell::UnsafeCell;

use seqz_explore::Object;

use super::Tag;
use crate::engine::{self, abort, unsupported};
use crate::scheduled::events::{Handle, current};
use crate::vocabulary::Site;

/// An object with a name on the scheduled machine, and no value.
#[derive(Debug)]
pub(crate) struct Spot(UnsafeCell<Tag>);

// SAFETY: all threads of an execution run on one OS thread, and executions run one after the other.
unsafe impl Sync for Spot {}
// SAFETY: the cell holds plain numbers.
unsafe impl Send for Spot {}

impl Spot {
    pub(crate) const fn new() -> Self {
        Self(UnsafeCell::new(Tag::UNUSED))
    }

    /// The object's number, as a part of a value; 0 where no program runs.
    pub(crate) fn identity(&self) -> u64 {
        let Some(machine) = current() else { return 0 };
        // SAFETY: no other reference to the tag is alive: references are only made here and in `object`, within one
        // statement.
        let tag = unsafe { &mut *self.0.get() };
        tag.renew_to(machine.generation(), self);
        machine.place_of_object(tag.scheduled_object(machine, self))
    }

    /// The machine, and the place's name in its execution. `what` is about to be done, and can only be done on the
    /// machine.
    pub(crate) fn enter(&self, what: &str, site: Site) -> (Handle, Object) {
        let machine = machine(what, site);
        (machine, self.object(machine))
    }

    /// Does what [`Self::enter`] does; returns `None` while an execution is being ended, where the event need not be
    /// noticed.
    pub(crate) fn enter_unless_ending(&self, what: &str, site: Site) -> Option<(Handle, Object)> {
        let machine = machine_unless_ending(what, site)?;
        Some((machine, self.object(machine)))
    }

    fn object(&self, machine: Handle) -> Object {
        // SAFETY: no other reference is alive: it is only made here, and for this statement.
        let tag = unsafe { &mut *self.0.get() };
        tag.renew_to(machine.generation(), self);
        tag.scheduled_object(machine, self)
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
