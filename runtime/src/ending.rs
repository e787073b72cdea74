//! How threads and processes of a program end: what can be noticed of it, and what is told of it.

/// What a program does to end its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaving {
    /// `process::exit` with this code.
    Exit(i32),
    /// `process::abort`.
    Abort,
}

impl Leaving {
    /// What is told of it.
    pub(crate) fn message(self) -> String {
        match self {
            Self::Exit(code) => format!("the program ends its process with exit({code})"),
            Self::Abort => "the program aborts its process".to_owned(),
        }
    }
}

/// Something whose destructor must not panic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Destructor {
    ThreadLocal,
    /// What a thread has returned, or panicked with.
    Result,
}

impl Destructor {
    /// What is told of one that panics with this.
    pub(crate) fn message(self, panic: &str) -> String {
        let of = match self {
            Self::ThreadLocal => "a thread-local",
            Self::Result => "a thread's result",
        };
        format!("a destructor of {of} panics, which aborts the process: {panic}")
    }
}

/// Which results the program may see dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Results {
    /// None.
    #[default]
    Unseen,
    /// Those whose type has a destructor.
    Values,
    /// Those, and what any thread panics with.
    Payloads,
}

/// What a harness is unwound with whose result is a failure, and what is wrong.
pub(crate) struct Verdict(pub(crate) String);
