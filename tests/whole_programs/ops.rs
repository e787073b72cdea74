//! Bodies as lists of operations, each of which is one step of its thread or, if others can't see it, none.

use super::program::{Cond, Joining, LOCALS, Local, Operand, Value};

/// A place in the list.
pub(crate) type Place = u16;

/// Where a thread panics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Site {
    /// A statement of the program.
    Own(u16),
    /// It unwraps a poisoned lock.
    Poison,
    /// It unwraps the result of this thread.
    Result(u8),
    /// A scoped thread has panicked that it has not joined.
    Scope,
    /// It tells what it has seen.
    Outcome(u16),
    /// It has seen what it can't.
    Unknown,
}

/// How the lock is taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Take {
    pub(crate) lock: usize,
    pub(crate) exclusive: bool,
    /// Where to go on if it can't be had now; `None` to wait.
    pub(crate) busy: Option<Place>,
    /// Where to go on with a poisoned one; `None` to panic.
    pub(crate) poisoned: Option<Place>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    Load {
        to: Local,
        cell: usize,
    },
    Store {
        cell: usize,
        value: Operand,
    },
    Add {
        to: Option<Local>,
        cell: usize,
        by: Value,
    },
    Swap {
        to: Local,
        cell: usize,
        value: Operand,
    },
    Exchange {
        to: Local,
        cell: usize,
        from: Value,
        new: Value,
    },
    Take(Take),
    Get {
        to: Local,
        lock: usize,
    },
    Put {
        lock: usize,
        value: Operand,
    },
    Grow {
        lock: usize,
        by: Value,
    },
    /// Leaves the innermost scope: what it holds is given back.
    Leave,
    /// Enters a scope whose end adds to the atomic.
    Enter {
        cell: usize,
        by: Value,
    },
    /// Enters a scope that panics don't leave.
    Catch {
        to: Local,
        at: Place,
    },
    /// Leaves it.
    Caught {
        to: Local,
    },
    /// Goes on with the panic that was caught last, if `of` is 1.
    Resume {
        of: Local,
    },
    /// Enters a scope whose end takes the lock and adds to what it protects.
    EnterGrowing {
        lock: usize,
        by: Value,
    },
    /// One handle of the token more, or on to the place if there is none.
    Upgrade(Place),
    /// Comes to the barrier; `to` is whether it was the last.
    Arrive {
        to: Local,
    },
    /// Leaves it.
    Pass,
    /// Enters the scope in which the `OnceLock` gets its value, or goes on at `over` if it has one.
    Begin {
        to: Local,
        over: Place,
    },
    /// Leaves it.
    Finish {
        to: Local,
        value: Operand,
    },
    Peek {
        to: Local,
    },
    Park {
        timed: bool,
    },
    Unpark(usize),
    Set {
        to: Local,
        value: Value,
    },
    Jump(Place),
    Unless(Cond, Place),
    Panic(u16),
    /// `to` is how many handles there are.
    CountTokens {
        to: Local,
    },
    /// Ends a handle, and enters the scope of the destructor if it was the last; [`SCRATCH`] is whether it was.
    DropToken,
    /// The same, if it is the last one.
    TakeToken,
    Send {
        to: Local,
        value: Operand,
    },
    /// Waits until what it has offered is taken; `to` is whether it was.
    Taken {
        to: Local,
    },
    /// `empty` is what `to` is if nothing is there; `None` to wait.
    Receive {
        to: Local,
        empty: Option<Value>,
    },
    DropSender,
    DropReceiver,
    Touch {
        by: Value,
    },
    /// Gives the first lock back, and waits to be notified.
    Sleep,
    /// Takes it again, once notified or, perhaps, once the time is up.
    Wake {
        timed: bool,
    },
    Notify {
        all: bool,
    },
    Finished {
        to: Local,
        thread: usize,
    },
    Spawn(usize),
    Join(usize, Joining),
    Detach(usize),
    /// The test looks at the atomic.
    Look(usize),
    /// The test tells what it has seen.
    Tell,
    /// All threads are waited for.
    ScopeEnd,
    End,
}

impl Op {
    /// Whether others may see it, or see when it is done.
    pub(crate) fn is_seen(self) -> bool {
        !matches!(
            self,
            Self::Get { .. }
                | Self::Put { .. }
                | Self::Grow { .. }
                | Self::Enter { .. }
                | Self::Catch { .. }
                | Self::Caught { .. }
                | Self::Resume { .. }
                | Self::EnterGrowing { .. }
                | Self::Set { .. }
                | Self::Jump(_)
                | Self::Unless(..)
                | Self::Panic(_)
                | Self::Detach(_)
                | Self::Touch { .. }
                | Self::Tell
        )
    }
}

/// A variable for what the program has none for.
pub(crate) const SCRATCH: Local = LOCALS as Local;
