//! Panics of programs under test: they go to the machine that runs the program instead of being printed, and to the
//! hook that the program has set in this execution.

use std::cell::{Cell, RefCell};
use std::panic::PanicHookInfo;
use std::rc::Rc;
use std::sync::{Once, OnceLock};

use crate::vocabulary::Place;

/// A program's panic hook.
pub(crate) type Hook = Box<dyn Fn(&PanicHookInfo<'_>) + Sync + Send>;

/// A function that is called at a panic, before the thread unwinds, with the panic's message and place.
pub(crate) type Listener = fn(String, Place);

thread_local! {
    /// The function of the machine that runs a program on this OS thread, to which panics go.
    static LISTENER: Cell<Option<Listener>> = const { Cell::new(None) };

    /// Whether the program has set or taken a hook in this execution.
    static IS_SET: Cell<bool> = const { Cell::new(false) };

    /// The hook that the program has set.
    static HOOK: RefCell<Option<Rc<Hook>>> = const { RefCell::new(None) };
}

/// Makes panics inside of executions silent. Panics outside of executions go to the hook that was there before.
pub(crate) fn install_hook() {
    static BEFORE: OnceLock<Hook> = OnceLock::new();
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        BEFORE.get_or_init(std::panic::take_hook);
        // The hook owns nothing: a program that takes and drops it in an execution does no harm to the next execution,
        // for which the hook is put back.
        std::panic::set_hook(Box::new(|info| {
            if let Some(listener) = LISTENER.get() {
                tell(listener, info);
                call_hook(info);
            } else if let Some(before) = BEFORE.get() {
                before(info);
            }
        }));
    });
}

/// Sets the function to which panics on this OS thread go: an execution begins, or ends.
#[inline]
pub(crate) fn listen(listener: Option<Listener>) {
    LISTENER.set(listener);
}

/// Whether an execution runs on this OS thread.
pub(crate) fn a_program_runs() -> bool {
    LISTENER.get().is_some()
}

fn tell(listener: Listener, info: &PanicHookInfo<'_>) {
    let message = info
        .payload_as_str()
        .unwrap_or("the panic's payload is not a text")
        .to_owned();
    let place = info.location().map_or_else(
        || Place {
            file: String::new(),
            line: 0,
            column: 0,
        },
        |at| Place {
            file: at.file().to_owned(),
            line: at.line(),
            column: at.column(),
        },
    );
    listener(message, place);
}

/// The program sets its hook.
pub(crate) fn set(hook: Hook) {
    IS_SET.set(true);
    let before = HOOK.replace(Some(Rc::new(hook)));
    drop(before);
}

/// The program takes the hook that it has set, if any. A hook that is running goes on, and is not called again.
pub(crate) fn take() -> Option<Hook> {
    IS_SET.set(true);
    HOOK.take().and_then(|hook| Rc::try_unwrap(hook).ok())
}

/// Calls the hook that the program has set.
fn call_hook(info: &PanicHookInfo<'_>) {
    let hook = HOOK.with_borrow(Option::clone);
    if let Some(hook) = hook {
        hook(info);
    }
}

/// Whether the execution may have set or taken a hook.
#[inline]
pub(crate) fn has_hook() -> bool {
    IS_SET.get()
}

/// Drops the execution's hook: the execution is over.
#[inline]
pub(crate) fn forget_hook() {
    if IS_SET.take() {
        drop(HOOK.take());
    }
}

/// Forgets the execution's hook: the execution is over, and, as in a process that has ended, nothing of the hook is
/// dropped.
#[inline]
pub(crate) fn leave_hook() {
    if IS_SET.take() {
        std::mem::forget(HOOK.take());
    }
}
