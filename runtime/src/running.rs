//! What runs on this OS thread: the sequential program, the original one on the scheduled machine, or nothing.

use crate::vocabulary::Site;
use crate::{engine, scheduled};

/// What runs on this OS thread.
#[derive(Clone, Copy)]
pub(crate) enum Running {
    /// The sequential program P̂ₖ.
    Sequential(engine::Handle),
    /// The original program, on the scheduled machine. No value of this exists where the runtime is built without the scheduler.
    Scheduled(scheduled::Handle),
    /// No program.
    Nothing,
}

/// What runs on this OS thread.
#[inline(always)]
pub(crate) fn running() -> Running {
    if let Some(handle) = engine::current() {
        return Running::Sequential(handle);
    }
    scheduled::current().map_or(Running::Nothing, Running::Scheduled)
}

/// Calls the function of this name in the module of the mode that runs: `sequential`, `scheduled` or `native`, which the
/// caller has beside it.
macro_rules! by_mode {
    ($name:ident($($argument:expr),*)) => {
        match $crate::running::running() {
            $crate::running::Running::Sequential(handle) => sequential::$name(handle, $($argument),*),
            $crate::running::Running::Scheduled(machine) => scheduled::$name(machine, $($argument),*),
            $crate::running::Running::Nothing => native::$name($($argument),*),
        }
    };
}
pub(crate) use by_mode;

/// Gives `then` the panics of the execution that runs, the current thread, and the number by which the machine tells
/// when something happens: see [`Raised::at`](crate::judge::Raised::at). `None` where no program runs.
pub(crate) fn with_panics<R>(
    then: impl FnOnce(&mut crate::judge::Panics, u32, usize) -> R,
) -> Option<R> {
    match running() {
        Running::Sequential(handle) => Some(engine::with_panics(handle, then)),
        Running::Scheduled(machine) => Some(machine.with_panics(then)),
        Running::Nothing => None,
    }
}

/// The program has come to what can't be run under seqz: the execution ends as one that is not followed, for this reason.
#[cold]
pub(crate) fn refuse(what: &str, site: Site) -> ! {
    match running() {
        Running::Sequential(handle) => {
            engine::unsupported(handle, what.to_owned(), Some(site));
            engine::abort::unwind(handle);
        }
        Running::Scheduled(machine) => machine.give_up_soon(what, site),
        Running::Nothing => {}
    }
    panic!("{what}")
}
