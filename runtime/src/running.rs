//! What runs on this OS thread: the sequential program, the original one on the scheduled machine, or nothing.

use crate::engine;

/// The panics of the execution that runs, with the current thread and how many events there have been.
pub(crate) fn with_panics<R>(
    then: impl FnOnce(&mut crate::judge::Panics, u32, usize) -> R,
) -> Option<R> {
    #[cfg(feature = "scheduler")]
    if let Some(machine) = crate::scheduled::events::current() {
        return Some(machine.with_panics(then));
    }
    engine::current().map(|handle| engine::with_panics(handle, then))
}
