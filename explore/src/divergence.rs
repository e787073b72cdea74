//! Programs that are not deterministic under their schedules.

use std::fmt;

use crate::event::{Event, Kind, Pending, Thread};
use crate::executor::View;

/// An execution went another way than an earlier one with the same picks: the program is not deterministic under its
/// schedule, so no count or promise of a search would be true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The index of the first event that differs, from 0.
    pub position: usize,
    /// How the two executions differ at this event.
    pub difference: Difference,
}

impl Divergence {
    /// Whether an execution that is run again does what it did.
    pub(crate) fn check(position: usize, expected: &Event, found: &Event) -> Result<(), Self> {
        let values = match expected.kind {
            // The values may differ: other events that commute with this one may come before it in one execution only.
            Kind::Add | Kind::Upgrade => true,
            Kind::Take => (expected.left == 0) == (found.left == 0),
            _ => expected.found == found.found && expected.left == found.left,
        };
        let same = expected.thread == found.thread
            && expected.kind == found.kind
            && expected.object == found.object
            && values;
        if same {
            return Ok(());
        }
        Err(Self {
            position,
            difference: Difference::OtherEvent {
                thread: found.thread,
                expected: expected.kind,
                found: found.kind,
            },
        })
    }

    /// Whether a thread can do, and has announced, what it announced in an earlier execution.
    pub(crate) fn check_announced(
        position: usize,
        thread: Thread,
        expected: &Pending,
        view: &View<'_>,
    ) -> Result<(), Self> {
        let found = view.of(thread);
        let difference = if !view.enabled.contains(thread) {
            Difference::NotEnabled(thread)
        } else if found.kind != expected.kind || found.object != expected.object {
            Difference::OtherEvent {
                thread,
                expected: expected.kind,
                found: found.kind,
            }
        } else {
            return Ok(());
        };
        Err(Self {
            position,
            difference,
        })
    }
}

/// In what two executions with the same picks differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The thread to run is not enabled.
    NotEnabled(Thread),
    /// Another set of threads is enabled.
    OtherEnabled,
    /// The thread did something else.
    OtherEvent {
        /// The thread.
        thread: Thread,
        /// What the thread did in the earlier execution.
        expected: crate::event::Kind,
        /// What the thread did in this execution.
        found: crate::event::Kind,
    },
}

// Written by hand: workers build this crate without any other.
impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            position,
            difference,
        } = self;
        write!(
            f,
            "event {position}: an execution with the same schedule went another way ({difference})"
        )
    }
}

impl std::error::Error for Divergence {}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotEnabled(thread) => write!(f, "thread {thread} is not enabled"),
            Self::OtherEnabled => f.write_str("other threads are enabled"),
            Self::OtherEvent {
                thread,
                expected,
                found,
            } => write!(
                f,
                "thread {thread} did {found:?} where it did {expected:?} before"
            ),
        }
    }
}

impl std::error::Error for Difference {}
