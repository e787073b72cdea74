//! The messages between the driver and a worker. The driver uses these types, too.
//!
//! A message is a frame: its length in bytes as a little-endian `u32`, then the bytes, in the encoding of
//! [`wire`](super::wire). All places are those of the generated source.
//!
//! The driver sends one [`Request::Check`]. The worker answers with [`Reply::Started`], then any number of other
//! replies, and ends with [`Reply::Done`] or with one of the replies that say why it could not go on. After a
//! [`Reply::Check`] it waits for a [`Request::Verdict`]. It stops when the connection is closed.

mod fuzzing;
mod schedules;

use super::wire::{Wire, WireError, wire};
use crate::check::Level;
use crate::engine::{Event, SiteMark, Value, ValueKind};
use crate::feasibility::Step;
use crate::log::{LockMode, Op, TEvent};
use crate::vocabulary::{
    Asked, BugKind, Confirmation, Place, ReadId, Role, Scheduled, ThreadInfo, WriteId,
};

pub use fuzzing::{DecodeRequest, SeedRequest, SimplifyRequest};
pub use schedules::{
    Causality, Doubt, Doubts, ExploreRequest, Explored, Promise, ReplayRequest, Replayed,
    ScheduleFinding,
};

/// The solver that decides feasibility, and answers queries about maximal causal models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SolverKind {
    /// The worker's progress grid, the worker's order solver.
    Grid,
    /// The driver, asked with [`Reply::Check`] and [`Reply::Solve`].
    Driver,
    /// The worker's progress grid and order solver; the driver is asked as well.
    Both,
}

/// A search of P̂ₖ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckRequest {
    /// The harness's name.
    pub harness: String,
    /// The role assignments to go through.
    pub roles: Vec<Role>,
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
    /// Whether to announce every execution with [`Reply::Executing`], so that the one that kills the worker is known.
    pub careful: bool,
    /// Whether panics of threads that no thread joins are no failures.
    pub ignore_detached_panics: bool,
}

/// From the driver to the worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Search P̂ₖ.
    Check(CheckRequest),
    /// The answer to a [`Reply::Check`].
    Verdict(Answer),
    /// Explore schedules of the original program.
    Explore(ExploreRequest),
    /// Follow a schedule of the original program.
    Replay(ReplayRequest),
    /// Run the choice that bytes stand for.
    Decode(DecodeRequest),
    /// Make bytes for a fuzzer to begin with.
    Seeds(SeedRequest),
    /// Find simpler bytes that meet the same bugs.
    Simplify(SimplifyRequest),
    /// The answer to a [`Reply::Solve`], in words.
    Solved(Vec<u64>),
}

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
    pub pairs: Vec<(ReadId, WriteId)>,
    /// The names of the inputs, with their values as text.
    pub inputs: Vec<(String, String)>,
    /// T and T', unless the bug needs no second thread.
    pub threads: Option<(ThreadInfo, ThreadInfo)>,
    /// The events of T up to the bug.
    pub under_test: Vec<Event>,
    /// The events of T'.
    pub interfering: Vec<Event>,
    /// An order of both in which the bug happens.
    pub interleaving: Vec<Step>,
    /// Whether the bug is there when the original program is run in this order.
    pub confirmation: Confirmation,
    /// The number of executions with this party as T when the bug was met, that one included.
    pub execution: u64,
}

