//! The engine of P̂ₖ: runs one execution of the sequential program for given `rds` and `wrts`.
//!
//! Source: *Bounded-Interference Sequentialization for Testing Concurrent Programs*, section 4.1. Where to find its
//! parts:
//!
//! | paper | here |
//! |---|---|
//! | *init* | the harness up to the point where two threads run side by side: [`Line::Init`] |
//! | τ\[T\] | [`tau`]: what an event does on the line of T ([`Line::UnderTest`]) |
//! | τ'\[T'\] | [`tau_prime`]: what an event does on the line of T' ([`Line::Interfering`]) |
//! | G and G' | the two copies inside every shared object: [`crate::shared`] |
//! | `rds`, `wrts`, `vals` | [`Engine::pairs`], and the values in the log of T' |
//! | `append(log, …)` | [`tau::push`], [`tau_prime::push`] |
//! | `isFeasible(log)` | [`tau::require_feasible`] over [`crate::feasibility`] |
//!
//! T' depends on the program's inputs alone: it reads nothing that T wrote. So the engine runs T' first and whole, and T
//! after it with the values of the paired writes injected; where T' is cut is left to the feasibility check, which
//! accepts any prefix of T' that works. The paper calls T' from inside T at the first non-local read; the executions
//! are the same, and no call is nested in a read.
//!
//! # Invariants
//!
//! - No `&mut Engine` is alive while code of the program under test runs (a thread's body, a `Clone`, a `Drop`): such
//!   code comes back into the engine. [`Handle::get`] is for short borrows only.
//! - An execution that is ended early is left where it is, or unwound: see [`abort::Leaves`].
//! - While [`Engine::quiet`] is set, events change values of the current line's copy and are not logged.

pub(crate) mod abort;
pub(crate) mod body;
mod bug;
mod bytes;
mod choice;
pub(crate) mod counts;
mod ended;
mod execution;
mod frame;
mod guide;
pub(crate) mod init_locks;
mod ledger;
mod nesting;
#[cfg(feature = "scheduler")]
mod quiet;
mod revealed;
mod solver;
mod spin;
pub(crate) mod tau;
pub(crate) mod tau_prime;
pub(crate) mod threads;

use std::cell::Cell;
use std::ptr::NonNull;

pub(crate) use crate::finding::SiteMark;
pub use crate::finding::{Bug, Event, Value, ValueKind};
pub(crate) use abort::{Abort, abort, unsupported};
pub(crate) use bytes::NO_MORE;
pub(crate) use ended::{die_of_a, is_main, leave, with_panics};
pub(crate) use execution::assume;
pub use execution::{ByBytes, Ending, Limits, Machine, Nondeterminism, Remark, Tell};
pub use guide::Same;
use init_locks::InitLock;
#[cfg(feature = "scheduler")]
pub(crate) use quiet::note_wait;
pub use revealed::{Choices, Revealed};
pub use solver::{Differs, Solver};
#[cfg(feature = "scheduler")]
pub(crate) use spin::slept;
pub(crate) use spin::{Turns, lasts, turn};
use threads::Threads;

use crate::executable::unwinding::Counter;
use crate::feasibility::Grid;
use crate::log::{LockMode, Log, Object, Op, TEvent};
use crate::memory::Buffer;
use crate::vocabulary::{Pair, ReadId, Role, Site, WriteId};

/// Which program's code is running: the part before the split, T, or T'.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// No two threads run side by side (yet): one copy of everything, nothing is logged.
    Init,
    /// T, the thread under test, on G.
    UnderTest,
    /// T', the interfering thread, on G'.
    Interfering,
}

/// How the log of T' ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InterferingEnd {
    /// T' has not run, or is still running.
    Open,
    /// T' ran to its end.
    Complete,
    /// T' came to where it waits for T to finish.
    WaitsForUnderTest,
    /// T' panicked, was cut, or waits for something that only T can do.
    Stopped,
}

/// What is logged beside an event, for reports.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trail {
    pub site: Site,
    /// The value read or written, as bits; 0 where it isn't an atomic.
    pub value: u64,
    /// Whose event it is; [`NONE`] for what only ties the two logs together.
    pub thread: u32,
}

/// What kind of thing a shared object is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ObjectInfo {
    pub kind: ValueKind,
    /// The latest event of T' that writes it, or [`NONE`].
    last_write: u32,
    /// The event of T' whose value T saw last, if T has not written since, or [`NONE`].
    seen: u32,
    /// The latest event of T' that takes it as a lock, or [`NONE`].
    last_acquire: u32,
}

/// How the two logs are tied together when locks are held at the split: see [`init_locks`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begin {
    object: Object,
    site: Site,
    /// How many blocks are open.
    blocks: usize,
}

/// "No such event" in chains of event indices.
pub(crate) const NONE: u32 = u32::MAX;

