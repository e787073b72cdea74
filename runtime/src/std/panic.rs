//! `std::panic`: what the machines unwind threads with passes through the program, and hooks are those of one execution.

use std::any::Any;

pub use ::std::panic::*;

use crate::engine::abort;
use crate::panics::{self, Hook};
use crate::running::with_panics;
use crate::vocabulary::Place;

/// See `std::panic::set_hook`. The hook is one of this execution.
pub fn set_hook(hook: Hook) {
    if !panics::a_program_runs() {
        return ::std::panic::set_hook(hook);
    }
    panics::set(hook);
}

/// See `std::panic::take_hook`. Where none has been set, it is one that says nothing: seqz reports panics itself.
#[must_use]
pub fn take_hook() -> Hook {
    if !panics::a_program_runs() {
        return ::std::panic::take_hook();
    }
    panics::take().unwrap_or_else(|| Box::new(|_| {}))
}

/// Whether this is what a machine unwinds threads with.
pub(crate) fn is_of_a_machine(payload: &(dyn Any + Send)) -> bool {
    if payload.is::<crate::scheduled::Ended>() {
        return true;
    }
    payload.is::<abort::Unwind>()
}

/// See `std::panic::catch_unwind`.
///
/// # Errors
/// The closure panicked.
pub fn catch_unwind<F: FnOnce() -> R + UnwindSafe, R>(run: F) -> ::std::thread::Result<R> {
    let caught = ::std::panic::catch_unwind(run);
    if let Err(payload) = caught {
        if is_of_a_machine(&*payload) {
            ::std::panic::resume_unwind(payload);
        }
        with_panics(|panics, thread, _| panics.catch(thread, &*payload));
        return Err(payload);
    }
    caught
}

/// See `std::panic::resume_unwind`.
#[track_caller]
pub fn resume_unwind(payload: Box<dyn Any + Send>) -> ! {
    let place = Place::from(Location::caller());
    with_panics(|panics, thread, events| panics.resume(thread, &*payload, Some(place), events));
    ::std::panic::resume_unwind(payload)
}
