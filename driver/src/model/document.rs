//! The document of a check. `--format json` prints it as it is (docs/json.md), and the human report is drawn from it.

use serde::{Deserialize, Serialize};

use super::apart::Uses;
use super::exploration::Exploration;
use super::lone::Lone;
use super::schedule::Confirmation;
pub use super::status::Status;
pub use super::unfollowed::NotFollowed;

/// The version of the document's schema. A change of a field's meaning and the removal of a field raise the version; a
/// new field leaves the version as it is.
pub const SCHEMA: u32 = 1;

/// The document that `seqz check` prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The version of seqz that made the document.
    pub seqz: String,
    /// The program, as given on the command line.
    pub path: String,
    /// The largest number k of non-local reads that was asked for.
    pub k_max: u32,
    /// The engine that decided feasibility: `grid`, `z3` or `all`.
    pub solver: String,
    /// The seed with which inputs were sampled, if they were.
    pub seed: Option<u64>,
    /// The reason why the search ended before it was done; `None`: it was done.
    pub cut: Option<Cut>,
    /// Every harness that was asked for, in the order of the source.
    pub harnesses: Vec<HarnessReport>,
    /// The directory in which every bug has a file of its own; `None`: no bug was found.
    pub findings: Option<String>,
    /// The document of `seqz explore` for harnesses in which no bug was found, where there was time for an exploration.
    #[serde(default)]
    pub explored: Option<Exploration>,
    /// Counts over all harnesses.
    pub summary: Summary,
}

/// The reason why the whole search ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cut {
    /// The user pressed Ctrl-C.
    Interrupted,
    /// `--time` was over.
    TimeLimit,
}

/// Counts over all harnesses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Bugs; bugs of the same site and kind count once.
    pub bugs: u32,
    /// Failures in [`Report::explored`].
    #[serde(default)]
    pub failures: u32,
    /// Findings that could not be confirmed, which are faults of seqz.
    pub faults: u32,
    /// Harnesses that were checked.
    pub checked: u32,
    /// Harnesses that could not be checked.
    pub unsupported: u32,
    /// Findings that don't count, as their cause may be what is not followed.
    #[serde(default)]
    pub doubtful: u32,
    /// Executions of sequential programs.
    pub executions: u64,
    /// Whether everything that was asked for has been searched to the end.
    pub exhausted: bool,
    /// Wall-clock time, building included, in seconds.
    pub seconds: f64,
    /// The part of it until workers were built, with waiting for other processes that build, in seconds.
    #[serde(default)]
    pub building: f64,
    /// The most memory that a worker had resident, in bytes, where the system tells.
    #[serde(default)]
    pub memory: Option<u64>,
}

/// The moment at which a bug or failure was first met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Met {
    /// Executions up to that one, that one included.
    pub executions: u64,
    /// Time since the search of the harness began, in seconds.
    pub seconds: f64,
}

/// What is known of one harness.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HarnessReport {
    /// The harness's path in the crate.
    pub name: String,
    /// The place of the harness.
    pub site: Site,
    /// The status of the check.
    pub status: Status,
    /// The threads that ran side by side, in order of creation.
    pub threads: Vec<Thread>,
    /// For each parameter, how its values were chosen.
    pub inputs: Vec<InputDomain>,
    /// What the harness reaches and seqz does not follow; if there is anything, nothing is exhausted.
    #[serde(default)]
    pub not_followed: Vec<NotFollowed>,
    /// A file that executions read or look for, the first one: what is shown holds for its content.
    #[serde(default)]
    pub reads: Option<String>,
    /// The calls outside of loops that may end or fail without a reason, which a check does not try; if there is any,
    /// nothing is exhausted.
    #[serde(default)]
    pub lone: Vec<Lone>,
    /// What was searched, for each thread under test.
    pub roles: Vec<RoleReport>,
    /// The bugs that were found.
    pub bugs: Vec<Bug>,
    /// Findings that are not there when the original program is run: faults of seqz, and no bugs of the program.
    pub faults: Vec<Bug>,
    /// Further notes, each in words.
    pub notes: Vec<String>,
    /// The verdict: what the search has shown, in a sentence.
    #[serde(default)]
    pub verdict: String,
    /// Wall-clock time of the search, in seconds.
    #[serde(default)]
    pub seconds: f64,
}

