//! Panics of the program under test: kept for the report instead of being printed.

use std::panic::PanicHookInfo;
use std::sync::{Once, OnceLock};

use super::{Site, current};

/// A place in the source, owned: panics name places that need not be a [`Site`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The file's path, as rustc was given it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

impl From<Site> for Place {
    fn from(site: Site) -> Self {
        Self {
            file: site.file().to_owned(),
            line: site.line(),
            column: site.column(),
        }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

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
