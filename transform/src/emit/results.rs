//! Whether a program may observe the drop of what its threads return.

use crate::counting::{Counting, Handles};
use crate::load::Crate;

/// Which results of threads a program may see dropped. The names are the runtime's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Results {
    /// No result: the program has no destructors, and nothing whose end is noticed.
    Unseen,
    /// Results of types that have something to drop.
    Values,
    /// These results, and the payloads of panics, which may be of any type.
    Payloads,
}

/// Words in the source of programs that have destructors, or that use ends of channels.
const SEEN: [&str; 6] = [
    "Drop",
    "Receiver",
    "Sender",
    "SyncSender",
    "channel",
    "sync_channel",
];

/// Functions that panic with any value as the payload.
const ANY_PAYLOAD: [&str; 2] = ["panic_any", "resume_unwind"];

impl Results {
    /// Decides by the words of the source, and errs on the side of too many results.
    pub(super) fn of(program: &Crate, counting: Counting) -> Self {
        let has = |words: &[&str]| words.iter().any(|word| program.names(word));
        let is_counted = counting.handles != Handles::Plain || counting.accesses_memory;
        if !has(&SEEN) && !is_counted {
            Self::Unseen
        } else if has(&ANY_PAYLOAD) {
            Self::Payloads
        } else {
            Self::Values
        }
    }
}
