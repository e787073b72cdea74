//! What a program is: shared state, the bodies of its threads, and what its test looks at in the end.

/// A number in the program, which has it as a `u32`. They stay small.
pub(crate) type Value = u16;

/// A variable of one body: `r0`, `r1`, …
pub(crate) type Local = u8;

/// So many variables has each body. The first [`RETURNED`] are what its thread returns.
pub(crate) const LOCALS: usize = 3;

/// So many variables a thread returns.
pub(crate) const RETURNED: usize = 2;

/// A whole program, which becomes a module with one test.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) number: usize,
    /// Atomics.
    pub(crate) cells: Vec<Home>,
    /// Locks around a number.
    pub(crate) locks: Vec<LockKind>,
    /// The threads; the first one is the test's own.
    pub(crate) bodies: Vec<Vec<Stmt>>,
    pub(crate) start: Start,
    /// The test is `#[should_panic]`.
    pub(crate) should_panic: bool,
    /// With a message of its own.
    pub(crate) expected: bool,
    /// The test returns an `Err` for what it tells of.
    pub(crate) returns: bool,
    pub(crate) ending: Ending,
    /// All threads have a handle of one value, whose destructor adds to this atomic, a static one.
    pub(crate) token: Option<usize>,
    /// There are weak handles of it, too.
    pub(crate) weak: bool,
    /// There is a barrier for so many.
    pub(crate) barrier: Option<usize>,
    /// There is a `OnceLock`.
    pub(crate) once: bool,
    /// The threads can unpark the test.
    pub(crate) parks: bool,
    /// The last thread is started by this one and not by the test.
    pub(crate) parent: Option<usize>,
    /// There is a channel.
    pub(crate) channel: Option<Channel>,
    /// There is a thread-local, whose destructor adds to this atomic, a static one.
    pub(crate) local: Option<usize>,
    /// There is a condition variable for the first lock, a mutex.
    pub(crate) condvar: bool,
}

/// Who has which end.
#[derive(Clone, Debug)]
pub(crate) struct Channel {
    pub(crate) receiver: usize,
    pub(crate) senders: Vec<usize>,
    /// It holds so many messages; with 0 they are handed over.
    pub(crate) bound: Option<usize>,
}

impl Channel {
    pub(crate) fn sends(&self, thread: usize) -> bool {
        self.senders.contains(&thread)
    }
}

/// What a variable is after a look into a channel in which nothing is.
pub(crate) const EMPTY: Value = 6;

/// The same if nobody can send any more.
pub(crate) const HUNG_UP: Value = 8;

/// What a thread returns that has left by `?`.
pub(crate) const FAILED: Value = 4;

/// What a variable is after a look at a `OnceLock` that has no value.
pub(crate) const UNSET: Value = 5;

/// How a message is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Receiving {
    Recv,
    Try,
    Timeout,
    /// A loop of attempts.
    Polls(Pause),
}

/// How a thread waits for a notification, until the value is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// `wait_while`
    While,
    /// `wait` in a loop.
    Loop,
    /// `wait`, once, if it isn't there.
    Once,
    /// `wait_timeout`, once, if it isn't there.
    Timeout,
}

impl Program {
    /// How much its test has seen when it tells of it.
    pub(crate) fn seen(&self) -> usize {
        let joins = self.bodies[0].iter();
        let joins = joins.filter(|stmt| matches!(stmt, Stmt::Join { .. }));
        (joins.count() + 1) * RETURNED + self.cells.len()
    }
}

/// Where an atomic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    Field,
    Static,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LockKind {
    Mutex,
    RwLock,
}

/// How threads are started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    Spawn,
    Builder,
    Scope,
}

/// What the test does with what it has seen, once all is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Nothing.
    Quiet,
    /// It panics at each of these, with its number, and at all others.
    TellAll(Vec<Vec<Value>>),
    /// It panics at the one with this number, and at all that are none of these.
    TellOne(Vec<Vec<Value>>, usize),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Operand {
    Const(Value),
    Of(Local),
    Plus(Local, Value),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Cond {
    Is(Local, Value),
    Not(Local, Value),
    AtLeast(Local, Value),
}

/// How an access to an atomic is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// On the spot.
    Plain,
    /// By a method of the struct.
    Method,
    /// By a function that is lent the atomic.
    Function,
    /// By a function in a variable.
    Pointer,
    /// By a closure.
    Closure,
}

/// How a loop is written that waits for an atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `while load() != value`
    While,
    /// `loop` with a `break`.
    Loop,
    /// The condition is a closure in a variable.
    Closure,
    /// The condition is a function that is lent the atomic.
    Function,
    /// An iterator that looks, and `find`.
    Find,
}

