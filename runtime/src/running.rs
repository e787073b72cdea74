//! What runs on this OS thread: the sequential program, the original one on the scheduled machine, or nothing.

use crate::engine;
use crate::vocabulary::Site;

/// Gives `then` the panics of the execution that runs, the current thread, and the number by which the machine tells
/// when something happens: see [`Raised::at`](crate::judge::Raised::at). `None` where no program runs.
pub(crate) fn with_panics<R>(
    then: impl FnOnce(&mut crate::judge::Panics, u32, usize) -> R,
) -> Option<R> {
    #[cfg(feature = "scheduler")]
    if let Some(machine) = crate::scheduled::events::current() {
        return Some(machine.with_panics(then));
    }
    engine::current().map(|handle| engine::with_panics(handle, then))
}

/// The program has come to what can't be run under seqz: the execution ends as one that is not followed, for this reason.
#[cold]
pub(crate) fn refuse(what: &str, site: Site) -> ! {
    #[cfg(feature = "scheduler")]
    if let Some(machine) = crate::scheduled::events::current() {
        machine.give_up_soon(what, site);
    }
    if let Some(handle) = engine::current() {
        engine::unsupported(handle, what.to_owned(), Some(site));
        engine::abort::unwind(handle);
    }
    panic!("{what}")
}
