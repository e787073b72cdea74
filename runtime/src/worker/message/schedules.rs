//! Messages about schedules of the original program: exploring them, following one, and what comes of it.

use super::super::wire::{Wire, WireError, wire};
use super::SolverKind;
use crate::vocabulary::{Action, Confirmation, FailureKind, Place, Scheduled, ThreadInfo, Waiting};

/// An exploration of schedules to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExploreRequest {
    /// The harness's name.
    pub harness: String,
    /// The strategy's name, as it is in the catalogue of `seqz-explore`. A worker refuses one that it does not know.
    pub strategy: String,
    /// What the strategy is to be bounded by, if it has a bound.
    pub bound: Option<u32>,
    /// Values of parameters, by name, as [`Spec::parse`](crate::input::Spec::parse) reads them.
    pub inputs: Vec<(String, String)>,
    /// How many choices of inputs at most.
    pub max_inputs: u32,
    /// Where random choices begin.
    pub seed: u64,
    /// The bound on events of an execution. Without one, it is as many as the program needs.
    pub max_steps: Option<u32>,
    /// The bound on executions, for each choice of inputs.
    pub max_executions: u64,
    /// How often in an execution something may happen without a reason.
    pub spurious: u32,
    /// Where alone; anywhere, if there is nothing.
    pub spurious_at: Option<Vec<Place>>,
    /// Bytes of stack for each thread.
    pub stack: u64,
    /// Tell the events of executions with [`Reply::Running`](super::Reply::Running) as they come, so that what kills the worker is known, from
    /// this one on: after so many choices of inputs, and so many executions with the next one.
    pub careful: Option<(u32, u64)>,
    /// Panics of threads that nobody joins are no failures.
    pub ignore_detached_panics: bool,
    /// Not all that the harness's threads share is followed.
    pub unfollowed: bool,
    /// Whether the search is over with the first execution that fails.
    pub until_failure: bool,
    /// Which part of the search to make, from 0, and of how many. More than one: only with `dfs` and `odpor`.
    pub part: (u32, u32),
    /// Whether to count distinct lazy happens-before relations, too.
    pub lazy_relations: bool,
    /// What answers the queries of `mcr` and `rv-causal`.
    pub solver: SolverKind,
    /// How many runs `hapset` learns from before it begins.
    pub learning_runs: u32,
    /// How many of the calls that a thread is in tell its events apart, for `hapset`.
    pub call_depth: u32,
    /// How many OS threads work on the search, of `mcr`: one executes the program, all solve.
    pub threads: u32,
    /// A file to write down what is known, of `mcr`, and to go on from, with what tells the search from others.
    pub checkpoint: Option<(String, Vec<(String, String)>)>,
}

/// A schedule to follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayRequest {
    /// The harness's name.
    pub harness: String,
    /// The value of each parameter, by name.
    pub inputs: Vec<(String, String)>,
    /// The events in order.
    pub schedule: Vec<Scheduled>,
    /// How often.
    pub times: u32,
    /// How often in an execution something may happen without a reason.
    pub spurious: u32,
    /// Where alone; anywhere, if there is nothing.
    pub spurious_at: Option<Vec<Place>>,
    /// Bytes of stack for each thread.
    pub stack: u64,
    /// Not all that the harness's threads share is followed.
    pub unfollowed: bool,
    /// Which sequence the program's random numbers are of: 0 is the usual one.
    pub random: u64,
}

