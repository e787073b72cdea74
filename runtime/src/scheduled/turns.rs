//! Whose turn it is: asking the scheduler, and telling it what was done.

use seqz_explore::{Outcome, Pending, Pick, Scheduler, View};

use super::behind_writers::WRITERS_FIRST;
use super::machine::Traced;
use super::running::{AtEnd, Ended};
use super::state::Handle;
use super::threads::Stage;
use crate::memory::arena::leave_program;
use crate::vocabulary::Site;

/// The execution is over, and the thread is resumed to be unwound. A thread that unwinds already goes on with its
/// unwinding.
#[cold]
#[inline(never)]
fn unwind_at_end() {
    if !std::thread::panicking() {
        std::panic::resume_unwind(Box::new(Ended));
    }
}

impl Handle {
    /// Tells the scheduler what has been done, and lets it decide which thread is next: see
    /// [`State::next`](super::state::State::next).
    pub(super) fn decide(self) {
        let inside = leave_program();
        self.tell();
        let state = self.get();
        if WRITERS_FIRST.get() && !state.writers_first {
            state.writers_first = true;
            state.stale = true;
        }
        let live = state.live;
        if !state.timed.is_empty() {
            state.let_time_pass();
        }
        let mut enabled = state.enabled();
        let is_stuck = enabled.is_empty() && !state.parked.is_empty();
        if is_stuck && !self.get().settings.weak && (self.go_beyond() || self.get().looks_again()) {
            enabled = self.get().enabled();
        }
        let state = self.get();
        let Some(scheduler) = state.scheduler else {
            return;
        };
        state.next = None;
        if state.unsupported.is_some() {
            state.outcome = Outcome::Truncated;
        } else if live.is_empty() {
            state.outcome = Outcome::Completed;
        } else {
            let is_outslept = state.someone_is_outslept(enabled);
            let scheduler: &mut dyn Scheduler = match &mut state.beyond {
                Some(beyond) => &mut beyond.turns,
                // SAFETY: the scheduler outlives the execution, and is called by the machine's own code only.
                None => unsafe { &mut *scheduler },
            };
            let view = View {
                pending: &state.pending,
                live,
                enabled,
                last: state.last,
                resting: state.resting,
            };
            if enabled.is_empty() {
                scheduler.blocked(&view);
                let parked = live.intersection(state.parked);
                state.outcome = state.stopped(parked);
            } else if is_outslept {
                scheduler.cut(&view);
                state.outcome = Outcome::Truncated;
                state.is_outslept = true;
            } else if state.steps >= state.settings.steps {
                scheduler.cut(&view);
                state.outcome = Outcome::Truncated;
            } else {
                match scheduler.pick(&view) {
                    Pick::Run(thread) if enabled.contains(thread) => {
                        state.next = Some(usize::from(thread));
                        state.last = Some(thread);
                    }
                    _ if WRITERS_FIRST.get() && !state.writers_first => {
                        inside.leave();
                        self.decide_again();
                        return;
                    }
                    _ => state.outcome = Outcome::Abandoned,
                }
            }
        }
        inside.leave();
    }

    #[cold]
    #[inline(never)]
    fn decide_again(self) {
        self.decide();
    }

    #[inline]
    pub(super) fn tell(self) {
        let state = self.get();
        if !std::mem::take(&mut state.untold) {
            return;
        }
        if state.settings.values {
            self.complete_values();
        }
        let state = self.get();
        let Some(&Traced { event, .. }) = state.trace.last() else {
            return;
        };
        state.account(&event);
        if !state.settings.trace {
            state.trace.clear();
        }
        if let Some(beyond) = &mut state.beyond {
            beyond.turns.ran(&event);
        } else if let Some(scheduler) = state.scheduler {
            // SAFETY: the scheduler outlives the execution, and is called by the machine's own code only.
            unsafe { &mut *scheduler }.ran(&event);
        }
    }

    /// Announces an operation of the current thread, and returns when it is its turn.
    #[inline(always)]
    pub(super) fn announce(self, pending: Pending, site: Site) {
        let state = self.get();
        let thread = state.current;
        state.note_pending(thread, pending, site);
        if state.slots[thread].stage == Stage::Starting {
            self.switch_away(thread);
            return;
        }
        self.decide();
        let state = self.get();
        if state.next == Some(thread) {
            state.next = None;
        } else {
            self.switch_away(thread);
        }
    }

    pub(super) fn switch_away(self, thread: usize) {
        let unwinds = match self.get().counter {
            Some(counter) => counter.is_raised(),
            None => std::thread::panicking(),
        };
        if unwinds {
            self.switch_from_unwinding(thread);
        } else {
            self.suspend(thread);
        }
        if self.get().ending {
            unwind_at_end();
        }
    }

    #[inline(always)]
    fn suspend(self, thread: usize) {
        let yielder = self.get().slots[thread].yielder;
        // SAFETY: the yielder is that of the coroutine which runs now, and lives on its stack.
        unsafe { (*yielder).suspend(()) };
    }

    /// Switches away from the current thread, which unwinds: the other threads do not, and it goes on with its
    /// unwinding in its next turn.
    #[cold]
    #[inline(never)]
    fn switch_from_unwinding(self, thread: usize) {
        let Some(counter) = self.get().counter else {
            self.refuse_to_switch();
            return;
        };
        counter.swap(&mut self.get().slots[thread].panics);
        self.suspend(thread);
        counter.swap(&mut self.get().slots[thread].panics);
    }

    /// The current thread would have to be switched away from while it unwinds, and it isn't known where std counts its
    /// panics: the execution is given up, and the thread goes on alone.
    #[cold]
    fn refuse_to_switch(self) {
        let state = self.get();
        let site = state.slots[state.current].site;
        if let Some(site) = site {
            self.give_up_soon("threads would be switched while one unwinds, and the executable doesn't tell where std counts panics", site);
        }
        let state = self.get();
        state.next = None;
        state.outcome = Outcome::Truncated;
        state.ending = true;
    }

    /// The execution is over, and the thread would go on, since it has unwound, or the program has caught the payload
    /// that ends it.
    pub(super) fn stay_ended(self) {
        let state = self.get();
        if !state.ending || std::thread::panicking() {
            return;
        }
        match state.at_end {
            AtEnd::Forgets => {
                state.next = None;
                self.switch_away(state.current);
            }
            AtEnd::Unwinds => std::panic::resume_unwind(Box::new(Ended)),
        }
    }

    /// Tells the scheduler what has been done without asking it: the thread goes on, since the next event belongs to the
    /// same step.
    pub(super) fn flush(self) {
        let inside = leave_program();
        self.tell();
        inside.leave();
    }
}
