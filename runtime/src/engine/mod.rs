//! The engine of P̂ₖ: runs one execution of the sequential program for given `rds` and `wrts`.
//!
//! Source: *Bounded-Interference Sequentialization for Testing Concurrent Programs*, section 4.1. The paper's parts are
//! here:
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
mod copying;
pub(crate) mod counts;
mod ended;
mod execution;
mod frame;
mod grid;
mod guide;
pub(crate) mod init_locks;
mod ledger;
mod nesting;
mod quiet;
mod revealed;
mod rounds;
mod several;
mod solver;
mod spin;
pub(crate) mod tau;
pub(crate) mod tau_prime;
pub(crate) mod threads;
pub(crate) mod waiting;

use std::cell::Cell;
use std::ptr::NonNull;

pub use crate::finding::{Bug, Event, Value, ValueKind, WITHOUT_GIVING_BACK};
pub(crate) use abort::{Abort, abort, unsupported};
pub(crate) use bug::waits_for_handle;
pub(crate) use bytes::NO_MORE;
pub(crate) use copying::{
    copying, is_another, is_copied, is_destroyed_twice, is_let_go, is_looked_at, is_not_copied,
    is_shown, may_be_another,
};
pub(crate) use ended::{die_of_a, is_main, leave, with_panics};
pub(crate) use execution::assume;
pub use execution::{ByBytes, Ending, Limits, Machine, Nondeterminism, Remark, Tell};
use grid::Grid;
pub use guide::Same;
use init_locks::InitLock;
pub(crate) use quiet::note_wait;
pub use revealed::{Choices, Revealed};
pub(crate) use several::refuse_beside_several;
pub use solver::{Differs, Solver};
pub(crate) use spin::{Turns, lasts, limit_passed, slept, turn};
use threads::Threads;

use crate::executable::unwinding::Counter;
use crate::log::{LockMode, Log, Object, Op, TEvent};
use crate::memory::Buffer;
use crate::vocabulary::{Pair, ReadId, Role, Site, WriteId};

/// The line on which code is running: the part before the split, T, or T'.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// No two threads run side by side (yet): one copy of everything, nothing is logged.
    Init,
    /// T, the thread under test, on G.
    UnderTest,
    /// T', the interfering thread, on G'.
    Interfering,
}

impl Line {
    /// The line of the event with this [number](Engine::event_number).
    pub(crate) const fn of(number: u64) -> Self {
        match number & 3 {
            0 => Self::Init,
            1 => Self::UnderTest,
            _ => Self::Interfering,
        }
    }

    /// Whether values on this line are those of G'.
    pub(crate) const fn is_prime(self) -> bool {
        matches!(self, Self::Interfering)
    }
}

/// How the log of T' ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InterferingEnd {
    /// T' has not run, or is still running.
    Open,
    /// T' ran to its end.
    Complete,
    /// The thread that T' is waits for T to end, at this place.
    WaitsForUnderTest(threads::ThreadNo, Site),
    /// T' panicked, was cut, or waits for something that only T can do.
    Stopped,
}

/// What is logged beside an event, for reports.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trail {
    pub site: Site,
    /// The value read or written, as bits; 0 where the object isn't an atomic.
    pub value: u64,
    /// The number of the thread whose event it is; [`NONE`] for an event that only ties the two logs together.
    pub thread: u32,
}

/// What the engine knows of a shared object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ObjectInfo {
    pub kind: ValueKind,
    /// The [`WriteId`] number of the latest write of T' to the object, or [`NONE`].
    last_write: u32,
    /// The event of T' whose value T saw last, if T has not written since, or [`NONE`].
    seen: u32,
    /// The [`WriteId`] number of the latest taking of the object, as a lock, by T', or [`NONE`].
    last_acquire: u32,
    /// The number of the interfering thread that has used the object last, among several: its copy is that one's.
    copy_of: u32,
}

/// How the two logs are tied together when locks are held at the split: see [`init_locks`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begin {
    object: Object,
    site: Site,
    /// The number of locks' blocks that are open.
    blocks: usize,
}

/// "No such event" in chains of event indices.
pub(crate) const NONE: u32 = u32::MAX;

/// The number of the next entry of a list of events, or of a list with at most one entry for each event.
/// [`Engine::steps`] counts events in 32 bits, so no list is longer.
#[inline(always)]
#[allow(clippy::cast_possible_truncation)]
fn number(length: usize) -> u32 {
    debug_assert!(length < NONE as usize);
    length as u32
}