impl HarnessReport {
    /// Whether the harness can't be run as a sequential program: it is of a kind that no k reaches, or waits for ever in a
    /// dependency, which an exploration follows.
    #[must_use]
    pub const fn is_beyond(&self) -> bool {
        matches!(
            self.status,
            Status::Unsupported { .. } | Status::Blocked { .. }
        )
    }
}

/// A place in the original source.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Site {
    /// The path of the file, as a user would name it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// The text of the line, without the white space around it; where the line ends with an open bracket, the lines up
    /// to the closing bracket are appended.
    pub text: String,
}

/// The party that is T, the thread under test, by its number: parties are numbered from 0 by creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
pub struct Role(pub u8);

impl Role {
    /// The party that was created first.
    pub const FIRST: Self = Self(0);
    /// The party that was created second.
    pub const SECOND: Self = Self(1);

    /// Both of two parties, in the order of creation.
    pub const BOTH: [Self; 2] = [Self::FIRST, Self::SECOND];

    /// Returns the party's index in the list of threads.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns `first`, `second`, and so on.
    #[must_use]
    pub fn name(self) -> &'static str {
        seqz_runtime::Role(self.0).name()
    }

    /// Returns the party with this [name](Self::name).
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        seqz_runtime::Role::named(name).map(|role| Self(role.0))
    }
}

impl From<Role> for &'static str {
    fn from(role: Role) -> Self {
        role.name()
    }
}

impl TryFrom<String> for Role {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Self::named(&name).ok_or_else(|| format!("`{name}` is no thread"))
    }
}

/// A thread of the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    /// The name given to `thread::Builder`, or else the name of the variable that holds the thread's handle.
    pub name: Option<String>,
    /// The place at which the thread is started; `None` for the harness's own thread.
    pub spawned: Option<Site>,
}

/// How the values of one parameter were chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputDomain {
    /// The parameter's name.
    pub name: String,
    /// The parameter's type, as written.
    #[serde(rename = "type")]
    pub ty: String,
    /// The values given with `--input`, if any.
    pub given: Option<String>,
}

/// What was searched with one thread under test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoleReport {
    /// The thread under test.
    pub under_test: Role,
    /// One level for each k = 0, 1, 2, …
    pub levels: Vec<Level>,
}

/// What was searched with k non-local reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// The number k of non-local reads.
    pub k: u32,
    /// Executions of the sequential program.
    pub executions: u64,
    /// Executions that turned out to have no feasible interleaving, and were abandoned.
    pub infeasible: u64,
    /// Executions in which a bug showed.
    pub failing: u64,
    /// Executions that an assumption of the program discarded.
    pub assumed: u64,
    /// Executions that were cut because the thread under test did nothing but wait.
    pub waiting: u64,
    /// Executions that were cut, at `--max-steps` or before: what follows the cut is not known.
    #[serde(default)]
    pub cut: u64,
    /// Executions, among those cut, that were cut where threads wait, when it was not known whether they wait for ever.
    #[serde(default)]
    pub undecided: u64,
    /// Whether all choices of inputs, reads and writes were tried.
    pub exhausted: bool,
    /// The reasons why the level is not exhausted; empty if it is.
    pub reasons: Vec<Reason>,
}

