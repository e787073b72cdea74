//! Marks on statements that look at where a value lies in memory, or in which way: what a copy of the value doesn't keep.
//!
//! In P̂ₖ each of the two threads has a copy of a value that both use, so that they see two addresses where the program has one, and
//! one where they see two. Of an execution in which the program looks, and in which there are two copies of some value, nothing is
//! promised. Which value is looked at is not known.

use std::panic::Location;

use crate::engine::{self, is_shown};

/// The program is about to look.
#[inline]
#[track_caller]
pub fn shown() {
    if let Some(handle) = engine::current() {
        is_shown(handle, Location::caller());
    }
}
