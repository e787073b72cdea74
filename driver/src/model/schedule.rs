//! Schedules of the original program, as data.

use serde::{Deserialize, Serialize};

use seqz_runtime::vocabulary::{self, Kind};

use super::apart::Uses;
use super::document::Site;

/// One event of a schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// The number of the thread; 0 is the harness's own.
    pub thread: u32,
    /// The action of the event.
    pub action: Action,
    /// The number of the variable, lock or thread that the action is about.
    pub object: u32,
    /// The variable's short name, where there is one.
    pub variable: Option<String>,
    /// The place of the event.
    pub site: Option<Site>,
    /// Under weak memory, of an event that reads: the number of the event of this schedule that wrote what it reads, from 1;
    /// 0 for what the variable began with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saw: Option<u32>,
}

/// Declares the actions, and makes them the counterparts of the kinds that workers tell: the names in files stay the same
/// when that type changes.
macro_rules! actions {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The action of an event.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Action {
            $($(#[$doc])* $name,)*
        }

        impl Action {
            /// All actions.
            pub const ALL: [Self; [$(stringify!($name)),*].len()] = [$(Self::$name),*];
        }

        impl From<Kind> for Action {
            fn from(kind: Kind) -> Self {
                match kind {
                    $(Kind::$name => Self::$name,)*
                    // What commutes with what is nothing to a reader of the schedule.
                    Kind::Add | Kind::Take | Kind::Upgrade => Self::Update,
                }
            }
        }

        impl From<Action> for Kind {
            fn from(action: Action) -> Self {
                match action {
                    $(Action::$name => Self::$name,)*
                }
            }
        }
    };
}

actions! {
    /// Does nothing that another thread could see, such as a yield or a print.
    Local,
    /// Reads a variable.
    Read,
    /// Writes a variable.
    Write,
    /// Reads and writes a variable in one indivisible step.
    Update,
    /// Attempts an update; the program died before it could tell whether the update succeeded.
    CompareExchange,
    /// Attempts an update and finds another value.
    FailedUpdate,
    /// Takes a lock exclusively.
    Lock,
    /// Attempts to take a lock exclusively, and succeeds.
    TryLock,
    /// Attempts to take a lock exclusively, and finds it taken.
    TryLockFailed,
    /// Gives a lock back.
    Unlock,
    /// Takes a lock that other threads may share.
    LockShared,
    /// Attempts to take a lock that other threads may share, and succeeds.
    TryLockShared,
    /// Attempts to take a lock that other threads may share, and finds it taken.
    TryLockSharedFailed,
    /// Gives a shared lock back.
    UnlockShared,
    /// Starts a thread.
    Fork,
    /// Begins: the first event of a thread.
    Begin,
    /// Ends: the last event of a thread.
    End,
    /// Waits for a thread to end.
    Join,
    /// Begins to wait to be notified.
    Wait,
    /// Ends the wait.
    Wake,
    /// Notifies waiting threads.
    Notify,
    /// A fence.
    Fence,
}

impl Uses for Event {
    fn taken(&self) -> Option<u32> {
        let takes = matches!(
            self.action,
            Action::Lock | Action::TryLock | Action::LockShared | Action::TryLockShared
        );
        takes.then_some(self.object)
    }

    fn object(&self) -> Option<u32> {
        self.action.has_variable().then_some(self.object)
    }

    fn name(&mut self) -> &mut Option<String> {
        &mut self.variable
    }
}

impl Action {
    /// Whether the action is a wait for a notification, or a notification.
    #[must_use]
    pub const fn is_waiting(self) -> bool {
        matches!(self, Self::Wait | Self::Wake | Self::Notify)
    }

    /// Whether the action is done to a variable or a lock.
    #[must_use]
    pub const fn has_variable(self) -> bool {
        !matches!(
            self,
            Self::Local | Self::Fork | Self::Begin | Self::End | Self::Join | Self::Fence
        )
    }
}

/// What a thread waits for that others have to wake up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Awaited {
    /// To be notified, on a condition variable.
    #[default]
    Notification,
    /// To be unparked.
    Unpark,
    /// Other threads at a barrier.
    Arrival,
    /// The end of an initialization.
    Initialization,
    /// A message.
    Message,
    /// Room for a message, or a receiver.
    Room,
    /// The handle of a scoped thread, at the scope's end.
    Handle,
}

impl From<vocabulary::Awaited> for Awaited {
    fn from(awaited: vocabulary::Awaited) -> Self {
        match awaited {
            vocabulary::Awaited::Notification => Self::Notification,
            vocabulary::Awaited::Unpark => Self::Unpark,
            vocabulary::Awaited::Arrival => Self::Arrival,
            vocabulary::Awaited::Initialization => Self::Initialization,
            vocabulary::Awaited::Message => Self::Message,
            vocabulary::Awaited::Room => Self::Room,
            vocabulary::Awaited::Handle => Self::Handle,
        }
    }
}

/// Whether a bug of the sequential program is there when the original program is run in the same order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Confirmation {
    /// The bug is there.
    Confirmed {
        /// All events of that run, in order.
        schedule: Vec<Event>,
    },
    /// The original program went another way, which is a fault of seqz.
    Diverged {
        /// The difference between the two runs, in words.
        difference: String,
        /// The events up to the difference.
        schedule: Vec<Event>,
    },
    /// The order was kept to its end, and the bug is not there, which is a fault of seqz.
    Absent {
        /// All events of that run, in order.
        schedule: Vec<Event>,
    },
    /// The program died before there was anything to run again.
    NotTried,
}

impl Confirmation {
    /// Whether the original program refutes the bug.
    #[must_use]
    pub const fn refutes(&self) -> bool {
        matches!(self, Self::Diverged { .. } | Self::Absent { .. })
    }

    /// Returns the events of the run, if there was one.
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
            assert_eq!(Action::from(Kind::from(action)), action);
        }
        for kind in Kind::ALL {
            assert_eq!(Kind::from(Action::from(kind)), kind.plain());
        }
    }
}
