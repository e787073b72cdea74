//! The failures of executions.

use std::any::Any;

use seqz_explore::threads::ThreadSet;
use seqz_explore::{Kind, Outcome, Pending};

use super::loops::Idle;
use super::running::AtEnd;
use super::state::{Handle, State, current};
use super::threads::Stage;
use crate::ending::Verdict;
use crate::ending::{Destructor, Leaving};
use crate::judge::{End, Extent, Panics};
use crate::vocabulary::{FailureKind, Place, Site};

/// A failure of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The kind of failure.
    pub kind: FailureKind,
    /// The panic's message, or a sentence on what is wrong.
    pub message: String,
    /// The place of the panic, or of what the first of the waiting threads waits for.
    pub place: Option<Place>,
    /// The thread that panicked, or the first of the waiting threads.
    pub thread: seqz_explore::Thread,
    /// The threads that wait, each with the operation that it waits for and the place of that.
    pub waiting: Vec<(seqz_explore::Thread, Pending, Option<Place>)>,
    /// The number of events of the execution before the failure.
    pub events: usize,
    /// Whether this is a panic whose thread the harness may have been about to join when another failure kept it from
    /// that: it is not known whether the harness would have handled the panic.
    pub bystander: bool,
    /// The places of the panics that this failure follows from: where one of them is a failure, this one tells nothing
    /// more.
    pub follows: Vec<Place>,
}

impl State {
    pub(super) fn note_blocked(&mut self, live: ThreadSet) {
        let parked = !live.intersection(self.parked).is_empty();
        let waiting: Vec<_> = live
            .iter()
            .map(|thread| {
                let at = usize::from(thread);
                if self.parked.contains(thread)
                    && let Some((pending, site)) = self.looks_at(thread)
                {
                    return (thread, pending, Some(Place::from(site)));
                }
                (
                    thread,
                    self.pending[at],
                    self.slots[at].site.map(Place::from),
                )
            })
            .collect();
        // A thread that waits for a lock tells more than one that waits to be notified, and that more than one that
        // waits for a thread.
        let says = |kind| match kind {
            Kind::Lock | Kind::LockShared => 0,
            Kind::Wake => 1,
            _ => 2,
        };
        let mut first = waiting.iter().find(|(thread, pending, _)| {
            matches!(pending.kind, Kind::Lock | Kind::LockShared)
                && self.objects.holders(pending.object).exclusive == u16::from(*thread) + 1
        });
        let waits_for_itself = first.is_some();
        if first.is_none() {
            let all = waiting.iter();
            first = all.min_by_key(|(_, pending, _)| says(pending.kind));
        }
        let Some((thread, pending, place)) = first.cloned() else {
            return;
        };
        let (kind, message) = if parked {
            (
                FailureKind::Livelock,
                "threads wait for something that no thread does any more",
            )
        } else if waits_for_itself {
            (
                FailureKind::Deadlock,
                "a thread waits for a lock that it holds itself",
            )
        } else if pending.kind == Kind::Wake {
            (
                FailureKind::Deadlock,
                "threads wait for a notification that no thread gives any more",
            )
        } else if waiting.iter().any(|(_, pending, _)| {
            pending.kind == Kind::LockShared && self.objects.holders(pending.object).exclusive == 0
        }) {
            (
                FailureKind::Deadlock,
                "threads wait for each other: one waits to read until another one has written, which waits for a reader",
            )
        } else {
            (FailureKind::Deadlock, "threads wait for each other")
        };
        self.failures.push(Failure {
            kind,
            message: message.to_owned(),
            place,
            thread,
            waiting,
            events: self.steps as usize,
            bystander: false,
            follows: Vec::new(),
        });
    }

    /// Whether the execution is whole, or threads would have gone on.
    fn extent(&self) -> Extent {
        match self.outcome {
            Outcome::Completed | Outcome::Blocked => Extent::Whole,
            // Where idle turns of loops are not told apart, only the bound shows which threads wait for ever.
            Outcome::Truncated if self.settings.idle == Idle::GoesOn => Extent::Whole,
            Outcome::Waiting | Outcome::Truncated | Outcome::Abandoned => Extent::Left,
        }
    }

    /// The places of panics whose threads nobody joins.
    pub(super) fn detached(&self) -> Vec<Place> {
        let over = self.panics.over();
        if over.is_empty() {
            return Vec::new();
        }
        let counted = self.panics.judge(self.harness, self.extent());
        let detached = counted.iter().filter(|counted| counted.detached);
        let places = detached.map(|counted| over[counted.panic].raised.place.clone());
        places.flatten().collect()
    }

