//! What a check has to say, as data. `--format json` prints it as it is (docs/json.md), the human report is drawn from it.

use serde::{Deserialize, Serialize};

use super::exploration::Exploration;
use super::lone::Lone;
use super::schedule::Confirmation;
pub use super::status::Status;
pub use super::unfollowed::NotFollowed;

/// The version of the document's schema. It goes up when a field changes its meaning or goes away; fields that are added
/// leave it as it is.
pub const SCHEMA: u32 = 1;

/// The answer of `seqz check`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The version of seqz that made it.
    pub seqz: String,
    /// The program, as given on the command line.
    pub path: String,
    /// The largest number of non-local reads that was asked for.
    pub k_max: u32,
    /// Which engine decided feasibility: `grid`, `z3` or `all`.
    pub solver: String,
    /// The seed with which inputs were sampled, if they were.
    pub seed: Option<u64>,
    /// Why the search ended before it was done, if so.
    pub cut: Option<Cut>,
    /// Every harness that was asked for, in the order of the source.
    pub harnesses: Vec<HarnessReport>,
    /// The directory in which every bug has a file of its own, if any was found.
    pub findings: Option<String>,
    /// What `seqz explore` said of harnesses in which no bug was found, where there was time for it.
    #[serde(default)]
    pub explored: Option<Exploration>,
    /// Over all harnesses.
    pub summary: Summary,
}

/// Why the whole search ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cut {
    /// Ctrl-C.
    Interrupted,
    /// `--time` was over.
    TimeLimit,
}

/// Counts over all harnesses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Bugs, each site and kind once.
    pub bugs: u32,
    /// Failures that [`Report::explored`] has.
    #[serde(default)]
    pub failures: u32,
    /// Findings that could not be confirmed: faults of seqz.
    pub faults: u32,
    /// Harnesses that were checked.
    pub checked: u32,
    /// Harnesses that could not be checked.
    pub unsupported: u32,
    /// Findings that don't count, as they may come of what is not followed.
    #[serde(default)]
    pub doubtful: u32,
    /// Executions of sequential programs.
    pub executions: u64,
    /// Whether everything that was asked for has been searched to the end.
    pub exhausted: bool,
    /// Wall clock, building included.
    pub seconds: f64,
    /// The most memory that a worker had resident, in bytes, where the system tells.
    #[serde(default)]
    pub memory: Option<u64>,
}

/// When something was first met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Met {
    /// After how many executions, that one included.
    pub executions: u64,
    /// How long after the search of its harness had begun, in seconds.
    pub seconds: f64,
}

/// What is known of one harness.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HarnessReport {
    /// Its path in the crate.
    pub name: String,
    /// Where it is.
    pub site: Site,
    /// How it went.
    pub status: Status,
    /// The threads that ran side by side, in order of creation.
    pub threads: Vec<Thread>,
    /// How the values of its parameters were chosen.
    pub inputs: Vec<InputDomain>,
    /// What it reaches and seqz does not follow; if there is anything, nothing is exhausted.
    #[serde(default)]
    pub not_followed: Vec<NotFollowed>,
    /// What it reaches outside of loops that may happen without a reason, and did not here; if there is anything, nothing is
    /// exhausted.
    #[serde(default)]
    pub lone: Vec<Lone>,
    /// What was searched, for each choice of the thread under test.
    pub roles: Vec<RoleReport>,
    /// What was found.
    pub bugs: Vec<Bug>,
    /// What was found but is not there when the original program is run: faults of seqz, and no bugs of the program.
    pub faults: Vec<Bug>,
    /// Whatever else is worth saying.
    pub notes: Vec<String>,
    /// What was shown, in a sentence.
    #[serde(default)]
    pub verdict: String,
    /// Wall clock.
    #[serde(default)]
    pub seconds: f64,
}

/// A place in the original source.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Site {
    /// The file, as a user would name it.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
    /// The text of the line, without the white space around it; where it ends with an open bracket, the lines up to the
    /// closing one are put behind it.
    pub text: String,
}

/// Which party is T, the thread under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The one that was there first.
    First,
    /// The one that was started later.
    Second,
}

impl Role {
    /// Both, in order.
    pub const BOTH: [Self; 2] = [Self::First, Self::Second];

    /// The party's index in the list of threads.
    #[must_use]
    pub const fn index(self) -> usize {
        match self {
            Self::First => 0,
            Self::Second => 1,
        }
    }

    /// The party that interferes.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }

    /// `first` or `second`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Second => "second",
        }
    }
}

/// A thread of the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    /// The name given to `thread::Builder`, or else that of the variable that holds the thread's handle.
    pub name: Option<String>,
    /// Where it is started; for the harness's own thread there is no such place.
    pub spawned: Option<Site>,
}

