//! How threads and processes of a program end: what the program can notice of the end, and what a report tells of it.

/// What a program does to end its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaving {
    /// `process::exit` with this code.
    Exit(i32),
    /// `process::abort`.
    Abort,
}

impl Leaving {
    /// What a report tells of this end.
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
    /// What a report tells of a destructor that panics with the message `panic`.
    pub(crate) fn message(self, panic: &str) -> String {
        let of = match self {
            Self::ThreadLocal => "a thread-local",
            Self::Result => "a thread's result",
        };
        format!("a destructor of {of} panics, which aborts the process: {panic}")
    }
}

/// Which results of threads the program may notice being dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Results {
    /// No results.
    #[default]
    Unseen,
    /// Results whose type has a destructor.
    Values,
    /// Results whose type has a destructor, and payloads of any thread's panic.
    Payloads,
}

/// The payload that unwinds a harness whose result is a failure. Holds what is wrong with the result.
pub(crate) struct Verdict(pub(crate) String);
