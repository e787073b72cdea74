//! Panics of the program under test: kept for the report instead of being printed.

use std::panic::PanicHookInfo;
use std::sync::{Once, OnceLock};

use super::current;
use crate::vocabulary::Place;

/// What is called when a thread panics.
type Hook = Box<dyn Fn(&PanicHookInfo<'_>) + Sync + Send>;

/// Makes panics inside of executions silent. Those outside go to the hook that was there before.
pub(crate) fn install_hook() {
    static BEFORE: OnceLock<Hook> = OnceLock::new();
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        BEFORE.get_or_init(std::panic::take_hook);
        // It owns nothing: whoever takes and drops it in an execution does no harm to the next one, for which it is put back.
        std::panic::set_hook(Box::new(|info| {
            if note(info) {
                crate::std::panic::call_hook(info);
            } else if let Some(before) = BEFORE.get() {
                before(info);
            }
        }));
    });
}

/// Whether an execution runs on this OS thread.
pub(crate) fn a_program_runs() -> bool {
    #[cfg(feature = "scheduler")]
    if crate::scheduled::events::current().is_some() {
        return true;
    }
    current().is_some()
}

fn note(info: &PanicHookInfo<'_>) -> bool {
    if !a_program_runs() {
        return false;
    }
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
    #[cfg(feature = "scheduler")]
    if let Some(machine) = crate::scheduled::events::current() {
        machine.with_panics(|panics, thread, events| {
            panics.raise(thread, &message, Some(place), events);
        });
        return true;
    }
    let Some(handle) = current() else {
        return false;
    };
    if super::abort::would_die(handle.get()) {
        drop((message, place));
        super::abort::leave(handle);
    }
    super::with_panics(handle, |panics, thread, events| {
        panics.raise(thread, &message, Some(place), events);
    });
    true
}
