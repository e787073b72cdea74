//! What operations are, and when the order of two of them can matter.
//!
//! Two events of different threads are dependent iff both are on the same object and their order can matter. This is
//! the relation of conditional independence that partial-order reduction needs (Godefroid, *Partial-Order Methods for
//! the Verification of Concurrent Systems*, 1996, section 3.4): what counts is what the event *did*. A
//! compare-exchange that failed is a read, a `try_lock` that failed is a read of the lock's state.
//!
//! Events have two values, `found` and `left`: a hash of the object's value before the event, and of its value after the
//! event. Written schedules have neither.

use std::fmt;

use crate::message;

message! {
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
        /// Reads and writes the object in one step, always. Only where it was announced with
        /// [`Pending::UNLESS_ZERO`](crate::Pending::UNLESS_ZERO), it may run as [`Self::FailedUpdate`].
        Update,
        /// Announced only: a compare-exchange, which runs as [`Self::Update`] or [`Self::FailedUpdate`].
        CompareExchange,
        /// A compare-exchange that found another value: a read.
        FailedUpdate,
        /// Takes a lock exclusively. Enabled while no thread holds the lock.
        Lock,
        /// Attempts to take a lock exclusively, never blocks. As an event: the attempt succeeded.
        TryLock,
        /// An attempt to take a lock exclusively that failed: a read.
        TryLockFailed,
        /// Gives back a lock held exclusively.
        Unlock,
        /// Takes a lock shared. Enabled while no thread holds the lock exclusively.
        LockShared,
        /// Attempts to take a lock shared, never blocks. As an event: the attempt succeeded.
        TryLockShared,
        /// An attempt to take a lock shared that failed: a read.
        TryLockSharedFailed,
        /// Gives back a lock held shared.
        UnlockShared,
        /// Creates the thread that `object` names. An executor may make the new thread's begin part of the fork.
        Fork,
        /// A thread's first event, from executors that announce the begin of a thread.
        Begin,
        /// A thread's last event, from executors that announce the end of a thread.
        End,
        /// Waits for the end of the thread that `object` names. Enabled once that thread has ended. A thread that is to go no
        /// further waits for its own end: see *loops that wait* in seqz-explore's `executor`.
        Join,
        /// Enters the object's wait queue. A wait on a condition variable always enters the queue, and
        /// finds 0.
        ///
        /// The other objects with a wait queue (a barrier, a channel, a parking place) have more state than the queue, and the
        /// wait looks at that state in the same step. If there is no need to wait, the thread does not enter the queue, and
        /// `found` is not 0 but says what the thread sees. If the operation lets other threads go on, it notifies
        /// these threads in the same step, too: then the operation runs as [`Self::Notify`], also with a `found`
        /// other than 0. `found` on such an object is a function of *all* earlier events on the object, in their
        /// order.
        Wait,
        /// Leaves the object's wait queue. Enabled while a notification is left that covers this thread, or always if there is
        /// a time limit. `found` is 1 if the thread was notified, 0 if its time was up.
        Wake,
        /// Notifies waiters of the object: all waiters if `left` is 1, one waiter if `left` is 0.
        Notify,
        /// Changes a count by a number and tells its thread nothing: adds one, or takes one away without a check whether it
        /// was the last. Commutes with other events of this kind, and with [`Self::Take`].
        Add,
        /// Takes one from a count, and tells its thread whether that was the last one. A thread that adds one already holds
        /// one, so no [`Self::Take`] that could run beside an [`Self::Add`] takes the last one.
        Take,
        /// Adds one to a count that is not 0, for a thread that need not hold one. As an event: it did. Where the count is 0,
        /// it runs as [`Self::FailedUpdate`]. Commutes with other events of this kind: a count that one of them finds above 0
        /// is above 0 for the other one, too.
        Upgrade,
        /// A fence. An event under weak memory only: where all is sequentially consistent, a fence orders nothing more.
        Fence,
    }
}

