//! `std::process`: what would end the process ends the execution, and is told with its place.

use std::panic::Location;

pub use ::std::process::*;

use crate::engine;

/// What a program does to end its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaving {
    /// `process::exit` with this code.
    Exit(i32),
    /// `process::abort`.
    Abort,
}

impl Leaving {
    /// What is told of it.
    pub(crate) fn message(self) -> String {
        match self {
            Self::Exit(code) => format!("the program ends its process with exit({code})"),
            Self::Abort => "the program aborts its process".to_owned(),
        }
    }
}

/// What is told of a thread-local's destructor that panics with this.
pub(crate) fn of_a_local(message: &str) -> String {
    format!("a destructor of a thread-local panics, which aborts the process: {message}")
}

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
fn leave(how: Leaving, site: engine::Site) {
    if ::std::thread::panicking() {
        return;
    }
    #[cfg(feature = "scheduler")]
    if let Some(machine) = crate::scheduled::events::current() {
        machine.leave(how, site);
    }
    if let Some(handle) = engine::current() {
        engine::leave(handle, how, site);
    }
}
