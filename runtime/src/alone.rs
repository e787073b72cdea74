//! One program runs at a time in a process, since its statics are shared by all that run it: another run waits for its
//! end.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Held by the machine that runs a program, sequential or scheduled, for as long as the program runs.
static ALONE: Mutex<Generation> = Mutex::new(Generation(0));

/// The number of the latest execution.
pub(crate) struct Generation(u32);

impl Generation {
    /// The number of the next execution, whose values are dropped by their owners.
    pub(crate) const fn next(&mut self) -> u32 {
        self.0 = (self.0 & !1).wrapping_add(2);
        self.0
    }

    /// The number of the next execution, whose memory is given back with all of its contents when the execution is
    /// over.
    pub(crate) const fn next_given_back(&mut self) -> u32 {
        self.next() | 1
    }

    /// Whether the memory of the execution with this number has been given back, once it is over.
    pub(crate) const fn is_given_back(generation: u32) -> bool {
        generation & 1 != 0
    }
}

/// Waits until no other program runs.
pub(crate) fn alone() -> MutexGuard<'static, Generation> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}