/// How an event touches its object. Two events' classes decide whether the events are dependent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Touches no object.
    None,
    /// Leaves the object as it is.
    Read,
    /// Changes the object.
    Modify,
    /// Adds a shared holder to a lock.
    ///
    /// Two acquires would commute, but their order is kept. So all operations that make an enabled exclusive lock wait
    /// are ordered with each other, and `odpor` relies on this order.
    Acquire,
    /// Takes a shared holder away from a lock. Commutes with [`Self::Acquire`] and with other releases.
    Release,
    /// Adds to a count. Commutes with other events that add to the count, and with [`Self::Take`].
    Add,
    /// Takes one away from a count, and sees whether this one was the last.
    Take,
    /// Adds one to a count, and sees that it is not 0. Commutes with others of its class alone.
    Upgrade,
}

impl Class {
    /// Whether the order of two events of these classes on one object can matter.
    #[inline]
    #[must_use]
    pub const fn conflicts(self, other: Self) -> bool {
        CONFLICTS[self as usize] >> other as u8 & 1 == 1
    }

    /// Whether the classes conflict, written as a rule, from which [`CONFLICTS`] is computed.
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
                | (Self::Upgrade, Self::Upgrade)
        )
    }

    const ALL: [Self; 8] = [
        Self::None,
        Self::Read,
        Self::Modify,
        Self::Acquire,
        Self::Release,
        Self::Add,
        Self::Take,
        Self::Upgrade,
    ];
}

/// Per class: a bit for each class that conflicts with it. A table, since searches look up all pairs of uses of an object.
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
    /// All kinds, each at the index of its discriminant.
    pub const ALL: [Self; 25] = [
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
        Self::Upgrade,
        Self::Fence,
    ];

    /// Returns how an operation of this kind touches its object. For an operation whose outcome is open
    /// ([`Self::CompareExchange`], or an announced [`Self::TryLock`] or [`Self::Upgrade`]): the class of the outcome that
    /// conflicts with more.
    #[inline]
    #[must_use]
    pub const fn class(self) -> Class {
        match self {
            Self::Local | Self::Fork | Self::Begin | Self::End | Self::Join | Self::Fence => {
                Class::None
            }
            Self::Read | Self::FailedUpdate | Self::TryLockFailed | Self::TryLockSharedFailed => {
                Class::Read
            }
            Self::LockShared | Self::TryLockShared => Class::Acquire,
            Self::UnlockShared => Class::Release,
            Self::Add => Class::Add,
            Self::Take => Class::Take,
            Self::Upgrade => Class::Upgrade,
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

    /// Returns the kind as a strategy sees it that makes no use of commuting counts.
    #[inline]
    #[must_use]
    pub const fn plain(self) -> Self {
        match self {
            Self::Add | Self::Take | Self::Upgrade => Self::Update,
            kind => kind,
        }
    }

    /// Whether an operation of this kind waits until the object's state lets it run.
    #[inline]
    #[must_use]
    pub const fn blocks(self) -> bool {
        matches!(self, Self::Lock | Self::LockShared | Self::Wake)
    }

    /// Whether an event of this kind takes a lock, exclusively or shared.
    #[inline]
    #[must_use]
    pub const fn acquires(self) -> bool {
        matches!(
            self,
            Self::Lock | Self::TryLock | Self::LockShared | Self::TryLockShared
        )
    }

    /// Whether the thread sees `found` of an event of this kind.
    #[inline]
    #[must_use]
    pub const fn observes(self) -> bool {
        match self {
            Self::Write | Self::Add | Self::Unlock | Self::UnlockShared => false,
            _ => self.has_value() || self.is_waiting(),
        }
    }

    /// Whether events of this kind have values: see `found`.
    #[inline]
    #[must_use]
    pub const fn has_value(self) -> bool {
        matches!(
            self,
            Self::Read
                | Self::Update
                | Self::Add
                | Self::Take
                | Self::Upgrade
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

    /// Whether an event of this kind works on the object's wait queue.
    #[inline]
    #[must_use]
    pub const fn is_waiting(self) -> bool {
        matches!(self, Self::Wait | Self::Wake | Self::Notify)
    }

    /// Whether, of two conflicting events on one object, both could have been enabled before the earlier event ran. If
    /// not, a scheduler can't reverse their order. A blocking acquire and a release can't both be enabled.
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

// `Kind::ALL[number]` is the kind with this discriminant, so that a kind written as a number can be read back.
const _: () = {
    let mut number = 0;
    while number < Kind::ALL.len() {
        assert!(Kind::ALL[number] as usize == number);
        number += 1;
    }
};

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
