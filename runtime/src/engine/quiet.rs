//! Threads of P̂ₖ that sleep or yield again and again.
//!
//! Threads of P̂ₖ run as plain calls, so that no other thread gets a turn meanwhile. If what a thread waits for is not
//! followed, as a lock of a dependency, it waits in vain, and a failure after that may be due to the wait alone. So a
//! thread that has slept or yielded for long with no event in between is [told of](Asked::Turns).

use super::{Handle, Line};
use crate::process::asked;
use crate::vocabulary::Asked;

/// The number of sleeps and yields in a row after which a thread is told of.
const LONG: u32 = 24;

/// How often a thread has slept or yielded in a row.
#[derive(Debug, Default)]
pub(crate) struct Quiet {
    /// The number of events before the sleeps in a row, and the thread that sleeps.
    at: Option<(u32, u32)>,
    times: u32,
}

impl Quiet {
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// The current thread sleeps or yields.
pub(crate) fn note_wait(handle: Handle) {
    let engine = handle.get();
    if engine.line == Line::Init {
        return;
    }
    let at = Some((engine.steps, engine.threads.current));
    let quiet = &mut engine.quiet_waits;
    quiet.times = if quiet.at == at { quiet.times + 1 } else { 1 };
    quiet.at = at;
    if quiet.times == LONG {
        asked::note(Asked::Turns);
    }
}
