//! The calls that a thread is in.
//!
//! Where a search looks at the context of events, the transformation marks each call of the program's own functions: `f(x)`
//! becomes `leave(enter(), f(x))`. The place of the call is kept while it goes on. A panic that unwinds through a mark
//! leaves the place where it is; the next mark around it that is left takes it away.
//!
//! Programs that are built for other searches have no marks.

use std::panic::Location;

use crate::scheduled::current;

/// The number of calls that the thread was in.
#[derive(Clone, Copy, Debug)]
pub struct Depth(usize);

/// A call begins. Returns the number of calls that the thread was in before it.
#[inline]
#[must_use]
#[track_caller]
pub fn enter() -> Depth {
    // Taken outside of the closure, which has another caller.
    let site = Location::caller();
    Depth(current().map_or(0, |machine| machine.enter_call(site)))
}

/// The call is over. Returns `value`, what the call gave.
#[inline]
pub fn leave<V>(depth: Depth, value: V) -> V {
    if let Some(machine) = current() {
        machine.leave_call(depth.0);
    }
    value
}