/// From the worker to the driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The search has begun.
    Started {
        /// The number of choices of inputs that the search goes through.
        inputs: u32,
        /// Whether there are more choices of inputs than that.
        sampled: bool,
    },
    /// What an execution may leave behind for the next one, in words. Sent after [`Reply::Started`], if there is anything.
    LeftBehind(Vec<String>),
    /// What an execution has asked of the operating system; each kind once, before what is said next.
    Asked(Vec<Asked>),
    /// The two threads that run side by side, in order of creation. Sent once.
    Threads {
        /// The thread that was there first.
        first: ThreadInfo,
        /// The thread that was started later.
        second: ThreadInfo,
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
    Executing {
        /// The party that is T.
        role: Role,
        /// The non-local reads.
        pairs: Vec<(ReadId, WriteId)>,
        /// The inputs.
        inputs: Vec<(String, String)>,
    },
    /// Asks whether this log is feasible.
    Check {
        /// The events of T.
        under_test: Vec<TEvent>,
        /// The events of T'.
        interfering: Vec<Op>,
        /// Whether the progress grid finds the log feasible.
        by_grid: bool,
    },
    /// The harness does what P̂ₖ cannot express.
    Unsupported {
        /// A sentence on what the harness does.
        message: String,
        /// The place at which the harness does that.
        place: Option<Place>,
    },
    /// The harness does not do the same thing twice with the same inputs and choices.
    Nondeterministic {
        /// The inputs.
        inputs: Vec<(String, String)>,
    },
    /// A value given for an input does not fit.
    BadInput {
        /// The parameter's name.
        param: String,
        /// A sentence on what is wrong with the value.
        message: String,
    },
    /// The request can't be served: there is no such harness.
    Refused(String),
    /// The search is over.
    Done,
    /// For each failure, in the order in which they were sent: the roles in which some execution with the failure has
    /// T' observe nothing of T, each with the least number of times that T observes T' in such an execution. Only for
    /// programs of two threads.
    Couplings(Vec<Vec<(Role, u32)>>),
    /// The counts of an exploration that goes on; a few times a second.
    Exploring(Explored),
    /// A failure, when its kind and place are first met.
    Failure(Box<ScheduleFinding>),
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
    /// How a replay went.
    Replayed(Replayed),
    /// Bytes for a fuzzer to begin with.
    Seeds {
        /// The byte strings.
        strings: Vec<Vec<u8>>,
        /// The greatest number of bytes that matter in a string.
        longest: u32,
    },
    /// Asks whether this query about a maximal causal model has an answer. All in words, see
    /// `seqz_explore::mcm::words`.
    Solve {
        /// The model; empty if it is that of the query before.
        model: Vec<u64>,
        /// The query.
        query: Vec<u64>,
        /// The answer of the worker's own solver; empty if that was not asked.
        own: Vec<u64>,
    },
    /// What a part of a search has seen, so that what several parts saw is counted once. Before [`Reply::Explored`], in
    /// pieces.
    Seen {
        /// Hashes of terminal happens-before relations, where parts may see the same.
        relations: Vec<u64>,
        /// Hashes of terminal states.
        states: Vec<u64>,
    },
}

