//! What the driver and a worker say to each other: the driver's side of the runtime's `worker::message`, which encodes the
//! same by hand because it has no dependency. Frames hold `postcard`. Places are those of the generated code.

use serde::{Deserialize, Serialize};

/// What the driver asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// Search one harness.
    Check(Check),
    /// The answer to [`Reply::CheckLog`].
    Verdict(Verdict),
}

/// A search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// The harness's name.
    pub harness: String,
    /// Which threads to put under test.
    pub roles: Vec<Role>,
    /// The largest number of non-local reads.
    pub k_max: u32,
    /// Values of parameters, as given on the command line.
    pub inputs: Vec<(String, String)>,
    /// How many inputs at most.
    pub max_inputs: u64,
    /// Seed of a sample of inputs.
    pub seed: u64,
    /// The bound on shared accesses of a thread in one execution.
    pub max_steps: u32,
    /// How many executions at most.
    pub max_executions: Option<u64>,
    /// Who decides feasibility.
    pub solver: Solver,
    /// Say what is going to be run before every execution.
    pub announce: bool,
}

/// Who decides feasibility.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Solver {
    /// The worker, by its progress grid.
    Grid,
    /// The driver.
    Remote,
    /// Both, which must agree.
    Both,
}

/// Which thread is under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// The one created first.
    First,
    /// The one created second.
    Second,
}

/// What a solver says of a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// There is an interleaving, and this is one.
    Feasible(Vec<Step>),
    /// There is none.
    Infeasible,
    /// It can't be told, and why.
    Unknown(String),
}

/// One event of an interleaving, by its index in the thread's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    /// An event of T.
    UnderTest(u32),
    /// An event of T'.
    Interfering(u32),
}

/// A place in the generated code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The file's path, as rustc was given it.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
}

/// What a worker says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// Two threads ran side by side for the first time: these.
    Started {
        /// The first and the second one.
        threads: Vec<ThreadInfo>,
    },
    /// How far the search is.
    Progress(Level),
    /// A level is done, or will not go on.
    Level(Level, Vec<Reason>),
    /// A bug.
    Finding(Box<Finding>),
    /// Something worth saying.
    Note(String),
    /// The next execution, where that was asked for.
    Running(Choice),
    /// The harness does what bounded interference is not about.
    Unsupported {
        /// What.
        message: String,
        /// Where.
        place: Option<Place>,
    },
    /// No two threads ever ran side by side.
    NoInterference,
    /// The program did something else than before with the same inputs.
    Nondeterministic {
        /// With which choice.
        choice: Choice,
    },
    /// The search can't go on.
    Failed(String),
    /// The driver is to decide whether the log is feasible.
    CheckLog(Log),
    /// The search is over.
    Done,
}

/// A thread of the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadInfo {
    /// The name it was given.
    pub name: Option<String>,
    /// Where it was spawned; none for the harness's own thread.
    pub spawned_at: Option<Place>,
}

/// The extra inputs of one execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// Which thread is under test.
    pub role: Role,
    /// The values of the parameters.
    pub inputs: Vec<(String, String)>,
    /// `rds` and `wrts`.
    pub pairs: Vec<(u32, u32)>,
}

/// What was searched at one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Level {
    /// Which thread is under test.
    pub role: Role,
    /// The number of non-local reads.
    pub k: u32,
    /// Executions.
    pub executions: u64,
    /// Those without a feasible interleaving.
    pub infeasible: u64,
    /// Those in which a bug showed.
    pub failing: u64,
}

/// Why a level isn't exhausted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reason {
    /// The step bound.
    StepBound,
    /// Not all inputs.
    SampledInputs,
    /// A waiting loop was cut.
    SpinCut,
    /// The limit on executions.
    ExecutionLimit,
    /// The solver did not know.
    SolverUnknown,
}

/// A bug with its proof.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// What kind.
    pub kind: Kind,
    /// What the program said, or what is wrong.
    pub message: String,
    /// Where.
    pub place: Place,
    /// Deadlocks and races: what T' is about to do.
    pub other_place: Option<Place>,
    /// With which choice.
    pub choice: Choice,
    /// The events of T.
    pub under_test: Vec<Event>,
    /// The events of T'.
    pub interfering: Vec<Event>,
    /// An order of both.
    pub interleaving: Vec<Step>,
    /// How many failing executions have this place, kind and role so far.
    pub count: u64,
}

/// What kind of bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// A panic.
    Panic,
    /// A deadlock.
    Deadlock,
    /// A data race.
    DataRace,
}

/// How much of a lock is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LockMode {
    /// All of it.
    Exclusive,
    /// Shared with other readers.
    Shared,
}

/// What an event does, and to which object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// Reads.
    Read(u32),
    /// Writes.
    Write(u32),
    /// Reads and writes in one step.
    Update(u32),
    /// Takes the lock.
    Acquire(u32, LockMode),
    /// Gives it back.
    Release(u32, LockMode),
    /// Finds it taken.
    TryFail(u32, LockMode),
    /// Joins the other thread.
    Join,
}

/// An event of a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// What it does.
    pub op: Op,
    /// For a non-local read: the index of the paired event of T'.
    pub source: Option<u32>,
    /// Where.
    pub place: Place,
    /// The value, as text, where it is an atomic's.
    pub value: Option<String>,
}

/// A log to decide on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Log {
    /// The events of T, each with the index of the paired event of T'.
    pub under_test: Vec<(Op, Option<u32>)>,
    /// The events of T'.
    pub interfering: Vec<Op>,
}
