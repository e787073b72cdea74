//! Schedules of the original program, as data.

use serde::{Deserialize, Serialize};

use super::document::Site;

/// One event of a schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Which thread, by number; 0 is the harness's own.
    pub thread: u32,
    /// What it does.
    pub action: Action,
    /// To which variable, lock or thread, by number.
    pub object: u32,
    /// The variable's short name, where there is one.
    pub variable: Option<String>,
    /// Where.
    pub site: Option<Site>,
}

/// What an event does. The names are those that workers use, and so part of what is replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Nothing that another thread could see: a yield, a print.
    Local,
    /// Reads a variable.
    Read,
    /// Writes a variable.
    Write,
    /// Reads and writes a variable in one indivisible step.
    Update,
    /// Attempts an update; the program died before it could say with what success.
    CompareExchange,
    /// Attempts an update and finds another value.
    FailedUpdate,
    /// Takes a lock for itself alone.
    Lock,
    /// Attempts to take a lock for itself alone, with success.
    TryLock,
    /// Attempts to take a lock for itself alone, and finds it taken.
    TryLockFailed,
    /// Gives a lock back.
    Unlock,
    /// Takes a lock that others may share.
    LockShared,
    /// Attempts to take a lock that others may share, with success.
    TryLockShared,
    /// Attempts to take a lock that others may share, and finds it taken.
    TryLockSharedFailed,
    /// Gives a shared lock back.
    UnlockShared,
    /// Starts a thread.
    Fork,
    /// Begins.
    Begin,
    /// Ends.
    End,
    /// Waits for a thread to end.
    Join,
    /// Begins to wait to be notified.
    Wait,
    /// Ends to wait.
    Wake,
    /// Notifies those that wait.
    Notify,
}

impl Action {
    /// All of them.
    pub const ALL: [Self; 21] = [
        Self::Local,
        Self::Read,
        Self::Write,
        Self::Update,
        Self::CompareExchange,
        Self::FailedUpdate,
        Self::Lock,
        Self::TryLock,
        Self::TryLockFailed,
        Self::Unlock,
        Self::LockShared,
        Self::TryLockShared,
        Self::TryLockSharedFailed,
        Self::UnlockShared,
        Self::Fork,
        Self::Begin,
        Self::End,
        Self::Join,
        Self::Wait,
        Self::Wake,
        Self::Notify,
    ];

    /// The one that workers call so.
    #[must_use]
    pub fn named(name: &str) -> Self {
        let mut all = Self::ALL.into_iter();
        all.find(|action| action.name() == name)
            .unwrap_or(Self::Local)
    }

    /// What workers call it.
    #[must_use]
    pub fn name(self) -> String {
        format!("{self:?}")
    }

    /// Whether it is waiting to be notified, or notifying.
    #[must_use]
    pub const fn is_waiting(self) -> bool {
        matches!(self, Self::Wait | Self::Wake | Self::Notify)
    }

    /// Whether it is done to a variable or a lock.
    #[must_use]
    pub const fn has_variable(self) -> bool {
        !matches!(
            self,
            Self::Local | Self::Fork | Self::Begin | Self::End | Self::Join
        )
    }
}

/// Whether a bug that was found in the sequential program is there when the original program is run in the same order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Confirmation {
    /// It is.
    Confirmed {
        /// All events of that run, in order.
        schedule: Vec<Event>,
    },
    /// The original program went another way: a fault of seqz.
    Diverged {
        /// What differs.
        difference: String,
        /// The events up to there.
        schedule: Vec<Event>,
    },
    /// The order was kept to its end, and the bug is not there: a fault of seqz.
    Absent {
        /// All events of that run, in order.
        schedule: Vec<Event>,
    },
    /// The program died before there was anything to run again.
    NotTried,
}

impl Confirmation {
    /// Whether the bug is shown to be none.
    #[must_use]
    pub const fn refutes(&self) -> bool {
        matches!(self, Self::Diverged { .. } | Self::Absent { .. })
    }

    /// The events of the run, if there was one.
    #[must_use]
    pub fn schedule(&self) -> &[Event] {
        match self {
            Self::Confirmed { schedule }
            | Self::Diverged { schedule, .. }
            | Self::Absent { schedule } => schedule,
            Self::NotTried => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_called_as_workers_call_them() {
        for action in Action::ALL {
            assert_eq!(Action::named(&action.name()), action);
        }
        assert_eq!(Action::TryLockSharedFailed.name(), "TryLockSharedFailed");
    }
}
