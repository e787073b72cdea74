//! The conversation of an exploration of schedules of the original program.

use super::{Conversation, SolverKind};
use crate::vocabulary::{
    Causality, FailureKind, HeldUp, Place, Promise, Role, Scheduled, ThreadInfo, Waiting,
};
use crate::vocabulary::{Wire, WireError, message};

message! {
    /// An exploration of schedules.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ExploreRequest {
        /// The harness's name.
        pub harness: String,
        /// The strategy's name, as it is in the catalogue of `seqz-explore`. A worker refuses one that it does not know.
        pub strategy: String,
        /// The strategy's bound, if it has one.
        pub bound: Option<u32>,
        /// Values of parameters, by name, as [`Spec::parse`](crate::input::Spec::parse) reads them.
        pub inputs: Vec<(String, String)>,
        /// The largest number of choices of inputs.
        pub max_inputs: u32,
        /// The seed of random choices.
        pub seed: u64,
        /// The bound on the events of an execution; `None` is the number that the program needs.
        pub max_steps: Option<u32>,
        /// The bound on the executions for each choice of inputs.
        pub max_executions: u64,
        /// The number of times in an execution that something may happen without a reason.
        pub spurious: u32,
        /// The only places where something may happen without a reason; `None` is any place.
        pub spurious_at: Option<Vec<Place>>,
        /// The size of each thread's stack, in bytes.
        pub stack: u64,
        /// Whether to tell the events of executions with [`ExploreReply::Running`] as they come, so that
        /// what kills the worker is known: from the execution on that comes after this number of choices of inputs, and
        /// this number of executions with the next one.
        pub careful: Option<(u32, u64)>,
        /// Whether panics of threads that no thread joins are no failures.
        pub ignore_detached_panics: bool,
        /// Whether not all that the harness's threads share is followed.
        pub unfollowed: bool,
        /// Whether accesses of `unsafe` code to memory are checked.
        pub checks_memory: bool,
        /// Whether the search is over with the first execution that fails.
        pub until_failure: bool,
        /// The number of the part of the search to make, from 0, and the number of parts. More than one part only with
        /// `dfs` and `odpor`.
        pub part: (u32, u32),
        /// Whether to count distinct lazy happens-before relations, too.
        pub lazy_relations: bool,
        /// The solver that answers the queries of `mcr` and `rv-causal`.
        pub solver: SolverKind,
        /// The number of runs that `hapset` learns from before it begins.
        pub learning_runs: u32,
        /// The number of innermost calls of a thread that tell its events apart, for `hapset`.
        pub call_depth: u32,
        /// The number of OS threads that work on a search by `mcr`: one executes the program, all solve.
        pub threads: u32,
        /// The path of a file to which a search by `mcr` writes what it knows, and from which it goes on; with the names
        /// and values that tell the search from others.
        pub checkpoint: Option<(String, Vec<(String, String)>)>,
    }
}

message! {
    /// What the worker says in an exploration.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum ExploreReply {
        /// The exploration has begun.
        Started {
            /// The number of choices of inputs that the search goes through.
            inputs: u32,
            /// Whether there are more choices of inputs than that.
            sampled: bool,
        },
        /// The counts of an exploration that goes on; a few times a second.
        Exploring(Explored),
        /// A failure, when its kind and place are first met.
        Failure(Box<ScheduleFinding>),
        /// What a part of a search has seen, so that what several parts saw is counted once. Before
        /// [`Explored`](Self::Explored), in pieces.
        Seen {
            /// Hashes of terminal happens-before relations, where parts may see the same.
            relations: Vec<u64>,
            /// Hashes of terminal states.
            states: Vec<u64>,
        },
        /// An exploration is over, for one choice of inputs.
        Explored {
            /// The inputs.
            inputs: Vec<(String, String)>,
            /// The counts.
            counts: Explored,
            /// What the exploration can promise.
            promise: Promise,
            /// The number of turns of the search, if it is divided and has come to its end.
            turns: u64,
            /// The turns that belong to this part, each with its number of executions.
            own: Vec<(u64, u64)>,
        },
        /// What goes on in the execution that runs. Only when asked to be careful.
        Running {
            /// The inputs.
            inputs: Vec<(String, String)>,
            /// The execution's number in its search, from 1.
            execution: u64,
            /// The number of the sequence that the program's random numbers are of: 0 is the usual one.
            random: u64,
            /// The events since the last such reply about the same execution.
            done: Vec<Scheduled>,
            /// The operation that is done now.
            next: Scheduled,
        },
        /// Asks whether this query about a maximal causal model has an answer, which the driver sends in words. All in
        /// words, see `seqz_explore::mcm::words`.
        Solve {
            /// The model; empty if it is that of the query before.
            model: Vec<u64>,
            /// The query.
            query: Vec<u64>,
            /// The answer of the worker's own solver; empty if that was not asked.
            own: Vec<u64>,
        },
        /// The number of executions with each of the failures, in the order in which the failures were sent.
        Times(Vec<u64>),
        /// For each failure, in the order in which they were sent: the roles in which some execution with the failure
        /// has T' observe nothing of T, each with the least number of times that T observes T' in such an execution.
        /// Only for programs of two threads.
        Couplings(Vec<Vec<(Role, u32)>>),
        /// For each failure, in the order in which they were sent: who was held up, if some thread was in each execution with
        /// the failure; of all these, in the one in which that was shortest. Sent when a failure is met without that, too.
        HeldUp(Vec<Option<HeldUp>>),
        /// The exploration is over.
        Done,
    }
}