impl<V: Wire> Wire for Box<V> {
    fn put(&self, out: &mut Vec<u8>) {
        (**self).put(out);
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, WireError> {
        V::take(bytes).map(Self::new)
    }
}

macro_rules! plain_enum {
    ($name:ident { $($number:literal = $variant:ident),* $(,)? }) => { wire!($name { $($number = $variant),* }); };
}

plain_enum!(SolverKind { 0 = Grid, 1 = Driver, 2 = Both });

plain_enum!(Role { 0 = First, 1 = Second });

plain_enum!(BugKind { 0 = Panic, 1 = Deadlock, 2 = DataRace, 3 = Detached, 4 = Result, 5 = Exit, 6 = Abort });

plain_enum!(ValueKind { 0 = Bool, 1 = Unsigned, 2 = Signed, 3 = Pointer, 4 = Opaque });

plain_enum!(LockMode { 0 = Exclusive, 1 = Shared });

wire!(CheckRequest {
    harness,
    roles,
    k_max,
    inputs,
    max_inputs,
    seed,
    max_steps,
    max_executions,
    solver,
    careful,
    ignore_detached_panics
});

wire!(Request { 0 = Check(request), 1 = Verdict(answer), 2 = Explore(request), 3 = Replay(request), 4 = Decode(request), 5 = Seeds(request), 6 = Solved(words), 7 = Simplify(request) });

wire!(Answer { 0 = Feasible, 1 = Infeasible, 2 = Unknown(why) });

wire!(Place { file, line, column });

wire!(Value { kind, bits });

impl Wire for Event {
    fn put(&self, out: &mut Vec<u8>) {
        self.op.put(out);
        self.source.put(out);
        self.place.put(out);
        self.value.put(out);
        self.thread.put(out);
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, WireError> {
        Ok(Self {
            op: Wire::take(bytes)?,
            source: Wire::take(bytes)?,
            place: Wire::take(bytes)?,
            value: Wire::take(bytes)?,
            thread: Wire::take(bytes)?,
            site: SiteMark::default(),
        })
    }
}

wire!(TEvent { op, source });

wire!(ThreadInfo { name, spawned_at });

wire!(Op {
    0 = Read(x),
    1 = Write(x),
    2 = Update(x),
    3 = Acquire(l, mode),
    4 = Release(l, mode),
    5 = TryFail(l, mode),
    6 = Join
});

wire!(Step { 0 = UnderTest(at), 1 = Interfering(at) });

wire!(Level {
    executions,
    infeasible,
    assumed,
    step_bound,
    interfering_cut,
    undecided,
    interfering_waiting,
    waiting,
    stuck,
    unknown,
    hurried,
    buggy,
    scoped,
    skipped
});

wire!(Finding {
    kind,
    message,
    place,
    other_place,
    follows,
    role,
    pairs,
    inputs,
    threads,
    under_test,
    interfering,
    interleaving,
    confirmation,
    execution
});

wire!(Reply {
    0 = Started { inputs, sampled },
    1 = Threads { first, second },
    2 = Progress { role, k, level },
    3 = Level { role, k, level },
    4 = Finding(finding),
    5 = Times(times),
    6 = Executing { role, pairs, inputs },
    7 = Check { under_test, interfering, by_grid },
    8 = Unsupported { message, place },
    9 = Nondeterministic { inputs },
    10 = BadInput { param, message },
    11 = Refused(why),
    12 = Done,
    13 = Exploring(counts),
    14 = Failure(finding),
    15 = Explored { inputs, counts, promise, turns, own },
    16 = Running { inputs, execution, random, done, next },
    17 = Replayed(replayed),
    18 = Seen { relations, states },
    19 = Couplings(couplings),
    20 = Seeds { strings, longest },
    21 = Solve { model, query, own },
    22 = LeftBehind(what),
    23 = Asked(what)
});

wire!(Asked {
    0 = File(path),
    1 = Socket,
    2 = Pipe,
    3 = Process,
    4 = Thread,
    5 = Input,
    6 = Turns,
    7 = Random,
    8 = Ids
});

impl Wire for ReadId {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, WireError> {
        u32::take(bytes).map(Self)
    }
}

impl Wire for WriteId {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }

    fn take(bytes: &mut &[u8]) -> Result<Self, WireError> {
        u32::take(bytes).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_back() {
        let place = Place {
            file: "src/lib.rs".to_owned(),
            line: 3,
            column: 9,
        };
        let event = Event {
            op: Op::Acquire(2, LockMode::Shared),
            source: Some(1),
            place: place.clone(),
            value: Some(Value {
                kind: ValueKind::Signed,
                bits: u64::MAX,
            }),
            thread: Some(1),
            site: SiteMark::default(),
        };
        let thread = ThreadInfo {
            name: Some("a".to_owned()),
            spawned_at: None,
        };
        let replies = [
            Reply::Started {
                inputs: 3,
                sampled: true,
            },
            Reply::Level {
                role: Role::Second,
                k: 2,
                level: Level {
                    executions: 7,
                    skipped: 1,
                    ..Level::default()
                },
            },
            Reply::Finding(Box::new(Finding {
                kind: BugKind::DataRace,
                message: "m".to_owned(),
                place: place.clone(),
                other_place: Some(place.clone()),
                follows: vec![place],
                role: Role::First,
                pairs: vec![(ReadId(1), WriteId(2))],
                inputs: vec![("n".to_owned(), "1".to_owned())],
                threads: Some((thread.clone(), thread)),
                under_test: vec![event.clone()],
                interfering: vec![event],
                interleaving: vec![Step::UnderTest(0), Step::Interfering(0)],
                confirmation: Confirmation::Confirmed(Vec::new()),
                execution: 4,
            })),
            Reply::Check {
                under_test: vec![TEvent::non_local(Op::Read(1), 4)],
                interfering: vec![Op::Join],
                by_grid: true,
            },
            Reply::Done,
        ];
        for reply in replies {
            assert_eq!(Reply::decode(&reply.encode()), Ok(reply));
        }
        let request = Request::Verdict(Answer::Unknown("time-out".to_owned()));
        assert_eq!(Request::decode(&request.encode()), Ok(request));
    }
}
