//! What happens without a reason, and is a thread in a schedule, told as what it is.

use seqz_runtime::vocabulary::REASONLESS;

use crate::model::document::Thread;
use crate::model::schedule::{Action, Event};

/// What a thread does that wakes, or whose exchange fails, without a reason.
pub(super) const GOES_ON: &str = "goes on without a reason";

/// What happens without a reason, in a schedule: it is a thread there, which gives the others leave to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reasonless {
    thread: Option<u32>,
    object: Option<u32>,
}

/// Returns the number of threads of the program, of which what happens without a reason is none.
pub(super) fn threads(all: &[Option<Thread>]) -> u64 {
    let of_program = |thread: &&Thread| thread.name.as_deref() != Some(REASONLESS);
    all.iter().flatten().filter(of_program).count() as u64
}

impl Reasonless {
    pub(super) fn of(events: &[Event], threads: &[Option<Thread>]) -> Self {
        let is_it = |thread: &Option<Thread>| {
            let name = thread.as_ref().and_then(|thread| thread.name.as_deref());
            name == Some(REASONLESS)
        };
        let thread = threads.iter().position(is_it);
        let thread = thread.and_then(|number| u32::try_from(number).ok());
        let mut gives = events
            .iter()
            .filter(|event| Some(event.thread) == thread && event.action == Action::Update);
        Self {
            thread,
            object: gives.next().map(|event| event.object),
        }
    }

    /// Whether the event shows nothing of the program.
    pub(super) fn hides(self, event: &Event) -> bool {
        let is_its = self.thread == Some(event.thread)
            || event.action == Action::Fork && self.thread == Some(event.object);
        let in_vain = self.object == Some(event.object) && event.action == Action::FailedUpdate;
        is_its || in_vain
    }

    /// Returns the number of events that show something of the program.
    pub(super) fn told(self, events: &[Event]) -> u64 {
        events.iter().filter(|event| !self.hides(event)).count() as u64
    }

    /// Whether the thread goes on without a reason.
    pub(super) fn is_it(self, event: &Event) -> bool {
        self.object == Some(event.object) && event.action == Action::Update
    }
}