/// A failure with the schedule that leads to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleFinding {
    /// What kind.
    pub kind: FailureKind,
    /// What the program said, or what is wrong.
    pub message: String,
    /// Where: the panic, or what the first of the waiting threads waits for.
    pub place: Option<Place>,
    /// The places of panics that it follows from: where one of them is told, it says nothing more.
    pub follows: Vec<Place>,
    /// Whose panic; the first of the waiting threads.
    pub thread: u32,
    /// Threads that wait for ever; for a data race, the two accesses.
    pub waiting: Vec<Waiting>,
    /// The inputs, as text, with their names.
    pub inputs: Vec<(String, String)>,
    /// The threads, by number.
    pub threads: Vec<Option<ThreadInfo>>,
    /// All events of the execution in order.
    pub schedule: Vec<Scheduled>,
    /// How many of them come before the failure. A panic's thread may do more while it unwinds, and others do.
    pub events: u64,
    /// The execution's number in its search, from 1. In a part of a search, those are counted too that other parts count.
    pub execution: u64,
    /// In which turn of the divided search the execution is, and its number in that, from 1.
    pub standing: (u64, u64),
    /// Which sequence the program's random numbers are of: 0 is the usual one.
    pub random: u64,
}

/// Something in an execution by which a search knows less than it would have to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// A thread saw something of time that may depend on what the strategy leaves out.
    VirtualTime,
    /// A time limit may run out elsewhere than was tried.
    PassingTime,
    /// A scope waited for destructors of thread-locals, which may also come after its end.
    ScopedDestructor,
    /// A reader might wait for ever behind a writer, in an order that the strategy leaves out.
    WaitingWriter,
    /// An attempt to read succeeded that may fail, since a writer waits.
    TriedBesideWriter,
    /// A thread parks that was unparked before or while it waited in a call that parks, too, and may have used that up.
    UsedUnpark,
}

impl Doubt {
    const ALL: [Self; 6] = [
        Self::VirtualTime,
        Self::PassingTime,
        Self::ScopedDestructor,
        Self::WaitingWriter,
        Self::TriedBesideWriter,
        Self::UsedUnpark,
    ];
}

/// Some of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Doubts(u32);

impl Doubts {
    /// Adds those of others.
    pub const fn add(&mut self, others: Self) {
        self.0 |= others.0;
    }

    /// Whether it is among them.
    #[must_use]
    pub const fn contains(self, doubt: Doubt) -> bool {
        self.0 >> doubt as u32 & 1 != 0
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// One after the other.
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

/// Counts of an exploration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explored {
    /// Executions begun.
    pub executions: u64,
    /// Those whose happens-before relation had been seen.
    pub redundant: u64,
    /// Those that were given up, since nothing new could come of them.
    pub abandoned: u64,
    /// Those that ended with threads waiting for ever.
    pub blocked: u64,
    /// Those that were cut at the step bound.
    pub truncated: u64,
    /// Those that go on in another one, in which a thread that waits in a loop looks later.
    pub waiting: u64,
    /// By what the search knows less than it would have to.
    pub doubts: Doubts,
    /// Of those that were cut, so many were where threads wait, and it is not known whether for ever.
    pub undecided: u32,
    /// Those that failed.
    pub failing: u64,
    /// Events of all executions.
    pub events: u64,
    /// Distinct terminal happens-before relations.
    pub relations: u64,
    /// Distinct terminal lazy happens-before relations, if they are counted.
    pub lazy_relations: Option<u64>,
    /// Distinct terminal states, as far as they are made of atomics.
    pub states: u64,
    /// How many executions there will be in all, as estimated from the part of the tree that is done.
    pub estimate: Option<u64>,
    /// Of strategies that tell executions apart by what the threads observe.
    pub causality: Option<Box<Causality>>,
}

/// Counts of a strategy that tells executions apart by what the threads observe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Causality {
    /// Classes executed: all threads observe the same in the executions of one.
    pub classes: u64,
    /// Executions of a class that had been executed.
    pub redundant: u64,
    /// Executions that were only to show a race that had been predicted, and were of a class that had been executed.
    pub confirmations: u64,
    /// Seeds that wait to be executed.
    pub waiting: u64,
    /// Questions asked of the solver.
    pub queries: u64,
    /// Those that it gave up.
    pub unknown: u64,
    /// Seeds that the program did not follow.
    pub lost: u64,
    /// Executions with an event whose outcome depends on more than values.
    pub open: u64,
}

