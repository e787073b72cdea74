//! The kinds of faults.

use crate::message;

message! {
    /// What kind of fault a bug is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum BugKind {
        /// A panic reached the top of a thread: a failed assertion, an overflow, an index out of bounds, …
        Panic,
        /// Threads wait for each other, or one waits for itself.
        Deadlock,
        /// Two accesses to the same plain data, at least one of them a write, with nothing that orders them.
        DataRace,
        /// A panic reached the top of a thread that no thread joined.
        Detached,
        /// What the harness returns is a failure, or the harness should have panicked, and did not. This failure has no
        /// place.
        Result,
        /// The program ended its process with `exit`.
        Exit,
        /// The program aborted its process.
        Abort,
    }
}

message! {
    /// What kind of failure an execution had.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum FailureKind {
        /// A panic reached the top of a thread.
        Panic,
        /// Threads are left that wait for each other.
        Deadlock,
        /// Threads are left that look again and again at something that no thread will change.
        Livelock,
        /// Two accesses to the same plain data, at least one of them a write, with nothing that orders them.
        DataRace,
        /// A panic reached the top of a thread that no thread joined.
        Detached,
        /// What the harness returns is a failure, or the harness should have panicked, and did not.
        Result,
        /// The program ended its process with `exit`.
        Exit,
        /// The program aborted its process.
        Abort,
        /// Memory was accessed after it had been given back.
        UseAfterFree,
        /// Memory was given back that did not live.
        InvalidFree,
    }
}
