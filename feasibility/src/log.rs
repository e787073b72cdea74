//! The event log ρ of a run of P̂ₖ: what both threads did to shared objects, in each thread's program order.
//!
//! Source: *Bounded-Interference Sequentialization for Testing Concurrent Programs* (Razavi, Farzan, Holzer), sections
//! 3 and 4.1. The log holds no global order: the [crate] decides whether a global order exists.
//!
//! Two things differ from the paper's text:
//! - An atomic read-modify-write is one event, [`Op::Update`]. A read-modify-write that leaves the value as it was is
//!   an [`Op::Read`]. So is the use of a guard that was borrowed mutably and gives back the value that it was taken
//!   with: a later read of that value sees the write before. (A plain store is a write whatever is there, since another
//!   thread's value may have been there in between.)
//! - The write that the paper injects before a non-local read is not an entry of its own. The read carries
//!   [`TEvent::source`] instead, the index of its paired write in the log of T'. The meaning is the paper's: the
//!   injected write opens an x-live block of T. It is no write of P, so it breaks no x-live block of T'.

use std::fmt;

use seqz_vocabulary::message;

/// A shared object: an atomic, a mutex, a read-write lock, a `static mut`. Dense, numbered from 0 by first use in the
/// run. A lock and the value that it protects have the same number.
pub type Object = u32;

message! {
    /// How much of a lock is taken: a mutex or a write guard excludes all, a read guard excludes writers only.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum LockMode {
        /// A mutex guard, or a write guard of a read-write lock.
        Exclusive,
        /// A read guard of a read-write lock.
        Shared,
    }
}

impl LockMode {
    /// Whether two threads that hold a lock in these modes at once break its exclusion.
    #[must_use]
    pub const fn excludes(self, other: Self) -> bool {
        matches!(self, Self::Exclusive) || matches!(other, Self::Exclusive)
    }
}

message! {
    /// What an event does.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Op {
        /// Reads the object.
        Read(Object),
        /// Writes the object.
        Write(Object),
        /// Reads and writes the object in one indivisible step.
        Update(Object),
        /// Takes the lock.
        Acquire(Object, LockMode),
        /// Gives the lock back.
        Release(Object, LockMode),
        /// An attempt of T to take the lock in this mode failed: T' was inside the block that the source's acquire opens.
        TryFail(Object, LockMode),
        /// T has joined T': the whole log of T' comes before.
        Join,
    }
}

impl Op {
    /// The object that is read, if any. [`Op::TryFail`] counts as a read, since it observes the lock's state.
    #[must_use]
    pub const fn reads(self) -> Option<Object> {
        match self {
            Self::Read(x) | Self::Update(x) | Self::TryFail(x, _) => Some(x),
            _ => None,
        }
    }

    /// The object whose value is written, if any.
    #[must_use]
    pub const fn writes(self) -> Option<Object> {
        match self {
            Self::Write(x) | Self::Update(x) => Some(x),
            _ => None,
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (verb, object, mode) = match self {
            Self::Read(x) => ("read", x, None),
            Self::Write(x) => ("write", x, None),
            Self::Update(x) => ("update", x, None),
            Self::Acquire(lock, mode) => ("lock", lock, Some(mode)),
            Self::Release(lock, mode) => ("unlock", lock, Some(mode)),
            Self::TryFail(lock, mode) => ("fail to lock", lock, Some(mode)),
            Self::Join => return f.write_str("join T'"),
        };
        let shared = match mode {
            Some(LockMode::Shared) => ", shared",
            Some(LockMode::Exclusive) | None => "",
        };
        write!(f, "{verb} x{object}{shared}")
    }
}

message! {
    /// One event of T, the thread under test.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct TEvent {
        /// What the event does.
        pub op: Op,
        /// For a non-local read: the index in the log of T' of the paired write (an [`Op::Write`] or [`Op::Update`] of the
        /// same object; for [`Op::TryFail`] the [`Op::Acquire`] of the block that T' is inside). `None` for every other
        /// event, and for every local read.
        pub source: Option<u32>,
    }
}

impl TEvent {
    /// A local event.
    #[must_use]
    pub const fn local(op: Op) -> Self {
        Self { op, source: None }
    }

    /// A non-local read, paired with event `source` of T'.
    #[must_use]
    pub const fn non_local(op: Op, source: u32) -> Self {
        Self {
            op,
            source: Some(source),
        }
    }
}

/// The log of one execution: the events of T so far, and those of T' as far as T' can run by itself.
///
/// How far T' has come when T is at its last event is open: a trace of P may have T' at any event. So the log is
/// feasible when, for SOME prefix of `interfering`, all of `under_test` and that prefix have an interleaving that keeps
/// program order, locks, and what each read sees. (The paper cuts T' at the first lock-free point after the paired
/// writes; that is one of the prefixes, and not always the one that works.)
#[derive(Clone, Copy, Debug)]
pub struct Log<'a> {
    /// The events of T in program order.
    pub under_test: &'a [TEvent],
    /// The events of T' in program order. Never [`Op::Join`] or [`Op::TryFail`]; every read sees the latest write of T'
    /// itself or the initial value (T' is T'-sequential).
    pub interfering: &'a [Op],
}
