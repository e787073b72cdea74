//! Schedules of the original program, as data.

use serde::{Deserialize, Serialize};

use seqz_runtime::vocabulary;

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

/// What an event does.
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

/// What workers call by a type of their own: the names in files do not change with it.
macro_rules! counterparts {
    ($($name:ident),* $(,)?) => {
        impl Action {
            /// All of them.
            pub const ALL: [Self; [$(stringify!($name)),*].len()] = [$(Self::$name),*];
        }

        impl From<vocabulary::Action> for Action {
            fn from(action: vocabulary::Action) -> Self {
                match action {
                    $(vocabulary::Action::$name => Self::$name,)*
                }
            }
        }

        impl From<Action> for vocabulary::Action {
            fn from(action: Action) -> Self {
                match action {
                    $(Action::$name => Self::$name,)*
                }
            }
        }
    };
}

counterparts!(
    Local,
    Read,
    Write,
    Update,
    CompareExchange,
    FailedUpdate,
    Lock,
    TryLock,
    TryLockFailed,
    Unlock,
    LockShared,
    TryLockShared,
    TryLockSharedFailed,
    UnlockShared,
    Fork,
    Begin,
    End,
    Join,
    Wait,
    Wake,
    Notify,
);

impl Action {
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
    fn actions_come_back_from_workers() {
        for action in Action::ALL {
            assert_eq!(Action::from(vocabulary::Action::from(action)), action);
        }
    }
}