/// The number of what comes next in a list of events, or of what there is at most one of for each event. Events are counted in
/// [`Engine::steps`], so that there are never more.
#[inline(always)]
#[allow(clippy::cast_possible_truncation)]
fn number(length: usize) -> u32 {
    debug_assert!(length < NONE as usize);
    length as u32
}

/// An event of T' that others can be paired with.
#[derive(Clone, Copy, Debug)]
struct Paired {
    /// Its index in the log of T'.
    event: u32,
    /// The [`WriteId`] number of the previous one of the same object and kind, or [`NONE`].
    previous: u32,
}

/// A lock that a line holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub lock: Object,
    pub mode: LockMode,
}

/// A lock that T' holds at its end and that is T's from the join on: the thread that took it waited for T with the guard
/// in hand. No other thread is left then, so that what T does with the lock is not logged.
#[derive(Clone, Copy, Debug)]
struct Inherited {
    held: Held,
    /// The guard lives: it looks at the copy of T'.
    alive: bool,
}

/// A lock block of T': `acquire..release`, `release` being the log's length while it is open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub held: Held,
    pub acquire: u32,
    pub release: u32,
    /// Whether T' would have waited for the lock: not so for a `try_lock`.
    pub blocking: bool,
}

/// The state of one execution of P̂ₖ. Reused from execution to execution, so that its buffers are.
pub struct Engine {
    /// The execution's number. Shared objects that carry another one start afresh.
    pub(crate) generation: u32,
    pub(crate) line: Line,
    /// The next event must look at threads first: something may have to be started or refused.
    pub(crate) attention: bool,
    /// A thread-local has been used: threads that end may have values to destroy.
    pub(crate) has_locals: bool,
    /// A scope has waited for what destructors of thread-locals did.
    has_left_scope_open: bool,
    /// The ends of threads are events.
    pub(crate) watches_ends: bool,
    /// Letting go of these results of threads can be noticed.
    pub(crate) watches_results: crate::ending::Results,
    /// What the two lines do with handles of shared values.
    pub(crate) counts: counts::Counts,
    /// Events are neither logged nor chosen for.
    pub(crate) quiet: bool,
    /// How this execution is left before its program is over.
    leaves: abort::Leaves,
    /// What can be left.
    frames: abort::Frames,
    /// So many more events destructors may make while they are unwound.
    left: u32,
    /// The program is over, and what is left of it is dropped.
    is_over: bool,
    /// Where std counts the panics of this OS thread.
    counter: Option<Counter>,
    role: Role,
    /// The program has no `unsafe` code.
    safe: bool,
    limits: Limits,

    pub(crate) objects: Buffer<ObjectInfo>,

    // T, whose events are in `grid`
    under_test_trail: Buffer<Trail>,
    held: Buffer<Held>,
    reads: u32,
    /// `rds` and `wrts`, read by read.
    pairs: Buffer<Pair>,
    /// How many of `pairs` have been performed (the paper's rDone).
    done: usize,
    joined: bool,
    inherited: Buffer<Inherited>,
    /// Choices come from `bytes` instead of `pairs`, which then records them.
    choosing: bool,
    bytes: bytes::Bytes,
    guide: guide::Guide,
    /// Told of each choice as it is made.
    announce: Option<execution::Tell>,
    /// Whether the reads of T that could have been non-local as well are noted in `revealed`.
    reveal: bool,
    revealed: Revealed,

    // T'
    interfering: Buffer<Op>,
    interfering_trail: Buffer<Trail>,
    interfering_end: InterferingEnd,
    /// Locks held from before the split by threads that are in neither log.
    init_locks: Buffer<InitLock>,
    /// A log is being opened: what is logged is none of the program's own events.
    opening_log: bool,
    /// How many events came before the split, once it has come.
    events_before_split: Option<u32>,
    /// Those that T holds, until its log is opened.
    opening: Buffer<InitLock>,
    begin: Option<Begin>,
    /// T' logged something else than in the execution before.
    log_changed: bool,
    /// T' was cut at the step bound.
    interfering_was_cut: bool,
    /// Whether T, and whether T', was cut before the step bound, since what comes after threads have waited is not known.
    undecided: (bool, bool),
    /// T' was cut since it did nothing but wait.
    interfering_waits: bool,
    writes: Buffer<Paired>,
    blocks: Buffer<Block>,
    /// Those of the blocks that are open, in their order.
    open: Buffer<u32>,
    nestings: nesting::Nestings,
    /// One of them shares its lock with others that read.
    interfering_shares: bool,
    /// The accesses of T' to racy objects, by event index.
    racy_accesses: Buffer<u32>,
    /// Keep the value of every write of T', not only of those in `pairs`.
    keep_all_values: bool,

    grid: Grid,
    solver: Solver,

