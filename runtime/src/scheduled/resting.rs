//! Threads that let others go first.
//!
//! A thread that sleeps or yields again and again and makes no event in between may wait for something that is not followed, as
//! for a lock of a dependency: whoever holds it needs a turn, and there is no event at which it could get one. So from the
//! [`QUIET`]th time on, sleeping and yielding are events of their own, at which others may run, and the thread *rests*: until the
//! others have made some events, schedulers that choose by themselves prefer them. As it can run, no schedule is lost by that.
//!
//! A schedule may still give the others no turn, which no system does for long. What fails then may be the schedule's fault alone,
//! unless all is followed: that it was so is [told](Asked::Turns).

use seqz_explore::{Event, Kind};

use super::state::{Handle, State};
use crate::process::asked;
use crate::vocabulary::{Asked, Site};

/// So often a thread may sleep or yield, with nothing in between, before it lets others go first.
const QUIET: u32 = 8;

/// For so many events of the execution it does then.
const REST: u32 = 8;

/// So often in a row it may come before the others all the same.
const UNFAIR: u32 = 16;

/// What a thread has done since its last event that was more than to sleep or to yield.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rest {
    /// How often it has slept or yielded.
    quiet: u32,
    /// How many events the execution has when it has rested.
    until: u32,
    /// How often in a row it went on while others could have.
    unfair: u32,
}

impl Handle {
    /// The current thread sleeps or yields. What it does is decided by what it has done alone: not by who else is there, which
    /// another order of independent events could change.
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
    /// This was done: whoever did more than sleep is at it again, and others may have rested.
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
