//! Executions in which a reader waits for ever behind a writer that waits: see [`seqz_explore::behind_writers`].
//!
//! These executions are made beside those of a search, from its executions, and the search does not count them.

use std::cell::Cell;
use std::collections::VecDeque;

use seqz_explore::behind_writers::{Prefix, may_be_left_out, prefixes, tried_beside};
use seqz_explore::{Event, Executor, Kind, Outcome, Pending, Pick, Scheduler, Thread, View};

use super::machine::Machine;

thread_local! {
    /// Set by a scheduler that wants readers to wait behind writers from here on. A scheduler that gives up when it
    /// sets this is asked again.
    pub(super) static WRITERS_FIRST: Cell<bool> = const { Cell::new(false) };
}

/// A scheduler that runs what can run of a prefix, and then lets writers go first.
struct Run {
    left: VecDeque<Thread>,
}

impl Scheduler for Run {
    fn pick(&mut self, view: &View<'_>) -> Pick {
        if self.left.is_empty() {
            return Pick::Run(view.unpreempted());
        }
        let next = self
            .left
            .iter()
            .position(|&next| view.enabled.contains(next));
        match next.and_then(|at| self.left.remove(at)) {
            Some(thread) => {
                if self.left.is_empty() {
                    WRITERS_FIRST.set(true);
                }
                Pick::Run(thread)
            }
            None => {
                self.left.clear();
                WRITERS_FIRST.set(true);
                Pick::Abandon
            }
        }
    }

    fn ran(&mut self, _event: &Event) {}

    fn blocked(&mut self, _view: &View<'_>) {}
}

/// The readers and writers of this kind that a search has found.
#[derive(Debug, Default)]
pub struct Known {
    /// The places of a reader and the writer that it waits behind, as numbers of sites.
    found: Vec<(u32, u32)>,
}

impl Machine<'_> {
    /// The prefixes of the latest execution after which a reader may wait for ever behind a writer, but for those that are
    /// `known` to be.
    #[must_use]
    pub fn behind_writers(&self, known: &Known) -> Vec<Prefix> {
        if !self.state.has_shared_holders || self.state.writers_first || !self.state.settings.trace
        {
            return Vec::new();
        }
        let (events, waiting) = self.operations();
        let mut all = prefixes(&events, &waiting, false);
        if self.state.settings.values {
            all.append(&mut prefixes(&events, &waiting, true));
            all.dedup();
        }
        all.retain(|prefix| !known.found.contains(&prefix.sites));
        all
    }

    /// The events of the latest execution, and what threads wait for at its end.
    fn operations(&self) -> (Vec<Event>, Vec<(Thread, Pending)>) {
        let events = self.trace().iter().map(|traced| traced.event).collect();
        let failures = self.failures().iter();
        let waiting = failures
            .flat_map(|failure| &failure.waiting)
            .map(|(thread, pending, _)| (*thread, *pending))
            .collect();
        (events, waiting)
    }

    /// Whether, in an order of the latest execution's operations that a search over values leaves out, a reader might wait
    /// for ever behind a writer.
    #[must_use]
    pub fn may_leave_out_behind_writers(&self) -> bool {
        let shares = |event: &Event| event.kind == Kind::LockShared;
        if !self.trace().iter().any(|traced| shares(&traced.event)) {
            return false;
        }
        let (events, waiting) = self.operations();
        may_be_left_out(&events, &waiting)
    }

    /// Whether an attempt to read has succeeded in the latest execution, or in an order of its operations that a search over
    /// values leaves out, that may fail since a writer waits.
    #[must_use]
    pub fn leaves_tries_open(&self) -> bool {
        let tries = |event: &Event| event.kind == Kind::TryLockShared;
        if !self.trace().iter().any(|traced| tries(&traced.event)) {
            return false;
        }
        let (events, waiting) = self.operations();
        let values = self.state.settings.values;
        tried_beside(&events, &waiting, false) || values && tried_beside(&events, &waiting, true)
    }

    /// Runs such a prefix. Returns whether all threads that are left then wait for ever.
    pub fn run_behind_writers(&mut self, prefix: &Prefix, known: &mut Known) -> bool {
        let mut run = Run {
            left: prefix.threads.iter().copied().collect(),
        };
        let end = self.run(&mut run);
        let blocked = end.outcome == Outcome::Blocked;
        if blocked {
            known.found.push(prefix.sites);
        }
        blocked
    }
}