    /// The execution is over, as far as the program is concerned: the panics that count are failures.
    pub(super) fn conclude(&mut self) {
        let extent = self.extent();
        if self.harness == End::Open && extent == Extent::Whole {
            self.panics.stop();
        }
        if self.panics.over().is_empty() && self.failures.len() < 2 {
            return;
        }
        let mut counted = self.panics.judge(self.harness, extent);
        counted.retain(|counted| !(counted.detached && self.settings.ignore_detached_panics));
        let mut failures: Vec<_> = counted
            .iter()
            .map(|counted| {
                let over = &self.panics.over()[counted.panic];
                let kind = if counted.detached {
                    FailureKind::Detached
                } else {
                    FailureKind::Panic
                };
                Failure {
                    kind,
                    message: over.raised.message.clone(),
                    place: over.raised.place.clone(),
                    thread: u8::try_from(over.thread).unwrap_or(0),
                    waiting: Vec::new(),
                    events: over.raised.at,
                    bystander: counted.bystander,
                    follows: counted.follows.clone(),
                }
            })
            .collect();
        failures.append(&mut self.failures);
        // The failures that decide come first: a bystander's panic may have been meant to be handled.
        failures.sort_by_key(|failure| (failure.bystander, failure.events));
        self.failures = failures;
    }
}

impl Handle {
    /// A panic has reached the top of the current thread.
    pub(crate) fn note_panic(self) {
        let state = self.get();
        if !state.ending {
            let thread = u32::from(state.current_name());
            let events = state.events();
            state.panics.reach_the_top(thread, events);
        }
    }

    /// The harness is over.
    pub(super) fn harness_ended(self, how: Result<(), Box<dyn Any + Send>>) {
        let state = self.get();
        if state.ending {
            return;
        }
        state.harness = match how {
            Ok(()) => End::Passed,
            Err(payload) => match payload.downcast::<Verdict>() {
                Ok(verdict) => {
                    self.fail(FailureKind::Result, verdict.0, None);
                    End::Failed
                }
                Err(_) => {
                    self.note_panic();
                    End::Panicked
                }
            },
        };
    }

    /// Notes a failure of what the current thread does now.
    fn fail(self, kind: FailureKind, message: String, place: Option<Place>) {
        let state = self.get();
        let thread = state.current_name();
        let events = state.events();
        crate::memory::outside(|| {
            state.failures.push(Failure {
                kind,
                message: message.as_str().to_owned(),
                place: place.clone(),
                thread,
                waiting: Vec::new(),
                events,
                bystander: false,
                follows: Vec::new(),
            });
        });
    }

    /// A destructor of this kind has panicked: std aborts the process.
    pub(crate) fn die_of_a(self, destructor: Destructor) {
        let state = self.get();
        if state.ending {
            return;
        }
        let raised = state.panics.take(u32::from(state.current_name()));
        state.has_left = true;
        let message = destructor.message(&raised.message);
        self.fail(FailureKind::Abort, message, raised.place);
    }

    /// Calls `then` with the panics of the execution, the current thread and the number of events so far.
    pub(crate) fn with_panics<R>(self, then: impl FnOnce(&mut Panics, u32, usize) -> R) -> R {
        let state = self.get();
        let (thread, events) = (u32::from(state.current_name()), state.events());
        then(&mut state.panics, thread, events)
    }

    /// The harness is a program's `main`.
    pub(crate) fn is_main(self) {
        self.get().is_main = true;
    }

    /// The current thread ends the process. All that other threads do after this they could have done before, since
    /// this thread does nothing more: so they go on, but no thread can wait for this one to end. Returns where a
    /// thread that unwinds can't be left where it is.
    pub(crate) fn leave(self, how: Leaving, site: Site) {
        let state = self.get();
        if state.ending {
            self.stay_ended();
            return;
        }
        let can_be_left = state.at_end == AtEnd::Forgets && state.counter.is_some();
        if !can_be_left && std::thread::panicking() {
            return;
        }
        state.has_left = true;
        let kind = match how {
            Leaving::Exit(0) if state.is_main => None,
            Leaving::Exit(_) => Some(FailureKind::Exit),
            Leaving::Abort => Some(FailureKind::Abort),
        };
        if let Some(kind) = kind {
            self.fail(kind, how.message(), Some(site.into()));
        }
        let state = self.get();
        let thread = state.current;
        let starting = state.slots[thread].stage == Stage::Starting;
        state.slots[thread].stage = Stage::Gone;
        state.live.remove(state.current_name());
        state.stale = true;
        if !starting {
            self.decide();
        }
        self.switch_away(thread);
    }

    /// The program has done what the machine cannot follow: the execution is ended when the next event is due.
    pub(crate) fn give_up_soon(self, message: &str, site: Site) {
        let state = self.get();
        let refusal = crate::memory::outside(|| (message.to_owned(), site));
        state.unsupported.get_or_insert(refusal);
    }

    /// The program is about to do what the machine cannot follow.
    pub(super) fn give_up(self, message: &str, site: Site) {
        let state = self.get();
        state.unsupported = Some((message.to_owned(), site));
        state.next = None;
        state.outcome = Outcome::Truncated;
        let thread = state.current;
        self.switch_away(thread);
    }
}

/// Hears of a panic of the program that runs on this OS thread.
pub(super) fn hear(message: String, place: Place) {
    if let Some(machine) = current() {
        machine.with_panics(|panics, thread, events| {
            panics.raise(thread, &message, Some(place), events);
        });
    }
}
