//! Threads of P̂ₖ that sleep or yield again and again.
//!
//! They run as plain calls, so that nobody else gets a turn meanwhile. If what they wait for is not followed, as a lock of a
//! dependency, they wait in vain, and what they fail with then may be the fault of that alone: it is
//! [told](Asked::Turns) when they have done so for long with no event in between.

use super::{Handle, Line};
use crate::process::asked;
use crate::vocabulary::Asked;

/// So often in a row.
const LONG: u32 = 24;

/// How often a thread has slept or yielded in a row.
#[derive(Debug, Default)]
pub(crate) struct Quiet {
    /// After so many events, by this thread.
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
