//! Whether a program may see what its threads return being dropped.

use crate::counting::{Counting, Handles};
use crate::load::Crate;

/// Which results of threads it may see dropped. Named as the runtime names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Results {
    /// None: it has no destructors, and nothing whose end is noticed.
    Unseen,
    /// Those of types that have something to drop.
    Values,
    /// Those, and what threads panic with, which may be anything.
    Payloads,
}

/// Words of programs that have destructors, or that use ends of channels.
const SEEN: [&str; 6] = [
    "Drop",
    "Receiver",
    "Sender",
    "SyncSender",
    "channel",
    "sync_channel",
];

/// Functions that panic with any value.
const ANY_PAYLOAD: [&str; 2] = ["panic_any", "resume_unwind"];

impl Results {
    /// Told from the words of the source, on the side of seeing too much.
    pub(super) fn of(program: &Crate, counting: Counting) -> Self {
        let has = |words: &[&str]| words.iter().any(|word| program.names(word));
        if !has(&SEEN) && counting.handles == Handles::Plain {
            Self::Unseen
        } else if has(&ANY_PAYLOAD) {
            Self::Payloads
        } else {
            Self::Values
        }
    }
}
