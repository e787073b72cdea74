//! What events of written schedules do.

use std::fmt;

use crate::wire;

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
    /// Attempts an update. Used only for an event that has been announced, and is not known to have been done.
    CompareExchange,
    /// Attempts an update and finds another value.
    FailedUpdate,
    /// Takes a lock exclusively.
    Lock,
    /// Attempts to take a lock exclusively, with success.
    TryLock,
    /// Attempts to take a lock exclusively, and finds the lock taken.
    TryLockFailed,
    /// Gives a lock back.
    Unlock,
    /// Takes a lock in a mode that other threads may share.
    LockShared,
    /// Attempts to take a lock in a mode that other threads may share, with success.
    TryLockShared,
    /// Attempts to take a lock in a mode that other threads may share, and finds the lock taken.
    TryLockSharedFailed,
    /// Gives a shared lock back.
    UnlockShared,
    /// Starts a thread.
    Fork,
    /// The thread begins.
    Begin,
    /// The thread ends.
    End,
    /// Waits for a thread to end.
    Join,
    /// Begins to wait to be notified.
    Wait,
    /// Ends its wait to be notified.
    Wake,
    /// Notifies threads that wait.
    Notify,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

wire!(Action { 0 = Local, 1 = Read, 2 = Write, 3 = Update, 4 = CompareExchange, 5 = FailedUpdate, 6 = Lock, 7 = TryLock, 8 = TryLockFailed, 9 = Unlock, 10 = LockShared, 11 = TryLockShared, 12 = TryLockSharedFailed, 13 = UnlockShared, 14 = Fork, 15 = Begin, 16 = End, 17 = Join, 18 = Wait, 19 = Wake, 20 = Notify });