/// How the values of one parameter were chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputDomain {
    /// The parameter.
    pub name: String,
    /// Its type, as written.
    #[serde(rename = "type")]
    pub ty: String,
    /// What was given with `--input`, if anything.
    pub given: Option<String>,
}

/// What was searched with one thread under test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoleReport {
    /// Which thread is under test.
    pub under_test: Role,
    /// For k = 0, 1, 2, …
    pub levels: Vec<Level>,
}

/// What was searched with k non-local reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// The number of non-local reads.
    pub k: u32,
    /// Executions of the sequential program.
    pub executions: u64,
    /// Those of them that turned out to have no feasible interleaving, and were abandoned.
    pub infeasible: u64,
    /// Executions in which a bug showed.
    pub failing: u64,
    /// Executions that an assumption of the program discarded.
    pub assumed: u64,
    /// Executions that were cut because the thread under test did nothing but wait.
    pub waiting: u64,
    /// Executions that were cut, at `--max-steps` or before: nothing is known of what follows the cut.
    #[serde(default)]
    pub cut: u64,
    /// Of these, those that were cut where threads wait, and it is not known whether for ever.
    #[serde(default)]
    pub undecided: u64,
    /// Whether all choices of inputs, reads and writes were tried.
    pub exhausted: bool,
    /// If not: why not.
    pub reasons: Vec<Reason>,
}

/// Why a level is not exhausted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Some execution was cut at `--max-steps` shared accesses.
    StepBound,
    /// Some execution was cut where threads wait, and it is not known whether for ever.
    Undecided,
    /// Not all inputs were tried.
    SampledInputs,
    /// `--max-executions` was reached.
    ExecutionLimit,
    /// `--time` was over.
    TimeLimit,
    /// Ctrl-C.
    Interrupted,
    /// The solver didn't know, or ran out of time.
    SolverUnknown,
    /// The program died, or hung, before the level was done.
    Died,
    /// A fuzzer chose what to execute.
    Fuzzed,
    /// The program did not follow a schedule that it must be able to follow.
    NotFollowed,
    /// The outcome of some event depends on more than the values that threads see.
    OpenOutcome,
    /// A destructor used shared objects while its thread panicked, where other threads can't run in between.
    Unwinding,
    /// What a thread saw of time may depend on an order that the strategy leaves out.
    VirtualTime,
    /// A time limit of the program may run out elsewhere than was tried.
    PassingTime,
    /// A scope waited for destructors of thread-locals, which may also come after its end.
    ScopedDestructor,
    /// A reader may wait for ever behind a writer that waits, in an order that the strategy leaves out.
    WaitingWriter,
    /// An attempt to read a lock succeeded that may fail, since a writer waits for it.
    TriedBesideWriter,
    /// A thread parks that was unparked before, and may have used that up in a call that parks, too.
    UsedUnpark,
    /// The harness reaches something that seqz does not follow.
    Unfollowed,
    /// What may happen without a reason was not tried.
    Reasonless,
}

impl Reason {
    /// All of them.
    pub const ALL: [Self; 20] = [
        Self::StepBound,
        Self::Undecided,
        Self::SampledInputs,
        Self::ExecutionLimit,
        Self::TimeLimit,
        Self::Interrupted,
        Self::SolverUnknown,
        Self::Died,
        Self::Fuzzed,
        Self::NotFollowed,
        Self::OpenOutcome,
        Self::Unwinding,
        Self::VirtualTime,
        Self::PassingTime,
        Self::ScopedDestructor,
        Self::WaitingWriter,
        Self::TriedBesideWriter,
        Self::UsedUnpark,
        Self::Unfollowed,
        Self::Reasonless,
    ];
}

/// What kind of bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A failed assertion.
    Assertion,
    /// Arithmetic overflow, or a division by zero.
    Arithmetic,
    /// An index out of bounds.
    Index,
    /// Any other panic.
    Panic,
    /// Any panic of a thread that nobody joins.
    DetachedPanic,
    /// The test's result is a failure, or it should have panicked, and did not.
    Result,
    /// Both threads wait for a lock that the other one holds.
    Deadlock,
    /// Threads look again and again at something that no thread changes any more.
    Livelock,
    /// Two accesses to memory without synchronization, at least one of them a write, with nothing to order them.
    DataRace,
    /// The process was ended by `abort`, or by a signal such as that of a stack overflow.
    Crash,
    /// The program called `exit`.
    Exit,
    /// The program went on for ever, or took too long, without a shared access.
    Hang,
}

