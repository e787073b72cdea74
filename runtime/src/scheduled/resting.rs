//! Threads that let others go first.
//!
//! A thread that sleeps or yields again and again and makes no event in between may wait for something that is not
//! followed, as for a lock of a dependency: the thread that holds it needs a turn, and there is no event at which it
//! could get one. So from the [`QUIET`]th time on, sleeping and yielding are events of their own, at which others may
//! run, and the thread *rests*: until the others have made some events, schedulers that choose by themselves prefer
//! them. As it can run, no schedule is lost by that.
//!
//! A schedule may still give the others no turn, which no system does for long. What fails then may be the schedule's
//! fault alone, unless all is followed: that the others got no turn is [told](Asked::Turns).

use seqz_explore::{Event, Kind};

use super::state::{Handle, State};
use crate::process::asked;
use crate::vocabulary::{Asked, Site};

/// The number of times that a thread may sleep or yield, with no other event in between, before it lets others go
/// first.
const QUIET: u32 = 8;

/// The number of events of the execution for which the thread then lets others go first.
const REST: u32 = 8;

/// The number of times in a row that the thread may come before the others all the same, before that is told.
const UNFAIR: u32 = 16;

/// What a thread has done since its last event that was more than to sleep or to yield.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rest {
    /// The number of times that the thread has slept or yielded.
    quiet: u32,
    /// The number of events of the execution at which the thread has rested.
    until: u32,
    /// The number of times in a row that the thread went on while others could have.
    unfair: u32,
}

impl Handle {
    /// The current thread sleeps or yields. What this call does depends on what the thread has done alone: not on which
    /// other threads are there, which another order of independent events could change.
    pub(crate) fn give_way(self, site: Site) {
        if self.is_ending() || std::thread::panicking() {
            return;
        }
        self.flush();
        let state = self.get();
        state.gives_way = true;
        let (thread, name, events) = (state.current, state.current_name(), state.steps);
        let rest = &mut state.slots[thread].rest;
        rest.quiet += 1;
        if rest.quiet <= QUIET {
            return;
        }
        rest.until = events.saturating_add(REST);
        state.resting.insert(name);
        let mut others = state.enabled();
        others.remove(name);
        self.turn(Kind::Local, 0, 0, site);
        if self.is_ending() {
            return;
        }
        let state = self.get();
        let goes_on = !others.is_empty() && state.steps == events;
        let rest = &mut state.slots[thread].rest;
        rest.unfair = if goes_on { rest.unfair + 1 } else { 0 };
        if rest.unfair == UNFAIR {
            asked::note(Asked::Turns);
        }
        self.did(Kind::Local, 0, 0, 0, site);
    }
}

impl State {
    /// Notes an event: a thread that did more than sleep or yield rests no longer, and others may have rested long
    /// enough.
    pub(super) fn note_rest(&mut self, event: &Event) {
        if event.kind != Kind::Local {
            self.slots[usize::from(event.thread)].rest = Rest::default();
            self.resting.remove(event.thread);
        }
        for thread in self.resting.iter() {
            if self.slots[usize::from(thread)].rest.until <= self.steps {
                self.resting.remove(thread);
            }
        }
    }
}

impl Handle {
    /// Lets others run between an event and what the thread does after it, which may be an access that is no event: where
    /// AddressSanitizer looks at those, it has to see them after whatever others can do.
    #[cfg(feature = "sanitized")]
    pub(crate) fn pause(self, site: Site) {
        if self.is_ending() || std::thread::panicking() {
            return;
        }
        self.turn(Kind::Local, 0, 0, site);
        if !self.is_ending() {
            self.did(Kind::Local, 0, 0, 0, site);
        }
    }

    /// Nothing looks at accesses that are no events.
    #[cfg(not(feature = "sanitized"))]
    #[inline(always)]
    #[allow(clippy::unused_self)] // As where it does something.
    pub(crate) fn pause(self, _site: Site) {}
}