    pub(crate) threads: Threads,
    #[cfg(feature = "scheduler")]
    pub(crate) clocks: crate::clock::Clocks,
    steps: u32,
    spin: spin::Spin,
    #[cfg(feature = "scheduler")]
    quiet_waits: quiet::Quiet,
    endings: ended::Endings,
    /// Why the execution was ended early, if it was.
    abort: Option<Abort>,
    /// What there is to say of that.
    reason: Option<abort::Reason>,
    /// How many events an infeasible execution may still go on for.
    run_on: u32,
    /// The same, once the execution is over.
    ending: Option<Abort>,
    ledger: ledger::Ledger,
}

thread_local! {
    static CURRENT: Cell<Option<NonNull<Engine>>> = const { Cell::new(None) };
}

/// A pointer to the engine of the execution that runs on this thread.
#[derive(Clone, Copy)]
pub(crate) struct Handle(NonNull<Engine>);

impl Handle {
    /// Borrows the engine for a short while.
    ///
    /// The borrow must end before any code of the program under test runs (see the module's invariants).
    #[allow(clippy::mut_from_ref)]
    #[inline(always)]
    pub(crate) fn get(&self) -> &mut Engine {
        // SAFETY: the engine is boxed in a `Machine` that is mutably borrowed for the whole execution and clears
        // `CURRENT` at its end, so the pointer is valid; by the invariant above no other borrow is alive.
        unsafe { &mut *self.0.as_ptr() }
    }
}

/// The engine of the execution that runs on this thread, if one does.
#[inline(always)]
pub(crate) fn current() -> Option<Handle> {
    CURRENT.get().map(Handle)
}

impl Engine {
    /// A number for a shared object that takes part in the log.
    #[inline]
    pub(crate) fn new_object(&mut self, kind: ValueKind) -> Object {
        let id = number(self.objects.len());
        self.objects.push(ObjectInfo {
            kind,
            last_write: NONE,
            seen: NONE,
            last_acquire: NONE,
        });
        id
    }

    /// The events of T' that object `x` could be paired with, latest first, as ids.
    fn writes_of(&self, x: Object, acquires: bool) -> impl Iterator<Item = WriteId> + '_ {
        let info = &self.objects[x as usize];
        let first = if acquires {
            info.last_acquire
        } else {
            info.last_write
        };
        let mut next = first;
        std::iter::from_fn(move || {
            (next != NONE).then(|| {
                let id = next;
                next = self.writes[id as usize].previous;
                WriteId(id)
            })
        })
    }

    /// Whether T has all the non-local reads that it is to have.
    pub(crate) fn all_reads_done(&self) -> bool {
        self.choosing || self.done == self.pairs.len()
    }

    /// Whether T' held the lock at its end, so that it's out of the log since the join.
    fn has_inherited(&self, lock: Object) -> bool {
        self.inherited.iter().any(|entry| entry.held.lock == lock)
    }

    /// Whether T has a guard of this lock that was taken on the line of T'.
    pub(crate) fn inherits(&self, lock: Object) -> bool {
        let mut inherited = self.inherited.iter();
        inherited.any(|entry| entry.alive && entry.held.lock == lock)
    }

    /// Whether T has any guard that was taken on the line of T'.
    #[inline]
    pub(crate) fn inherits_any(&self) -> bool {
        !self.inherited.is_empty()
    }

    /// The value that write `event` of T' left, as bits.
    pub(crate) fn interfering_value(&self, event: u32) -> u64 {
        self.interfering_trail[event as usize].value
    }

    /// The events of T so far.
    #[inline]
    fn under_test(&self) -> &[TEvent] {
        self.grid.events()
    }

    /// The events of both so far.
    fn log(&self) -> Log<'_> {
        Log {
            under_test: self.grid.events(),
            interfering: &self.interfering,
        }
    }

    fn trail(&self, site: Site, value: u64) -> Trail {
        let thread = if self.opening_log {
            NONE
        } else {
            self.threads.current
        };
        Trail {
            site,
            value,
            thread,
        }
    }

    /// How many events came before two threads ran side by side.
    fn init_events(&self) -> u32 {
        self.events_before_split.unwrap_or(self.steps)
    }

    /// Whether T may well have run alone so far: then its log needs no check.
    #[inline]
    fn alone(&self) -> bool {
        self.done == 0 && !self.joined && self.begin.is_none()
    }

    /// Whether the execution can be left where it is, also while its thread unwinds.
    pub(crate) fn can_be_left(&self) -> bool {
        self.leaves != abort::Leaves::OnlyUnwinds
    }

    /// Whether what the current thread does now must not let another one run, nor end the execution: it unwinds.
    #[inline]
    pub(crate) fn moves_no_thread(&self) -> bool {
        std::thread::panicking() && self.leaves != abort::Leaves::Forgets
    }

    /// The current line did something that others can see.
    pub(crate) const fn made_progress(&mut self) {
        self.spin.progress();
    }

    fn next_read(&mut self) -> ReadId {
        let id = ReadId(self.reads);
        self.reads += 1;
        id
    }
}