impl Kind {
    /// Whether it is a thread's panic.
    pub(crate) const fn is_panic(self) -> bool {
        match self {
            Self::Assertion
            | Self::Arithmetic
            | Self::Index
            | Self::Panic
            | Self::DetachedPanic => true,
            Self::Result
            | Self::Deadlock
            | Self::Livelock
            | Self::DataRace
            | Self::Crash
            | Self::Exit
            | Self::Hang => false,
        }
    }

    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Assertion,
        Self::Arithmetic,
        Self::Index,
        Self::Panic,
        Self::DetachedPanic,
        Self::Result,
        Self::Deadlock,
        Self::Livelock,
        Self::DataRace,
        Self::Crash,
        Self::Exit,
        Self::Hang,
    ];
}

/// One bug.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bug {
    /// What kind.
    pub kind: Kind,
    /// The panic's message, or what else there is to say.
    pub message: String,
    /// Where it shows.
    pub site: Option<Site>,
    /// For deadlocks and data races: the other place that takes part.
    pub other_site: Option<Site>,
    /// Whether the interfering thread is about to do what is there; otherwise it has been done.
    pub other_pending: bool,
    /// The smallest number of non-local reads with which it was found.
    pub k: u32,
    /// Which thread is under test.
    pub under_test: Role,
    /// The values of the parameters.
    pub inputs: Vec<Input>,
    /// The explanation: the k reads of the thread under test that see a value of the interfering thread.
    pub non_local_reads: Vec<NonLocalRead>,
    /// One interleaving that shows the bug. Empty where the program died before it could tell.
    pub trace: Vec<Step>,
    /// Whether it is there when the original program is run in this order.
    pub confirmation: Confirmation,
    /// Where the program died and can say nothing of the execution itself: a command that runs just that one, under a
    /// debugger perhaps.
    pub run_alone: Option<String>,
    /// How many failing executions with this thread under test have this site and kind, this one included.
    pub count: u64,
    /// The same site and kind, found with the other thread under test.
    pub also_found: Vec<AlsoFound>,
    /// When it was first met, among the executions with this thread under test.
    #[serde(default)]
    pub met: Met,
}

/// The same bug, seen from the other side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlsoFound {
    /// Which thread is under test there.
    pub under_test: Role,
    /// The smallest number of non-local reads there.
    pub k: u32,
    /// How many failing executions there.
    pub count: u64,
}

/// One parameter's value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// The parameter.
    pub name: String,
    /// The value, as `Debug` prints it.
    pub value: String,
}

/// A read that sees a value of the other thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NonLocalRead {
    /// rds\[i\]: the read's number among the reads of the thread under test, from 0.
    pub read: u32,
    /// wrts\[i\]: the write's number among the writes of the interfering thread, from 0.
    pub write: u32,
    /// The variable's short name, where there is one.
    pub variable: Option<String>,
    /// The value that is seen, as `Debug` prints it, where it can be printed.
    pub value: Option<String>,
    /// The step of the trace that reads.
    pub read_step: Option<u32>,
    /// The step of the trace that writes.
    pub write_step: Option<u32>,
    /// Where it is read.
    pub read_site: Option<Site>,
    /// Where it is written.
    pub write_site: Option<Site>,
}

/// One event of the interleaving.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Which thread.
    pub thread: Role,
    /// What it does.
    pub op: Op,
    /// To which variable or lock, by number.
    pub object: Option<u32>,
    /// Its short name, where there is one.
    pub variable: Option<String>,
    /// The value read or written, as `Debug` prints it, where it can be printed.
    pub value: Option<String>,
    /// Where.
    pub site: Option<Site>,
    /// For a non-local read, and for the write that it sees: the index in `non_local_reads`.
    pub pair: Option<u32>,
}

/// What an event does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// Reads a variable.
    Read,
    /// Writes a variable.
    Write,
    /// Reads and writes a variable in one indivisible step.
    Update,
    /// Takes a lock for itself alone.
    Lock,
    /// Takes a lock that others may share.
    LockShared,
    /// Gives a lock back.
    Unlock,
    /// Gives a shared lock back.
    UnlockShared,
    /// Finds a lock taken by the other thread.
    TryLockFailed,
    /// Waits for the other thread to end.
    Join,
}

impl Op {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Read,
        Self::Write,
        Self::Update,
        Self::Lock,
        Self::LockShared,
        Self::Unlock,
        Self::UnlockShared,
        Self::TryLockFailed,
        Self::Join,
    ];

    /// Whether what it does is the same whatever others have done before.
    #[must_use]
    pub const fn looks_at_nothing(self) -> bool {
        matches!(self, Self::Write | Self::Unlock | Self::UnlockShared)
    }
}
