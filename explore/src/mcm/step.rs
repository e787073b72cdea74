//! An event of a trace in a maximal causal model, with what the event's thread observes.

use crate::event::{Kind, Site};
use crate::hash::mix;
use crate::observation::Test;

/// One event of the trace.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// What the event did in the trace.
    pub kind: Kind,
    /// The dense number of the object within the model; for fork and join, the other thread's. Meaningless for an event
    /// without an object.
    pub object: u32,
    /// The hash of the object's value before the event.
    pub found: u64,
    /// The hash of the object's value after the event.
    pub left: u64,
    /// What the thread learns of [`Self::found`], if the thread learns less than the value.
    pub test: Option<Test>,
    /// Whether the event repeats the thread's read before it, and is enabled only once the object has been modified since
    /// that read.
    pub parked: bool,
    /// Whether the event is a wake from a wait that may time out.
    pub timed: bool,
    /// Whether the event has a transition: see [`Model::transition`](super::model::Model::transition).
    pub moves: bool,
    /// For the event after an idle turn of a loop that waits: the index of the turn's first event in its lane, else
    /// [`Step::ALWAYS`]. The thread comes to the event only if another one has failed to take a lock during the turn that the
    /// turn held: see [`Learned::refusing`](crate::executor::Learned::refusing).
    pub refused_since: u32,
    /// Where in the program.
    pub site: Site,
    /// The event's position in the trace, from 0.
    pub at: u32,
}

/// Under which terms an event could be next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// See [`Step::parked`].
    pub parked: bool,
    /// See [`Step::timed`].
    pub timed: bool,
}

impl Step {
    /// Whether the thread learns something of the object's value by this event.
    #[inline]
    #[must_use]
    pub const fn observes_value(&self) -> bool {
        matches!(
            self.kind,
            Kind::Read
                | Kind::Update
                | Kind::FailedUpdate
                | Kind::CompareExchange
                | Kind::Lock
                | Kind::LockShared
                | Kind::TryLock
                | Kind::TryLockShared
        )
    }

    /// Whether the thread's way may depend on when it happens, or whether it may have to wait: the events that a
    /// thread's history is made of. All others follow from those before them.
    #[must_use]
    pub const fn observes(&self) -> bool {
        self.observes_value()
            || matches!(
                self.kind,
                Kind::TryLockFailed | Kind::TryLockSharedFailed | Kind::Wake | Kind::Join
            )
            || self.attempts()
    }

    /// Whether it is an attempt at something that depends on how its object stands, and sees what comes of it.
    #[must_use]
    pub const fn attempts(&self) -> bool {
        self.moves
            && match self.kind {
                Kind::Wait => true,
                Kind::Notify => self.found != 0,
                _ => false,
            }
    }

    /// Whether it attempts to take a lock, and does not wait.
    #[must_use]
    pub const fn tries(&self) -> bool {
        matches!(
            self.kind,
            Kind::TryLock | Kind::TryLockShared | Kind::TryLockFailed | Kind::TryLockSharedFailed
        )
    }

    /// Whether it may change its object's value, wherever it stands. An update or a block of a lock that leaves what it
    /// found does so in every execution of the model, since it has to find the same.
    #[inline]
    #[must_use]
    pub const fn leaves_value(&self) -> bool {
        match self.kind {
            Kind::Write => true,
            Kind::Update | Kind::Unlock => self.found != self.left,
            _ => false,
        }
    }

    /// Returns what the thread would observe if the event found this value.
    #[inline]
    #[must_use]
    pub fn view(&self, value: u64) -> u64 {
        match &self.test {
            None => value,
            Some(test) => test.observe(value),
        }
    }

    /// Whether the thread would observe the same as in the trace if the event found this value.
    #[inline]
    #[must_use]
    pub fn admits(&self, value: u64) -> bool {
        value == self.found
            || self
                .test
                .as_ref()
                .is_some_and(|test| test.observe(value) == test.observe(self.found))
    }

    /// Returns what the thread observed, as a hash; 0 for events that observe nothing.
    #[must_use]
    pub fn observation(&self) -> u64 {
        match self.kind {
            Kind::TryLockFailed | Kind::TryLockSharedFailed => Self::REFUSED,
            Kind::Wake => Self::notified(self.found == Self::NOTIFIED),
            Kind::Join => mix(6, 1),
            _ if self.attempts() => Self::came(self.found),
            _ if self.observes_value() => self.seen(self.view(self.found)),
            _ => 0,
        }
    }

    /// The observation of a refused attempt.
    pub const REFUSED: u64 = mix(4, 1);

    /// The observation of a wait that was notified, or was not.
    #[must_use]
    pub const fn notified(notified: bool) -> u64 {
        mix(5, notified as u64)
    }

    /// The observation of an attempt of which this has come.
    #[must_use]
    pub const fn came(outcome: u64) -> u64 {
        mix(8, outcome)
    }

    /// The observation of a value of which the thread learns this.
    #[must_use]
    pub const fn seen(&self, view: u64) -> u64 {
        let tag = match self.kind {
            Kind::Lock | Kind::LockShared => 2,
            Kind::TryLock | Kind::TryLockShared => 3,
            Kind::TryLockFailed | Kind::TryLockSharedFailed => 3,
            _ if self.test.is_some() => 7,
            _ => 1,
        };
        mix(tag, view)
    }

    /// [`Self::refused_since`] of an event that does not depend on that.
    pub const ALWAYS: u32 = u32::MAX;

    /// [`Self::left`] of a notification of all waiters.
    pub const ALL: u64 = 1;
    /// [`Self::found`] of a wake that has been notified.
    pub const NOTIFIED: u64 = 1;
}