message! {
    /// A failure with the schedule that leads to it.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ScheduleFinding {
        /// The kind of failure.
        pub kind: FailureKind,
        /// The panic's message, or a sentence on what is wrong.
        pub message: String,
        /// The place of the panic, or of what the first of the waiting threads waits for.
        pub place: Option<Place>,
        /// The places of the panics that the failure follows from: where one of them is told, the failure says nothing
        /// more.
        pub follows: Vec<Place>,
        /// The number of the thread that panicked, or of the first of the waiting threads.
        pub thread: u32,
        /// The threads that wait for ever; for a data race, the two accesses.
        pub waiting: Vec<Waiting>,
        /// The names of the inputs, with their values as text.
        pub inputs: Vec<(String, String)>,
        /// The threads, by number.
        pub threads: Vec<Option<ThreadInfo>>,
        /// All events of the execution in order.
        pub schedule: Vec<Scheduled>,
        /// The number of events before the failure. A panic's thread may do more while it unwinds, and others do.
        pub events: u64,
        /// The execution's number in its search, from 1. In a part of a search, the executions that other parts count are
        /// counted, too.
        pub execution: u64,
        /// The turn of the divided search that the execution belongs to, and its number in that turn, from 1.
        pub standing: (u64, u64),
        /// The number of the sequence that the program's random numbers are of: 0 is the usual one.
        pub random: u64,
        /// Who was held up in this execution, if that may have led to the failure.
        pub held_up: Option<HeldUp>,
    }
}

/// A reason why a search knows less about an execution than its promise needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// A thread saw something of time that may depend on what the strategy leaves out.
    VirtualTime,
    /// A time limit may run out at another moment than the search tried.
    PassingTime,
    /// A scope waited for destructors of thread-locals, which may also come after its end.
    ScopedDestructor,
    /// A reader might wait for ever behind a writer, in an order that the strategy leaves out.
    WaitingWriter,
    /// An attempt to read succeeded that may fail, since a writer waits.
    TriedBesideWriter,
    /// A thread parks that was unparked before or while it waited in a call that parks, too, and may have used that up.
    UsedUnpark,
    /// An execution went another way than it had to, and what would have come of it was left out.
    PartedWays,
}

impl Doubt {
    const ALL: [Self; 7] = [
        Self::VirtualTime,
        Self::PassingTime,
        Self::ScopedDestructor,
        Self::WaitingWriter,
        Self::TriedBesideWriter,
        Self::UsedUnpark,
        Self::PartedWays,
    ];
}

/// A set of doubts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Doubts(u32);

impl Doubts {
    /// Returns the set of this doubt alone.
    #[must_use]
    pub const fn of(doubt: Doubt) -> Self {
        Self(1 << doubt as u32)
    }

    /// Adds the doubts of another set.
    pub const fn add(&mut self, others: Self) {
        self.0 |= others.0;
    }

    /// Whether the doubt is in the set.
    #[must_use]
    pub const fn contains(self, doubt: Doubt) -> bool {
        self.0 >> doubt as u32 & 1 != 0
    }

    /// Whether the set has no doubt.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The doubts of the set, in the order of the enum.
    pub fn iter(self) -> impl Iterator<Item = Doubt> {
        Doubt::ALL
            .into_iter()
            .filter(move |&doubt| self.contains(doubt))
    }
}

impl FromIterator<Doubt> for Doubts {
    fn from_iter<I: IntoIterator<Item = Doubt>>(doubts: I) -> Self {
        let doubts = doubts.into_iter();
        Self(doubts.fold(0, |all, doubt| all | 1 << doubt as u32))
    }
}

impl Wire for Doubts {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, WireError> {
        u32::take(bytes).map(Self)
    }
}

message! {
    /// Counts of an exploration.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Explored {
        /// The number of executions begun.
        pub executions: u64,
        /// The number of executions whose happens-before relation had been seen.
        pub redundant: u64,
        /// The number of executions that were given up, since nothing new could come of them.
        pub abandoned: u64,
        /// The number of executions that ended with threads waiting for ever.
        pub blocked: u64,
        /// The number of executions that were cut at the bound on events.
        pub truncated: u64,
        /// The number of executions that go on in another one, in which a thread that waits in a loop looks later.
        pub waiting: u64,
        /// The reasons why the search knows less than its promise needs.
        pub doubts: Doubts,
        /// The number of executions that were cut where threads wait, and it is not known whether for ever.
        pub undecided: u32,
        /// The number of executions that failed.
        pub failing: u64,
        /// The number of events of all executions together.
        pub events: u64,
        /// The number of distinct terminal happens-before relations.
        pub relations: u64,
        /// The number of distinct terminal lazy happens-before relations, if they are counted.
        pub lazy_relations: Option<u64>,
        /// The number of distinct terminal states, as far as they are made of atomics.
        pub states: u64,
        /// The number of executions that there will be in all, estimated from the part of the tree that is done.
        pub estimate: Option<u64>,
        /// The counts of a strategy that tells executions apart by what the threads observe.
        pub causality: Option<Box<Causality>>,
    }
}

impl Conversation for ExploreRequest {
    type Reply = ExploreReply;
    type Answer = Vec<u64>;

    fn harness(&self) -> &str {
        &self.harness
    }
}
