//! What events of written schedules do.

use std::fmt;

/// What an event of a written schedule does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Nothing that another thread could see: a yield, a print.
    Local,
    /// Reads an object.
    Read,
    /// Writes an object.
    Write,
    /// Reads and writes an object in one step.
    Update,
    /// Attempts an update. Only of what has been announced and is not known to have been done.
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

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
