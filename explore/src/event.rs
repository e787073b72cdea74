//! What threads do: kinds of operations, announced operations, executed events, and when two of them are dependent.
//!
//! Two events of different threads are dependent iff they are on the same object and their order can matter. That is
//! the relation of conditional independence that partial-order reduction needs (Godefroid, *Partial-Order Methods for
//! the Verification of Concurrent Systems*, 1996, section 3.4): what counts is what the event *did*. A
//! compare-exchange that failed is a read, a `try_lock` that failed is a read of the lock's state.

/// A thread's name: dense, and **the same in every execution of a search** whatever the order of forks
/// (see [`Names`](crate::names::Names)). At most [`MAX_THREADS`](crate::threads::MAX_THREADS).
pub type Thread = u8;

/// An object's name: dense, and the same in every execution of a search (see [`Names`](crate::names::Names)). The
/// value that a lock protects is an object of its own. For [`Kind::Fork`] and [`Kind::Join`] it is the other thread.
pub type Object = u32;

/// A place in the program, as the executor numbers them. Strategies don't look at it.
pub type Site = u32;

/// What an operation is, before it runs or after it ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// Touches no shared object: a yield, a print. Independent of everything.
    #[default]
    Local,
    /// Reads the object.
    Read,
    /// Writes the object.
    Write,
    /// Reads and writes the object in one step, always.
    Update,
    /// Announced only: a compare-exchange, which runs as [`Self::Update`] or [`Self::FailedUpdate`].
    CompareExchange,
    /// A compare-exchange that found another value: a read.
    FailedUpdate,
    /// Takes a lock exclusively. Enabled while nobody holds it.
    Lock,
    /// Attempts to take a lock exclusively, never blocks. As an event: it succeeded.
    TryLock,
    /// An attempt to take a lock exclusively that failed: a read.
    TryLockFailed,
    /// Gives back a lock held exclusively.
    Unlock,
    /// Takes a lock shared. Enabled while nobody holds it exclusively.
    LockShared,
    /// Attempts to take a lock shared, never blocks. As an event: it succeeded.
    TryLockShared,
    /// An attempt to take a lock shared that failed: a read.
    TryLockSharedFailed,
    /// Gives back a lock held shared.
    UnlockShared,
    /// Creates the thread that `object` names. An executor may make a thread's begin part of it.
    Fork,
    /// A thread's first event, for executors that announce it.
    Begin,
    /// A thread's last event, for executors that announce it.
    End,
    /// Waits for the end of the thread that `object` names. Enabled once that has ended. A thread that is to go no further
    /// waits for its own end: see [loops that wait](crate::executor#loops-that-wait).
    Join,
    /// Enters the object's wait [queue](crate::waiting). A condition variable's always does, and finds 0.
    ///
    /// What else waits in this way (a barrier, a channel, a parking place) has more of a state than its queue, and looks at
    /// it in the same step. If there is no need to wait, the thread does not enter the queue: [`Event::found`] is not 0, but
    /// tells what the thread sees. And if others may go on because of it, they are notified in the same step, too: then it
    /// runs as [`Self::Notify`], likewise with something else than 0 found. What is found on such an object is a
    /// function of *all* events on it before, in their order.
    Wait,
    /// Leaves the object's wait queue. Enabled while a notification is left that covers this thread, or always if there is
    /// a time limit (see [`Pending::expected`]). [`Event::found`] is 1 if it was notified, 0 if its time was up.
    Wake,
    /// Notifies waiters of the object: all of them if [`Event::left`] is 1, one if it is 0.
    Notify,
    /// Changes a count by a number and tells its thread nothing: one more, or one less that nobody notices. Commutes with
    /// others of its kind, and with [`Self::Take`].
    Add,
    /// Takes one from a count, and tells its thread whether that was the last one. Whoever adds one has one, so that beside a
    /// [`Self::Add`] none is the last.
    Take,
}

