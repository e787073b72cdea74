//! `std::panic`: what the machines unwind threads with passes through the program, and hooks are those of one execution.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

pub use ::std::panic::*;

use crate::engine::{self, abort};
use crate::vocabulary::Place;

type Hook = Box<dyn Fn(&PanicHookInfo<'_>) + Sync + Send + 'static>;

thread_local! {
    /// The program has set one in this execution.
    static IS_SET: Cell<bool> = const { Cell::new(false) };

    /// The hook that the program has set.
    static HOOK: RefCell<Option<Rc<Hook>>> = const { RefCell::new(None) };
}

/// See `std::panic::set_hook`. The hook is one of this execution.
pub fn set_hook(hook: Hook) {
    if !engine::a_program_runs() {
        return ::std::panic::set_hook(hook);
    }
    IS_SET.set(true);
    let before = HOOK.replace(Some(Rc::new(hook)));
    drop(before);
}

/// See `std::panic::take_hook`. Where none has been set, it is one that says nothing: seqz reports panics itself.
#[must_use]
pub fn take_hook() -> Hook {
    if !engine::a_program_runs() {
        return ::std::panic::take_hook();
    }
    match HOOK.take().map(Rc::try_unwrap) {
        None => Box::new(|_| {}),
        Some(Ok(hook)) => hook,
        // It is at work. It goes on with what it is, and is not called again.
        Some(Err(_)) => Box::new(|_| {}),
    }
}

/// Calls the hook that the program has set.
pub(crate) fn call_hook(info: &PanicHookInfo<'_>) {
    let hook = HOOK.with_borrow(Option::clone);
    if let Some(hook) = hook {
        hook(info);
    }
}

/// Whether the execution may have set one.
#[inline]
pub(crate) fn has_hook() -> bool {
    IS_SET.get()
}

/// The execution is over, and its hook with it.
#[inline]
pub(crate) fn forget_hook() {
    if IS_SET.take() {
        drop(HOOK.take());
    }
}

/// The same. As in a process that has ended, nothing of the hook is dropped.
#[cfg(feature = "scheduler")]
#[inline]
pub(crate) fn leave_hook() {
    if IS_SET.take() {
        std::mem::forget(HOOK.take());
    }
}

/// Whether this is what a machine unwinds threads with.
pub(crate) fn is_of_a_machine(payload: &(dyn Any + Send)) -> bool {
    #[cfg(feature = "scheduler")]
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