/// How a loop is written that waits for what a mutex protects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LockedForm {
    /// `while *lock().unwrap() != value`
    While,
    /// `loop` with a guard and a `break`.
    Loop,
    /// `loop` with `try_lock`.
    Try,
}

/// How a thread parks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parking {
    Once,
    Timeout,
    /// Until the atomic has the value.
    Until(usize, Value),
}

/// How a lock is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taking {
    /// `lock().unwrap()`
    Unwrap,
    /// `lock().unwrap_or_else(PoisonError::into_inner)`
    Ignore,
    /// `if let Ok(guard) = lock()`
    IfOk,
    /// `if let Ok(guard) = try_lock()`
    Try,
}

/// What a loop that waits does between two looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    Nothing,
    Hint,
    Yield,
    Sleep,
}

/// How the test waits for a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Joining {
    /// `join().unwrap()`
    Unwrap,
    /// The panic is handled: the thread has returned [`PANICKED`].
    Handle,
}

/// What a thread that has panicked returns, for a test that handles it.
pub(crate) const PANICKED: Value = 9;

#[derive(Clone, Debug)]
pub(crate) enum Stmt {
    Load {
        to: Local,
        cell: usize,
        how: How,
    },
    Store {
        cell: usize,
        value: Operand,
        how: How,
    },
    Add {
        to: Option<Local>,
        cell: usize,
        by: Value,
        how: How,
    },
    Swap {
        to: Local,
        cell: usize,
        value: Operand,
    },
    /// `to` is 7 if it was exchanged, or what was there instead.
    Exchange {
        to: Local,
        cell: usize,
        from: Value,
        new: Value,
    },
    /// `otherwise` is for where it isn't taken.
    Locked {
        lock: usize,
        writes: bool,
        taking: Taking,
        /// Its guard lies in a struct.
        wrapped: bool,
        body: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    /// Reads what the lock protects, which the thread has.
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
    If {
        cond: Cond,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    Repeat {
        times: u8,
        body: Vec<Stmt>,
    },
    /// Looks so often at most whether the atomic has the value; `to` is whether it had.
    Poll {
        to: Local,
        cell: usize,
        is: Value,
        tries: u8,
        how: How,
    },
    /// Waits until the atomic has the value.
    Await {
        cell: usize,
        is: Value,
        pause: Pause,
        how: How,
        form: Form,
    },
    /// Waits until the mutex protects the value.
    AwaitLocked {
        lock: usize,
        is: Value,
        pause: Pause,
        form: LockedForm,
    },
    /// The thread returns early.
    Return {
        cond: Cond,
        /// By `?`
        tries: bool,
    },
    Panic {
        site: u16,
    },
    Assert {
        cond: Cond,
        site: u16,
    },
    /// `to` is whether the body has panicked.
    Catch {
        to: Local,
        /// The panic goes on.
        resumes: bool,
        body: Vec<Stmt>,
    },
    /// When it is left, in whatever way, a destructor adds to the atomic.
    Scoped {
        cell: usize,
        by: Value,
        body: Vec<Stmt>,
    },
    /// When it is left, a destructor takes the lock and adds to what it protects.
    Growing {
        lock: usize,
        by: Value,
        body: Vec<Stmt>,
    },
    /// `to` is whether there is a token still, of which there is one handle more meanwhile.
    Upgrade {
        to: Local,
        body: Vec<Stmt>,
    },
    /// Comes to the barrier; `to` is whether it was the last.
    Meet {
        to: Local,
    },
    /// `to` is what the `OnceLock` holds, which gets the value after the body if it holds nothing.
    Init {
        to: Local,
        value: Operand,
        body: Vec<Stmt>,
    },
    Peek {
        to: Local,
    },
    Park(Parking),
    Unpark {
        thread: usize,
    },
    /// `to` is how many handles of the token there are.
    CountTokens {
        to: Local,
    },
    DropToken,
    /// `to` is whether it was the last handle: by `into_inner`, or by `try_unwrap`.
    UnwrapToken {
        to: Local,
        tries: bool,
    },
    /// `to` is whether there is a receiver.
    Send {
        to: Local,
        value: Operand,
    },
    Receive {
        to: Local,
        how: Receiving,
    },
    DropSender,
    /// Adds to the thread-local.
    Touch {
        by: Value,
    },
    /// Takes the first lock and waits until the value is there, or perhaps not so long.
    Wait {
        is: Value,
        how: Waiting,
        body: Vec<Stmt>,
    },
    Notify {
        all: bool,
    },
    /// `to` is whether the thread has finished.
    Finished {
        to: Local,
        thread: usize,
    },
    AwaitFinished {
        thread: usize,
        pause: Pause,
    },
    Spawn {
        thread: usize,
    },
    Join {
        thread: usize,
        how: Joining,
    },
    /// Drops the handle.
    Detach {
        thread: usize,
    },
}
