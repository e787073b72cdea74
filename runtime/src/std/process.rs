//! `std::process`: what would end the process ends the execution, and is told with its place.

use std::panic::Location;

pub use ::std::process::*;

use crate::ending::Leaving;
use crate::engine;
use crate::vocabulary::Site;

/// See `std::process::exit`.
#[track_caller]
pub fn exit(code: i32) -> ! {
    leave(Leaving::Exit(code), Location::caller());
    ::std::process::exit(code)
}

/// See `std::process::abort`.
#[track_caller]
pub fn abort() -> ! {
    leave(Leaving::Abort, Location::caller());
    ::std::process::abort()
}

/// Ends the execution, unless no program runs, or the thread unwinds and can't be left where it is.
fn leave(how: Leaving, site: Site) {
    if let Some(machine) = crate::scheduled::current() {
        machine.leave(how, site);
        return;
    }
    if let Some(handle) = engine::current()
        && (handle.get().can_be_left() || !::std::thread::panicking())
    {
        engine::leave(handle, how, site);
    }
}
