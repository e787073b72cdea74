//! Functions of a followed dependency that can't be run: a call of [`left_out`] stands in the place of what they do.

use std::panic::Location;

use crate::running::refuse;

/// The program has come to a function that is left out, for this reason: the execution ends as one that is not followed.
#[cold]
#[track_caller]
pub fn left_out(what: &str) -> ! {
    refuse(what, Location::caller())
}