/// An event of T' that reads of T can be paired with.
#[derive(Clone, Copy, Debug)]
struct Paired {
    /// The event's index in the log of T'.
    event: u32,
    /// The [`WriteId`] number of the previous write to the same object and of the same kind, or [`NONE`].
    previous: u32,
}

/// A lock that a line holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub lock: Object,
    pub mode: LockMode,
}

/// A lock that T' holds at its end and that is T's from the join on: the thread that took the lock waited for T while
/// holding the guard. No other thread is left then, so that what T does with the lock is not logged.
#[derive(Clone, Copy, Debug)]
struct Inherited {
    held: Held,
    /// Whether the guard is alive, which accesses the copy of T'.
    alive: bool,
}

/// A lock block of T': `acquire..release`, `release` being the log's length while the block is open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub held: Held,
    pub acquire: u32,
    pub release: u32,
    /// Whether T' would have waited for the lock, as a `try_lock` would not.
    pub blocking: bool,
}

/// The state of one execution of P̂ₖ. Reused from execution to execution, to keep its buffers.
pub struct Engine {
    /// The execution's number. Shared objects that carry another number start afresh.
    pub(crate) generation: u32,
    pub(crate) line: Line,
    /// Whether the next event must look at threads first: a thread may have to be started or refused.
    pub(crate) attention: bool,
    /// Whether a thread-local has been used, so that threads that end may have values to destroy.
    pub(crate) has_locals: bool,
    /// Whether a scope has waited for what destructors of thread-locals did.
    has_left_scope_open: bool,
    /// Whether the ends of threads are events.
    pub(crate) watches_ends: bool,
    /// The results of threads whose dropping the program can notice.
    pub(crate) watches_results: crate::ending::Results,
    /// What the two lines do with handles of shared values.
    pub(crate) counts: counts::Counts,
    /// Whether events are neither logged nor made non-local.
    pub(crate) quiet: bool,
    /// The threads that std may have parked for something else than to be unparked, one bit each.
    pub(crate) parked_inside: u64,
    /// The copy of one of the program's values that is being made, if one is.
    copying: Option<copying::Copying>,
    /// The types of which copies were made, in any execution, that may not be as in the program.
    doubts: Vec<copying::Doubt>,
    /// Whether there has been a copy of a value in this execution, for either thread.
    has_copies: bool,
    /// Where the program has looked at where a value lies in memory, in this execution.
    shown: Option<Site>,
    /// How this execution is left before its program is over.
    leaves: abort::Leaves,
    /// The calls that can be left.
    frames: abort::Frames,
    /// The number of events that destructors may still make while a thread is unwound.
    left: u32,
    /// Whether the program is over, and its remaining values are being dropped.
    is_over: bool,
    /// The counter in which std counts the panics of this OS thread.
    counter: Option<Counter>,
    role: Role,
    /// Whether the program has no `unsafe` code.
    safe: bool,
    limits: Limits,

    pub(crate) objects: Buffer<ObjectInfo>,

    // T, whose events are in `grid`
    under_test_trail: Buffer<Trail>,
    held: Buffer<Held>,
    reads: u32,
    /// `rds` and `wrts`, read by read.
    pairs: Buffer<Pair>,
    /// The number of `pairs` that have been performed (the paper's rDone).
    done: usize,
    joined: bool,
    inherited: Buffer<Inherited>,
    /// Whether choices come from `bytes` instead of `pairs`, which then records them.
    choosing: bool,
    bytes: bytes::Bytes,
    guide: guide::Guide,
    /// Called at each choice as it is made.
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
    /// Whether a log is being opened, so that what is logged are not events of the program.
    opening_log: bool,
    /// The number of events before the split, once the split has come.
    events_before_split: Option<u32>,
    /// The locks from before the split that T holds, until T's log is opened.
    opening: Buffer<InitLock>,
    begin: Option<Begin>,
    /// Whether something before T's log orders it with that of T', so that T may not have run alone.
    tied: bool,
    /// The interfering threads, where they are more than one.
    several: several::Several,
    /// The rounds that are over.
    rounds: rounds::Rounds,
    /// Whether T' has failed in a round after the first one.
    interfering_fails_later: bool,
    /// Whether a thread has stood at a barrier, to which the other one may come last.
    stands_at_barrier: bool,
    /// Objects with a smaller number were used in a round that is over.
    first_of_round: Object,
    /// Whether a thread has used a channel while another one ran.
    pub(crate) uses_channels: bool,
    /// Whether T' logged something else than in the execution before.
    log_changed: bool,
    /// Whether T' was cut at the step bound.
    interfering_was_cut: bool,
    /// Whether T, and whether T', was cut before the step bound, since what comes after threads have waited is not
    /// known.
    undecided: (bool, bool),
    /// Whether T' was cut because it did nothing but wait.
    interfering_waits: bool,
    writes: Buffer<Paired>,
    blocks: Buffer<Block>,
    /// The blocks that are open, by number, in their order.
    open: Buffer<u32>,
    nestings: nesting::Nestings,
    /// Whether a block of T' holds its lock in shared mode.
    interfering_shares: bool,
    /// The accesses of T' to racy objects, by event index.
    racy_accesses: Buffer<u32>,
    /// Whether the value of every write of T' is kept, not only of the writes in `pairs`.
    keep_all_values: bool,