/// How an event touches its object; decides dependence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Touches none.
    None,
    /// Leaves it as it is.
    Read,
    /// Changes it.
    Modify,
    /// Adds a shared holder to a lock.
    ///
    /// Two of these would commute, but their order is kept: with it, the operation that makes an enabled exclusive
    /// lock wait is ordered with all others that do, which [`Odpor`](crate::odpor::Odpor) builds on.
    Acquire,
    /// Takes a shared holder away from a lock. Commutes with other shared takers and givers.
    Release,
    /// Adds to a count. Commutes with others that do, and with those that take one away.
    Add,
    /// Takes one away from a count, and sees whether it was the last one.
    Take,
}

impl Class {
    /// Whether the order of two events of these classes on one object can matter.
    #[inline]
    #[must_use]
    pub const fn conflicts(self, other: Self) -> bool {
        CONFLICTS[self as usize] >> other as u8 & 1 == 1
    }

    /// The same, as a rule.
    const fn conflicts_by_rule(self, other: Self) -> bool {
        !matches!(
            (self, other),
            (Self::None, _)
                | (_, Self::None)
                | (Self::Read, Self::Read)
                | (Self::Release, Self::Release | Self::Acquire)
                | (Self::Acquire, Self::Release)
                | (Self::Add, Self::Add | Self::Take)
                | (Self::Take, Self::Add)
        )
    }

    const ALL: [Self; 7] = [
        Self::None,
        Self::Read,
        Self::Modify,
        Self::Acquire,
        Self::Release,
        Self::Add,
        Self::Take,
    ];
}

/// By class: a bit for each of those that it conflicts with. It is asked for all pairs of uses of an object.
const CONFLICTS: [u8; Class::ALL.len()] = {
    let mut all = [0; Class::ALL.len()];
    let mut pair = 0;
    while pair < all.len() * all.len() {
        let (one, other) = (Class::ALL[pair / all.len()], Class::ALL[pair % all.len()]);
        if one.conflicts_by_rule(other) {
            all[one as usize] |= 1 << other as u8;
        }
        pair += 1;
    }
    all
};

impl Kind {
    /// All of them, each at the place of its number.
    pub const ALL: [Self; 23] = [
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
        Self::Add,
        Self::Take,
    ];

    /// How it touches its object. For an operation whose outcome is open ([`Self::CompareExchange`], or an announced
    /// [`Self::TryLock`]): the outcome that conflicts with more.
    #[inline]
    #[must_use]
    pub const fn class(self) -> Class {
        match self {
            Self::Local | Self::Fork | Self::Begin | Self::End | Self::Join => Class::None,
            Self::Read | Self::FailedUpdate | Self::TryLockFailed | Self::TryLockSharedFailed => {
                Class::Read
            }
            Self::LockShared | Self::TryLockShared => Class::Acquire,
            Self::UnlockShared => Class::Release,
            Self::Add => Class::Add,
            Self::Take => Class::Take,
            Self::Write
            | Self::Update
            | Self::CompareExchange
            | Self::Lock
            | Self::TryLock
            | Self::Unlock
            | Self::Wait
            | Self::Wake
            | Self::Notify => Class::Modify,
        }
    }

    /// What it is for those who don't look at what commutes.
    #[inline]
    #[must_use]
    pub const fn plain(self) -> Self {
        match self {
            Self::Add | Self::Take => Self::Update,
            kind => kind,
        }
    }

    /// Whether an operation of this kind waits until the object's state lets it run.
    #[inline]
    #[must_use]
    pub const fn blocks(self) -> bool {
        matches!(self, Self::Lock | Self::LockShared | Self::Wake)
    }

    /// Whether it takes a lock, in whichever mode.
    #[inline]
    #[must_use]
    pub const fn acquires(self) -> bool {
        matches!(
            self,
            Self::Lock | Self::TryLock | Self::LockShared | Self::TryLockShared
        )
    }

    /// Whether the thread sees [`Event::found`] of an event of this kind.
    #[inline]
    #[must_use]
    pub const fn observes(self) -> bool {
        match self {
            Self::Write | Self::Add | Self::Unlock | Self::UnlockShared => false,
            _ => self.has_value() || self.is_waiting(),
        }
    }

