//! `std::process`: what would end the process ends the execution, and is told with its place.

use std::panic::Location;

pub use ::std::process::*;

use crate::engine;
use crate::vocabulary::Site;

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

/// Something whose destructor must not panic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Destructor {
    ThreadLocal,
    /// What a thread has returned, or panicked with.
    Result,
}

impl Destructor {
    /// What is told of one that panics with this.
    pub(crate) fn message(self, panic: &str) -> String {
        let of = match self {
            Self::ThreadLocal => "a thread-local",
            Self::Result => "a thread's result",
        };
        format!("a destructor of {of} panics, which aborts the process: {panic}")
    }
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
fn leave(how: Leaving, site: Site) {
    #[cfg(feature = "scheduler")]
    if let Some(machine) = crate::scheduled::events::current() {
        machine.leave(how, site);
        return;
    }
    if let Some(handle) = engine::current()
        && (handle.get().can_be_left() || !::std::thread::panicking())
    {
        engine::leave(handle, how, site);
    }
}