/// A reason why a level is not exhausted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Some execution was cut at `--max-steps` shared accesses.
    StepBound,
    /// Some execution was cut where threads wait, and it is not known whether they wait for ever.
    Undecided,
    /// Not all inputs were tried.
    SampledInputs,
    /// `--max-executions` was reached.
    ExecutionLimit,
    /// `--time` was over.
    TimeLimit,
    /// The user pressed Ctrl-C.
    Interrupted,
    /// The solver gave up on a question, or ran out of time.
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
    /// A time limit of the program may run out at other points than were tried.
    PassingTime,
    /// A scope waited for destructors of thread-locals, which may also come after its end.
    ScopedDestructor,
    /// The other thread fails in a round after the first one, which is not judged.
    LaterRound,
    /// A thread stands at a barrier, and what it does where the other one comes last was not tried.
    Barrier,
    /// An interfering thread goes on after it has waited for another one, which was not followed.
    BehindAnother,
    /// An execution with a smaller k was cut, and those that grow out of it were not made.
    SmallerK,
    /// A reader may wait for ever behind a writer that waits, in an order that the strategy leaves out.
    WaitingWriter,
    /// An attempt to read a lock succeeded that may also fail, since a writer waits for the lock.
    TriedBesideWriter,
    /// A thread parks that was unparked before, and a call that parks, too, may have used up the unpark.
    UsedUnpark,
    /// The harness reaches something that seqz does not follow.
    Unfollowed,
    /// An event that may happen without a reason was not tried.
    Reasonless,
    /// The sequential program shows what the original program does not: a fault of seqz.
    Refuted,
    /// An exploration has found what the sequential program should have found.
    Missed,
    /// The search is in pieces, and not all of them are here.
    OtherPieces,
    /// A piece of the search was ended from outside before it was done.
    PieceEnded,
}

impl Reason {
    /// All reasons, in the order in which they are documented.
    pub const ALL: [Self; 28] = [
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
        Self::LaterRound,
        Self::Barrier,
        Self::BehindAnother,
        Self::SmallerK,
        Self::WaitingWriter,
        Self::TriedBesideWriter,
        Self::UsedUnpark,
        Self::Unfollowed,
        Self::Reasonless,
        Self::Refuted,
        Self::Missed,
        Self::OtherPieces,
        Self::PieceEnded,
    ];
}

/// The kind of a bug.
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
    /// Any panic of a thread that no thread joins.
    DetachedPanic,
    /// The test's result is a failure, or the test should have panicked and did not.
    Result,
    /// Both threads wait for a lock that the other thread holds.
    Deadlock,
    /// Threads read again and again what no thread changes any more.
    Livelock,
    /// Two accesses to memory without synchronization, at least one of them a write, that no other event orders.
    DataRace,
    /// Memory was accessed after it had been given back.
    UseAfterFree,
    /// Memory was given back that did not live.
    InvalidFree,
    /// The process was ended by `abort`, or by a signal such as the one for a stack overflow.
    Crash,
    /// The program called `exit`.
    Exit,
    /// The program went on for ever, or took too long, without a shared access.
    Hang,
}

impl Kind {
    /// Returns the word for the kind in documents.
    #[must_use]
    pub fn key(self) -> String {
        let value = serde_json::to_value(self).unwrap_or_default();
        value.as_str().unwrap_or_default().to_owned()
    }

    /// Whether the kind is a panic of a thread.
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
            | Self::UseAfterFree
            | Self::InvalidFree
            | Self::Crash
            | Self::Exit
            | Self::Hang => false,
        }
    }

    /// All kinds.
    pub const ALL: [Self; 14] = [
        Self::Assertion,
        Self::Arithmetic,
        Self::Index,
        Self::Panic,
        Self::DetachedPanic,
        Self::Result,
        Self::Deadlock,
        Self::Livelock,
        Self::DataRace,
        Self::UseAfterFree,
        Self::InvalidFree,
        Self::Crash,
        Self::Exit,
        Self::Hang,
    ];
}

