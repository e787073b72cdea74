//! What goes wrong in executions.

use seqz_explore::threads::ThreadSet;
use seqz_explore::{Kind, Outcome, Pending};

use super::arena::leave_program;
use super::state::{Handle, State};
use super::threads::Panic;
use crate::engine::{Place, Site};
pub use crate::worker::message::FailureKind;

/// A failure of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind.
    pub kind: FailureKind,
    /// What the program said, or what is wrong.
    pub message: String,
    /// Where: the panic, or what the first of the waiting threads waits for.
    pub place: Option<Place>,
    /// Whose panic; the first of the waiting threads.
    pub thread: seqz_explore::Thread,
    /// For threads that wait: who, for what, and where.
    pub waiting: Vec<(seqz_explore::Thread, Pending, Option<Place>)>,
    /// How many events came before.
    pub events: usize,
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
        // Who waits for a lock says more than who waits to be notified, and that more than who waits for a thread.
        let says = |kind| match kind {
            Kind::Lock | Kind::LockShared => 0,
            Kind::Wake => 1,
            _ => 2,
        };
        let first = waiting
            .iter()
            .min_by_key(|(_, pending, _)| says(pending.kind));
        let Some((thread, pending, place)) = first.cloned() else {
            return;
        };
        let (kind, message) = if parked {
            (
                FailureKind::Livelock,
                "threads wait for something that no thread does any more",
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
        });
    }
}

impl Handle {
    pub(super) fn note_panic(self, thread: usize) {
        let state = self.get();
        let inside = leave_program();
        if !state.ending {
            let (message, place, events) = match state.slots[thread].panic.take() {
                Some(panic) => (panic.message, Some(panic.place), panic.events),
                None => {
                    let message = "the thread was unwound without a panic message".to_owned();
                    (message, None, state.events())
                }
            };
            state.failures.push(Failure {
                kind: FailureKind::Panic,
                message,
                place,
                thread: u8::try_from(thread).unwrap_or(0),
                waiting: Vec::new(),
                events,
            });
        }
        inside.leave();
    }

    /// Keeps a panic's message until the panic reaches the top of its thread.
    pub(crate) fn note_message(self, message: String, place: Place) {
        let state = self.get();
        let thread = state.current;
        let events = state.events();
        state.slots[thread].panic = Some(Panic {
            message,
            place,
            events,
        });
    }

    /// The program has done what the machine cannot follow: the execution is ended when the next event is due.
    pub(crate) fn give_up_soon(self, message: &str, site: Site) {
        let state = self.get();
        let refusal = super::arena::outside(|| (message.to_owned(), site));
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
