//! An object of the scheduled machine that has no value here: who waits on it is all that there is to it.

use std::cell::UnsafeCell;

use seqz_explore::Object;

use super::Tag;
use crate::engine::{self, Site, abort, unsupported};
use crate::scheduled::events::{Handle, current};

/// A place with a name.
#[derive(Debug)]
pub(crate) struct Spot(UnsafeCell<Tag>);

// SAFETY: as for `AtomicCell`: all threads of an execution run on one OS thread, executions one after the other.
unsafe impl Sync for Spot {}
// SAFETY: a number.
unsafe impl Send for Spot {}

impl Spot {
    pub(crate) const fn new() -> Self {
        Self(UnsafeCell::new(Tag::UNUSED))
    }

    /// Which object this is, as a part of a value; 0 where nothing runs.
    pub(crate) fn identity(&self) -> u64 {
        let Some(machine) = current() else { return 0 };
        // SAFETY: as below.
        let tag = unsafe { &mut *self.0.get() };
        tag.renew_to(machine.generation());
        machine.place_of_object(tag.scheduled_object(machine, self))
    }

    /// The machine, and the place's name in its execution. `what` is about to be done, and can't be done elsewhere.
    pub(crate) fn enter(&self, what: &str, site: Site) -> (Handle, Object) {
        let machine = machine(what, site);
        // SAFETY: no other reference is alive: it is only made here, and for this statement.
        let tag = unsafe { &mut *self.0.get() };
        tag.renew_to(machine.generation());
        (machine, tag.scheduled_object(machine, self))
    }
}

/// The machine that runs. Where P̂ₖ is run the execution ends, as one that can't be followed.
pub(crate) fn machine(what: &str, site: Site) -> Handle {
    if let Some(machine) = current() {
        return machine;
    }
    if let Some(handle) = engine::current() {
        let message = format!("`{what}` has no event in the sequential program");
        unsupported(handle, message, Some(site));
        abort::unwind();
        // Only reached in a destructor, while the execution is being ended.
        eprintln!("a destructor uses `{what}`, which the sequential program can't run");
        std::process::abort();
    }
    panic!("`{what}` of a transformed program runs under `seqz explore` only");
}
