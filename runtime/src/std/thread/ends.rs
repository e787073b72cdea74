//! Whether a thread has finished, for programs that ask for it without waiting.
//!
//! Then the end of a thread's code is a write, of a place that nothing but `is_finished` reads. A program in which no
//! thread asks has no such events: `transform` knows that, and says so where the program starts.

use crate::engine::{current as engine, unsupported};
use crate::vocabulary::Site;

/// The program may ask whether threads have finished: from here on, the ends of threads are events of this execution.
pub fn watch_ends() {
    super::results::watches_ends();
    if let Some(machine) = crate::scheduled::current() {
        machine.watch_ends();
        return;
    }
    if let Some(handle) = engine() {
        handle.get().watches_ends = true;
    }
}

/// The program asks, and `transform` has not known that it would: the execution can't be followed.
#[cold]
pub(super) fn asks_unseen(site: Site) -> bool {
    let message = "`is_finished` is called by code that seqz has not seen";
    if let Some(machine) = crate::scheduled::current() {
        machine.give_up_soon(message, site);
        return false;
    }
    if let Some(handle) = engine() {
        unsupported(handle, message.to_owned(), Some(site));
    }
    false
}
