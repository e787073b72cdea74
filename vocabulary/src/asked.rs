//! What a program asks of the operating system.

use crate::message;

message! {
    /// What a program asks of the operating system while it runs, by which its threads or executions can learn of each other without
    /// an event.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum Asked {
        /// To change the file of this name, or to open this file for changing.
        File(String),
        /// To read the file or directory of this name, or to look whether it is there. Nobody learns of another by that, but
        /// what was found holds only for what was read.
        Read(String),
        /// A socket.
        Socket,
        /// A pipe, or a counter that works like one.
        Pipe,
        /// Another process.
        Process,
        /// A thread that runs beside the threads that seqz runs.
        Thread,
        /// Standard input.
        Input,
        /// Time: a thread slept or yielded again and again, and the threads that could have run got no turn.
        Turns,
        /// Random numbers that decide what the program does.
        Random,
        /// The numbers of threads, where more than one thread starts threads.
        Ids,
    }
}

/// What a function of the C library may keep from one execution to the next, in words.
#[must_use]
pub fn state_of(function: &str) -> String {
    format!("state of the C function `{function}`")
}

impl Asked {
    /// The kind in words. What is found in the source is called by the same words.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::File(_) => "a file",
            Self::Read(_) => "a file that is read",
            Self::Socket => "a socket",
            Self::Pipe => "a pipe",
            Self::Process => "another process",
            Self::Thread => "a thread of its own",
            Self::Input => "standard input",
            Self::Turns => "a wait in which nobody else got a turn",
            Self::Random => {
                "random numbers, or the date, which decide what the program does, as by the order of a hash map, and are the \
                 same in each execution"
            }
            Self::Ids => {
                "the numbers of threads, which go by the order in which several threads start them, and were tried in \
                 one order"
            }
        }
    }
}