    /// Whether events of this kind have values: see [`Event::found`].
    #[inline]
    #[must_use]
    pub const fn has_value(self) -> bool {
        matches!(
            self,
            Self::Read
                | Self::Update
                | Self::Add
                | Self::Take
                | Self::FailedUpdate
                | Self::Lock
                | Self::TryLock
                | Self::LockShared
                | Self::TryLockShared
                | Self::Write
                | Self::Unlock
                | Self::UnlockShared
        )
    }

    /// Whether it is of those that work on the object's wait [queue](crate::waiting).
    #[inline]
    #[must_use]
    pub const fn is_waiting(self) -> bool {
        matches!(self, Self::Wait | Self::Wake | Self::Notify)
    }

    /// Whether, of two conflicting events on one object, both could have been enabled before the earlier one ran: if
    /// not, their order is none that a scheduler could turn round. A blocking acquire can't be, beside a release.
    #[inline]
    #[must_use]
    pub const fn may_be_coenabled(self, later: Self) -> bool {
        !matches!(
            (self, later),
            (
                Self::Unlock | Self::UnlockShared,
                Self::Lock | Self::LockShared
            ) | (
                Self::Lock | Self::LockShared | Self::TryLock | Self::TryLockShared,
                Self::Unlock | Self::UnlockShared
            )
        )
    }
}

// Whoever tells a kind by its number finds it there.
const _: () = {
    let mut number = 0;
    while number < Kind::ALL.len() {
        assert!(Kind::ALL[number] as usize == number);
        number += 1;
    }
};

/// What a thread has announced to do next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pending {
    /// The kind of operation.
    pub kind: Kind,
    /// The object, see [`Object`].
    pub object: Object,
    /// For [`Kind::CompareExchange`]: the hash of the value at which it succeeds, comparable with [`Event::found`]. For
    /// [`Kind::Wake`]: 1 if the wait has a time limit, else 0.
    pub expected: u64,
    /// Where in the program.
    pub site: Site,
    /// See [`Event::context`].
    pub context: u32,
}

/// What a thread did.
///
/// Invariant, for the sake of strategies that reason about values: what a thread does next is a function of [`Self::found`]
/// in its own events so far, and of its having been forked and having joined. So whatever an operation tells its thread is in
/// `found`, whether a notification came or the time was up, which thread came last to a barrier, what a receiver got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// Who.
    pub thread: Thread,
    /// What; never [`Kind::CompareExchange`].
    pub kind: Kind,
    /// On what, see [`Object`].
    pub object: Object,
    /// Hash of the value that the object had before; equal values have equal hashes. An object with
    /// [`Kind::CompareExchange`] operations needs it in all of its events, even in a [`Kind::Write`]; otherwise 0 will do
    /// where it is not known.
    pub found: u64,
    /// Hash of the value that the object has after, likewise. It differs from [`Self::found`] iff the event changed the
    /// value, as far as the executor knows: also in a [`Kind::Unlock`] whose values are not told.
    pub left: u64,
    /// Where in the program.
    pub site: Site,
    /// The calls that the thread is in, the last few of them, as the executor numbers such lists. 0 where it does not follow
    /// calls. No part of what has to be the same when an execution is repeated.
    pub context: u32,
}

impl Event {
    /// Whether the object has another value after the event.
    #[inline]
    #[must_use]
    pub const fn changes(&self) -> bool {
        self.found != self.left
    }

    /// How it touches its object in the *lazy* happens-before relation, in which the order of lock operations as such does
    /// not count: a lock operation touches nothing but the value that the lock protects. Whoever takes the lock may read it,
    /// whoever gives it back has written it if the event says so.
    ///
    /// With the paper's relation (*The Lazy Happens-Before Relation*, Thomson and Donaldson, section 2) accesses to what a
    /// mutex protects are events of their own. Here they need not be: then they show in [`Self::left`].
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
