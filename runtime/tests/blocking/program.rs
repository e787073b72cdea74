//! The programs: two threads, and assertions after both have been joined.

use std::fmt;

/// The number of a local variable: each thread has [`LOCALS`].
pub(crate) type Local = usize;

/// How many local variables each thread has.
pub(crate) const LOCALS: usize = 3;

/// How many atomics there are.
pub(crate) const ATOMICS: usize = 2;

/// What is received where no message is there.
pub(crate) const EMPTY: u8 = 8;

/// What is received, or told, where the other side of a channel is gone.
pub(crate) const GONE: u8 = 9;

/// Fails if both locals have these values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Assert {
    pub(crate) id: u8,
    pub(crate) these: [(Local, u8); 2],
}

impl Assert {
    pub(crate) fn fails(self, locals: &[u8]) -> bool {
        self.these
            .iter()
            .all(|&(local, value)| locals[local] == value)
    }
}

/// A statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Stmt {
    Load {
        x: usize,
        into: Local,
    },
    Store {
        x: usize,
        value: u8,
    },
    Add {
        x: usize,
        into: Local,
    },
    Lock,
    Unlock,
    /// Under the lock.
    Get {
        into: Local,
    },
    /// Under the lock.
    Put {
        value: u8,
    },
    /// Under the lock: waits on the condition variable once.
    Wait,
    /// Under the lock: waits while the value is 0.
    WaitWhile,
    /// Under the lock: waits once, and tells whether the time was up.
    WaitTimeout {
        into: Local,
    },
    NotifyOne,
    NotifyAll,
    Park,
    ParkTimeout,
    /// Unparks the other thread, where this one has a handle of it.
    UnparkOther,
    UnparkSelf,
    /// Tells whether this thread came last.
    Barrier {
        into: Local,
    },
    /// The initialization stores to an atomic.
    CallOnce {
        x: usize,
        value: u8,
    },
    IsCompleted {
        into: Local,
    },
    /// Waits for the initialization.
    AwaitOnce,
    Set {
        value: u8,
        into: Local,
    },
    GetCell {
        into: Local,
    },
    /// Waits for the value.
    AwaitCell {
        into: Local,
    },
    /// The initialization stores to an atomic.
    GetOrInit {
        value: u8,
        x: usize,
        into: Local,
    },
    Send {
        value: u8,
        into: Local,
    },
    TrySend {
        value: u8,
        into: Local,
    },
    Recv {
        into: Local,
    },
    TryRecv {
        into: Local,
    },
    RecvTimeout {
        into: Local,
    },
    DropSender,
    DropReceiver,
    /// Leaves the next statement out if the local has this value.
    Unless {
        local: Local,
        value: u8,
    },
    Assert(Assert),
}

/// Who has which end of the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Channel {
    pub(crate) bound: Option<usize>,
    pub(crate) senders: [bool; 2],
    pub(crate) receiver: usize,
}

/// A program.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// Whether the first thread is the one that spawns the second; otherwise both are spawned, and joined in this order.
    pub(crate) main_goes_on: bool,
    pub(crate) threads: [Vec<Stmt>; 2],
    pub(crate) channel: Option<Channel>,
    /// Over the locals of the first thread, those of the second, and the atomics.
    pub(crate) after: Vec<Assert>,
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = if self.main_goes_on {
            ["main", "spawned"]
        } else {
            ["a", "b"]
        };
        writeln!(f, "channel: {:?}", self.channel)?;
        for (name, list) in names.iter().zip(&self.threads) {
            writeln!(f, "{name}:")?;
            for stmt in list {
                writeln!(f, "    {stmt:?}")?;
            }
        }
        writeln!(f, "after: {:?}", self.after)
    }
}