/// One bug.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bug {
    /// The kind of the bug.
    pub kind: Kind,
    /// The message of the panic, or else what is wrong, in words.
    pub message: String,
    /// The place at which the bug shows.
    pub site: Option<Site>,
    /// For deadlocks and data races: the place of the other thread.
    pub other_site: Option<Site>,
    /// Whether the interfering thread is about to do what is at the other place; otherwise it has been done.
    pub other_pending: bool,
    /// The interfering thread that is about to do it, where several threads interfere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_thread: Option<Role>,
    /// The smallest number k of non-local reads with which the bug was found.
    pub k: u32,
    /// The thread under test.
    pub under_test: Role,
    /// The values of the parameters.
    pub inputs: Vec<Input>,
    /// The explanation: the k reads of the thread under test that see a value of the interfering thread.
    pub non_local_reads: Vec<NonLocalRead>,
    /// The events of one interleaving that shows the bug. Empty where the program died before it could name them.
    pub trace: Vec<Step>,
    /// Whether the bug is there when the original program is run in this order.
    pub confirmation: Confirmation,
    /// Where the program died and could not describe the execution: a command that runs this execution alone, under a
    /// debugger perhaps.
    pub run_alone: Option<String>,
    /// Failing executions with this thread under test that have this site and kind, this one included.
    pub count: u64,
    /// The bugs of the same site and kind that were found with the other thread under test.
    pub also_found: Vec<AlsoFound>,
    /// The path of the file that has this bug as a finding; `None` in that file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<String>,
    /// When the bug was first met, among the executions with this thread under test.
    #[serde(default)]
    pub met: Met,
}

impl Bug {
    /// Returns the interfering threads of the trace, in order, with the one that is about to do something there; another one than
    /// the thread under test where there is none.
    #[must_use]
    pub fn interfering(&self) -> Vec<Role> {
        let threads = self.trace.iter().map(|step| step.thread);
        let threads = threads.chain(self.other_thread);
        let mut others: Vec<Role> = threads.filter(|&it| it != self.under_test).collect();
        others.sort_unstable();
        others.dedup();
        if others.is_empty() {
            others.extend(Role::BOTH.into_iter().find(|&it| it != self.under_test));
        }
        others
    }
}

/// The same bug, found with the other thread under test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlsoFound {
    /// The thread under test.
    pub under_test: Role,
    /// The smallest number k of non-local reads with which the bug was found.
    pub k: u32,
    /// Failing executions that have the site and kind of the bug.
    pub count: u64,
}

/// The value of one parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// The parameter's name.
    pub name: String,
    /// The value, as `Debug` prints it.
    pub value: String,
}

/// A read that sees a value of the other thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NonLocalRead {
    /// rds\[i\]: the number of the read among the reads of the thread under test, from 0.
    pub read: u32,
    /// wrts\[i\]: the number of the write among the writes of the interfering thread, from 0.
    pub write: u32,
    /// The variable's short name, where there is one.
    pub variable: Option<String>,
    /// The value that is seen, as `Debug` prints it, where `Debug` can print it.
    pub value: Option<String>,
    /// The step of the trace that reads, from 0.
    pub read_step: Option<u32>,
    /// The step of the trace that writes, from 0.
    pub write_step: Option<u32>,
    /// The place of the read.
    pub read_site: Option<Site>,
    /// The place of the write.
    pub write_site: Option<Site>,
}

/// One event of the interleaving.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The thread whose event it is.
    pub thread: Role,
    /// The operation of the event.
    pub op: Op,
    /// The number of the variable or lock.
    pub object: Option<u32>,
    /// The short name of the variable or lock, where there is one.
    pub variable: Option<String>,
    /// The value read or written, as `Debug` prints it, where `Debug` can print it.
    pub value: Option<String>,
    /// The place of the event.
    pub site: Option<Site>,
    /// For a non-local read, and for the write that it sees: the index in `non_local_reads`.
    pub pair: Option<u32>,
}

impl Uses for Step {
    fn taken(&self) -> Option<u32> {
        let takes = matches!(self.op, Op::Lock | Op::LockShared);
        self.object.filter(|_| takes)
    }

    fn object(&self) -> Option<u32> {
        self.object
    }

    fn name(&mut self) -> &mut Option<String> {
        &mut self.variable
    }
}

/// The operation of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// Reads a variable.
    Read,
    /// Writes a variable.
    Write,
    /// Reads and writes a variable in one indivisible step.
    Update,
    /// Takes a lock exclusively.
    Lock,
    /// Takes a lock that other threads may share.
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
    /// All operations.
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

    /// Whether the operation does the same whatever other threads have done before.
    #[must_use]
    pub const fn looks_at_nothing(self) -> bool {
        matches!(self, Self::Write | Self::Unlock | Self::UnlockShared)
    }
}
