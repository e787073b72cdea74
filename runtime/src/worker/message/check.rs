//! The conversation of a search of P̂ₖ.

use super::{Conversation, SolverKind};
use crate::check::Level;
use crate::engine::Event;
use crate::feasibility::Step;
use crate::log::{Op, TEvent};
use crate::vocabulary::message;
use crate::vocabulary::{BugKind, Confirmation, Pair, Place, Role, ThreadInfo};

message! {
    /// A search of P̂ₖ.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct CheckRequest {
        /// The harness's name.
        pub harness: String,
        /// The role assignments to go through.
        pub roles: Vec<Role>,
        /// Whether each further thread that runs beside these is to be under test, too.
        pub others: bool,
        /// The largest k: the search goes through 0, 1, …, `k_max`.
        pub k_max: u32,
        /// Values of parameters, by name, as [`Spec::parse`](crate::input::Spec::parse) reads them.
        pub inputs: Vec<(String, String)>,
        /// The largest number of choices of inputs.
        pub max_inputs: u32,
        /// The seed of random choices of inputs.
        pub seed: u64,
        /// The bound on the events of a thread in an execution; `None` is the number that the program needs.
        pub max_steps: Option<u32>,
        /// The bound on the executions for each role.
        pub max_executions: u64,
        /// The solver that decides feasibility.
        pub solver: SolverKind,
        /// Whether to announce every execution with [`CheckReply::Executing`], so that the one that kills the worker is known.
        pub careful: bool,
        /// Whether panics of threads that no thread joins are no failures.
        pub ignore_detached_panics: bool,
        /// The number of the part of the search to make, from 0, and the number of parts.
        pub part: (u32, u32),
    }
}

message! {
    /// What the worker says in a search of P̂ₖ.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum CheckReply {
        /// The search has begun.
        Started {
            /// The number of choices of inputs that the search goes through.
            inputs: u32,
            /// Whether there are more choices of inputs than that.
            sampled: bool,
        },
        /// The threads that run side by side, in order of creation. Sent once.
        Threads(Vec<ThreadInfo>),
        /// Something of P̂ₖ may not be as in the program. Sent before what is found by it.
        Doubtful {
            /// What that is, as in "copies of `T`, …".
            what: String,
            /// The place in the source, if there is one.
            place: Option<Place>,
        },
        /// How far the search is; a few times a second.
        Progress {
            /// The party that is T.
            role: Role,
            /// The number of non-local reads of the executions.
            k: u32,
            /// The counts of this role and k so far.
            level: Level,
        },
        /// All executions with this role and k are done.
        Level {
            /// The party that is T.
            role: Role,
            /// The number of non-local reads of the executions.
            k: u32,
            /// The counts of this role and k.
            level: Level,
        },
        /// A bug, when it is first met.
        Finding(Box<Finding>),
        /// The number of executions that met each of the findings, in the order in which the findings were sent.
        Times(Vec<u64>),
        /// The execution that comes next. Only when asked to be careful.
        Executing(Executing),
        /// Asks whether this log is feasible: the driver sends an [`Answer`].
        Check {
            /// The events of T.
            under_test: Vec<TEvent>,
            /// The events of T'.
            interfering: Vec<Op>,
            /// Whether the progress grid finds the log feasible.
            by_grid: bool,
        },
        /// The search is over.
        Done,
    }
}

message! {
    /// An execution that comes next.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Executing {
        /// The party that is T.
        pub role: Role,
        /// The non-local reads.
        pub pairs: Vec<Pair>,
        /// The names of the inputs, with their values as text.
        pub inputs: Vec<(String, String)>,
    }
}

message! {
    /// Whether a log is feasible.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum Answer {
        /// The log is feasible.
        Feasible,
        /// The log is not feasible.
        Infeasible,
        /// Feasibility could not be decided, for this reason.
        Unknown(String),
    }
}

message! {
    /// A bug with its proof.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Finding {
        /// The kind of bug.
        pub kind: BugKind,
        /// The panic's message, or a sentence on what is wrong.
        pub message: String,
        /// The place at which T fails or waits, or T's access.
        pub place: Place,
        /// For deadlocks and races: the place of what T' is about to do.
        pub other_place: Option<Place>,
        /// The places of the panics that the bug follows from: where one of them is told, the bug says nothing more.
        pub follows: Vec<Place>,
        /// The party that is T.
        pub role: Role,
        /// The non-local reads, in order. Their number is k.
        pub pairs: Vec<Pair>,
        /// The names of the inputs, with their values as text.
        pub inputs: Vec<(String, String)>,
        /// The threads that run side by side, in order of creation; none if the bug needs no second thread.
        pub threads: Vec<ThreadInfo>,
        /// The events of T up to the bug.
        pub under_test: Vec<Event>,
        /// The events of T'. Where several threads interfere, the events of one stand behind those of the other.
        pub interfering: Vec<Event>,
        /// Which parties interfere, in the order of their events, each with its number of events.
        pub lines: Vec<(Role, u32)>,
        /// An order of both in which the bug happens.
        pub interleaving: Vec<Step>,
        /// Whether the bug is there when the original program is run in this order.
        pub confirmation: Confirmation,
        /// The number of executions with this party as T when the bug was met, that one included.
        pub execution: u64,
    }
}

impl Conversation for CheckRequest {
    type Reply = CheckReply;
    type Answer = Answer;

    fn harness(&self) -> &str {
        &self.harness
    }
}