    grid: Grid,
    solver: Solver,

    pub(crate) threads: Threads,
    pub(crate) clocks: crate::clock::Clocks,
    steps: u32,
    /// How often a count has been learnt before two threads ran side by side.
    looks_at_counts: u32,
    spin: spin::Spin,
    quiet_waits: quiet::Quiet,
    endings: ended::Endings,
    /// Why the execution was ended early, if it was.
    abort: Option<Abort>,
    /// What a report tells of `abort`.
    reason: Option<abort::Reason>,
    /// The number of events for which an infeasible execution may still run on.
    run_on: u32,
    /// Why the execution was ended early, once it is over.
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
            copy_of: number(self.several.current()),
        });
        id
    }

    /// A number that no other event of this execution has; that of an event of T' is the same in all executions.
    pub(crate) fn event_number(&self) -> u64 {
        ((self.rounds.over() + self.several.current()) as u64) << 34
            | u64::from(self.steps) << 2
            | self.line as u64
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

    /// Whether T has performed all non-local reads of `pairs`.
    pub(crate) fn all_reads_done(&self) -> bool {
        self.choosing || self.done == self.pairs.len()
    }

    /// Whether T' held the lock at its end, so that the lock is not logged since the join.
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

    /// The role in which T' is the thread under test; among several interfering threads, the one with this number.
    fn interfering_role(&self, number: usize) -> Role {
        if self.is_of_several() {
            self.several.role(number)
        } else {
            Role(1 - self.role.0.min(1))
        }
    }

    /// The events of T so far.
    #[inline]
    fn under_test(&self) -> &[TEvent] {
        self.grid.events()
    }

    /// From here on, events are none of the program, but for those by which T sees T'. Returns what to give to
    /// [`Self::shows_events`].
    pub(crate) fn hides_events(&mut self) -> (bool, usize) {
        let before = std::mem::replace(&mut self.opening_log, true);
        (before, self.under_test().len())
    }

    /// Ends what [`Self::hides_events`] has begun.
    pub(crate) fn shows_events(&mut self, (before, events): (bool, usize)) {
        self.opening_log = before;
        let current = self.threads.current;
        let made = self
            .grid
            .events()
            .iter()
            .zip(&mut self.under_test_trail[..]);
        for (event, trail) in made.skip(events) {
            if event.source.is_some() {
                trail.thread = current;
            }
        }
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

    /// The number of events before two threads ran side by side, without those that only learn a count.
    fn init_events(&self) -> u32 {
        let all = self.events_before_split.unwrap_or(self.steps);
        all.saturating_sub(self.looks_at_counts)
    }

    /// Whether T may have run alone so far: then T's log needs no check.
    #[inline]
    fn alone(&self) -> bool {
        self.done == 0 && !self.joined && !self.tied
    }

    /// Whether the execution can be left where it is, even while its thread unwinds.
    pub(crate) fn can_be_left(&self) -> bool {
        self.leaves != abort::Leaves::OnlyUnwinds
    }

    /// Whether the current thread unwinds, so that what it does now must not let another thread run, nor end the
    /// execution.
    #[inline]
    pub(crate) fn moves_no_thread(&self) -> bool {
        std::thread::panicking() && self.leaves != abort::Leaves::Forgets
    }

    /// The current line did something that others can see.
    pub(crate) const fn made_progress(&mut self) {
        self.spin.progress();
    }

    /// How often a thread has changed something, or seen something of the other thread.
    pub(crate) const fn progress_made(&self) -> u32 {
        self.spin.progress_made()
    }

    /// So many of the latest changes are undone, and leave nothing behind.
    pub(crate) const fn takes_back_progress(&mut self, changes: u32) {
        self.spin.takes_back(changes);
    }

    fn next_read(&mut self) -> ReadId {
        let id = ReadId(self.reads);
        self.reads += 1;
        id
    }
}