/// What an exploration that has ended can promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Promise {
    /// Every schedule, up to the order of independent events, has been executed.
    Exhausted,
    /// Every reachable state, but not every schedule: of those that differ in the order of critical sections that share
    /// nothing, at least one has been executed.
    ExhaustedLazily {
        /// Executions were cut at the step bound.
        truncated: bool,
    },
    /// Every class of executions in which all threads observe the same has been executed.
    ExhaustedByValues {
        /// Executions were cut at the step bound.
        truncated: bool,
    },
    /// Every schedule within the bounds.
    Bounded {
        /// Up to so many preemptions.
        preemptions: Option<u32>,
        /// Executions were cut at the step bound.
        truncated: bool,
    },
    /// Schedules were left out that are like others.
    Heuristic,
    /// Schedules were drawn at random.
    Sampled,
    /// The search was cut.
    Unfinished,
}

/// How a replay went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replayed {
    /// The schedule was followed to its end.
    Followed {
        /// All that failed, what decides first.
        failures: Vec<ScheduleFinding>,
        /// Panics that the harness may have been about to hear of, when a failure kept it from that.
        bystanders: Vec<ScheduleFinding>,
        /// How many of the runs gave the same events.
        same: u32,
        /// What the threads were about to do when the schedule was at its end.
        next: Vec<Waiting>,
    },
    /// The program and the schedule part ways.
    Diverged {
        /// At which event of the schedule.
        at: u32,
        /// What differs.
        difference: String,
        /// Where the program is then.
        place: Option<Place>,
        /// The events up to there.
        schedule: Vec<Scheduled>,
    },
}

wire!(Action { 0 = Local, 1 = Read, 2 = Write, 3 = Update, 4 = CompareExchange, 5 = FailedUpdate, 6 = Lock, 7 = TryLock, 8 = TryLockFailed, 9 = Unlock, 10 = LockShared, 11 = TryLockShared, 12 = TryLockSharedFailed, 13 = UnlockShared, 14 = Fork, 15 = Begin, 16 = End, 17 = Join, 18 = Wait, 19 = Wake, 20 = Notify });

wire!(Scheduled {
    thread,
    action,
    object,
    place
});

wire!(Waiting {
    thread,
    action,
    object,
    place
});

wire!(Confirmation {
    0 = Confirmed(schedule),
    1 = Diverged { difference, schedule },
    2 = Absent(schedule),
    3 = NotTried
});

wire!(ExploreRequest {
    harness,
    strategy,
    bound,
    inputs,
    max_inputs,
    seed,
    max_steps,
    max_executions,
    spurious,
    spurious_at,
    stack,
    careful,
    ignore_detached_panics,
    unfollowed,
    until_failure,
    part,
    lazy_relations,
    solver,
    learning_runs,
    call_depth,
    threads,
    checkpoint
});

wire!(ReplayRequest {
    harness,
    inputs,
    schedule,
    times,
    spurious,
    spurious_at,
    stack,
    unfollowed,
    random
});

wire!(ScheduleFinding {
    kind,
    message,
    place,
    follows,
    thread,
    waiting,
    inputs,
    threads,
    schedule,
    events,
    execution,
    standing,
    random
});

wire!(Explored {
    executions,
    redundant,
    abandoned,
    blocked,
    truncated,
    waiting,
    doubts,
    undecided,
    failing,
    events,
    relations,
    lazy_relations,
    states,
    estimate,
    causality
});

wire!(Causality {
    classes,
    redundant,
    confirmations,
    waiting,
    queries,
    unknown,
    lost,
    open
});

wire!(Promise { 0 = Exhausted, 1 = Bounded { preemptions, truncated }, 2 = Sampled, 3 = Unfinished, 4 = ExhaustedLazily { truncated }, 5 = Heuristic, 6 = ExhaustedByValues { truncated } });

wire!(Replayed {
    0 = Followed { failures, bystanders, same, next },
    1 = Diverged { at, difference, place, schedule }
});

wire!(FailureKind {
    0 = Panic,
    1 = Deadlock,
    2 = Livelock,
    3 = DataRace,
    4 = Detached,
    5 = Result,
    6 = Exit,
    7 = Abort
});
