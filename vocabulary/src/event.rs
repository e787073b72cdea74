//! What threads do: announced operations, executed events, and when two of them are dependent.
//!
//! Two events of different threads are dependent iff both are on the same object and their order can matter: see
//! [`Class::conflicts`].

pub use crate::kind::{Class, Kind};
pub use crate::order::Order;

/// A thread's number: dense, and **the same in every execution of a search** in any order of forks.
pub type Thread = u8;

/// An object's number: dense, and the same in every execution of a search. The value that a lock protects is an object of its own. The object of a [`Kind::Fork`] or a [`Kind::Join`] is the number of
/// the other thread.
pub type Object = u32;

/// A place in the program, by the executor's number for the place. Few strategies look at sites: `hapset` tells statements
/// apart by their sites, and `mcr` data races.
pub type Site = u32;

/// What a thread has announced to do next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pending {
    /// The kind of the operation.
    pub kind: Kind,
    /// The object that the operation is on.
    pub object: Object,
    /// For [`Kind::CompareExchange`]: the hash of the value at which it succeeds, comparable with [`Event::found`]. For
    /// [`Kind::Wake`]: 1 if the wait has a time limit, else 0. For [`Kind::Update`]: [`Self::UNLESS_ZERO`] if it changes nothing
    /// where it finds 0.
    pub expected: u64,
    /// Where in the program.
    pub site: Site,
    /// See [`Event::context`].
    pub context: u32,
    /// The ordering of an operation on an atomic, or of a fence.
    pub order: Order,
    /// For [`Kind::CompareExchange`]: the ordering of the read if it finds another value.
    pub failure: Order,
}

impl Pending {
    /// Announces of an update that it runs as [`Kind::FailedUpdate`] if it finds 0.
    pub const UNLESS_ZERO: u64 = u64::MAX - 1;
}

/// What a thread did.
///
/// Invariant, for strategies that reason about values: the next operation of a thread is a function of [`Self::found`] in
/// the thread's own events so far, and of the thread's fork and joins. So all that an operation tells its thread is in
/// `found`: whether a notification came or the time was up, which thread came last to a barrier, what a receiver got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// The thread that did the event.
    pub thread: Thread,
    /// What the thread did; never [`Kind::CompareExchange`].
    pub kind: Kind,
    /// The object that the event is on.
    pub object: Object,
    /// Hash of the object's value before the event; equal values have equal hashes. All events on an object with
    /// [`Kind::CompareExchange`] operations need this hash, even a [`Kind::Write`]. On other objects the hash may be 0
    /// where the value is not known.
    pub found: u64,
    /// Hash of the object's value after the event. It differs from [`Self::found`] iff the event changed the value, as far
    /// as the executor knows, also in a [`Kind::Unlock`] whose values the executor does not tell.
    pub left: u64,
    /// Where in the program.
    pub site: Site,
    /// The last few calls that the thread is in, by the executor's number for this list of calls. 0 where the executor
    /// does not follow calls. May differ when an execution is repeated.
    pub context: u32,
    /// The ordering of what was done, as the program wrote it.
    pub order: Order,
}

impl Event {
    /// Whether the object has another value after the event.
    #[inline]
    #[must_use]
    pub const fn changes(&self) -> bool {
        self.found != self.left
    }

    /// Returns how the event touches its object in the *lazy* happens-before relation, in which the order of lock
    /// operations as such does not count: a lock operation touches only the value that the lock protects. Taking the lock
    /// counts as a read of the value, and giving the lock back counts as a write if the event changed the value.
    ///
    /// In the paper's relation (*The Lazy Happens-Before Relation*, Thomson and Donaldson, section 2) accesses to the value
    /// that a mutex protects are events of their own. Here these accesses need not be events: then a change shows in
    /// [`Self::left`].
    #[inline]
    #[must_use]
    pub const fn lazy_class(&self) -> Class {
        match self.kind {
            Kind::Lock | Kind::TryLock | Kind::LockShared | Kind::TryLockShared => Class::Read,
            Kind::Unlock if self.changes() => Class::Modify,
            Kind::Unlock | Kind::UnlockShared | Kind::TryLockFailed | Kind::TryLockSharedFailed => {
                Class::None
            }
            kind => kind.class(),
        }
    }

    /// Whether the order of two events of different threads can matter.
    #[inline]
    #[must_use]
    pub const fn depends(&self, other: &Self) -> bool {
        self.object == other.object && self.kind.class().conflicts(other.kind.class())
    }
}
