//! One execution from start to end, and what is kept between executions.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

use super::abort::Leaves;
use super::bytes::Bytes;
use super::frame::{CAN_BE_LEFT, Frame};
use super::grid::Grid;
use super::guide::{Guide, Same};
use super::ledger::Ledger;
use super::threads::{self, Threads};
use super::{
    Abort, Bug, CURRENT, Engine, Handle, InterferingEnd, Line, Solver, abort, ended, spin,
};
use crate::alone::{Generation, alone};
use crate::bound::Bound;
use crate::ending::Results;
use crate::executable::unwinding::Counter;
use crate::locals;
use crate::log::Log;
use crate::memory::Buffer;
use crate::memory::arena::Arena;
use crate::panics;
use crate::vocabulary::{BugKind, Pair, Place, Role, ThreadInfo};

/// Bounds on one execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most events of each thread.
    pub steps: u32,
    /// The number of events for which an execution may run on, with nothing logged, once it has turned out to be
    /// infeasible.
    ///
    /// Running to the end is far cheaper than unwinding. Running on is sound only for programs without `unsafe` code,
    /// whose soundness might depend on never being in states that no interleaving reaches; see
    /// [`Bound::safe`](crate::Bound::safe).
    pub run_on: u32,
    /// Whether panics of threads that no thread joins are no bugs.
    pub ignore_detached_panics: bool,
    /// Whether more than two threads may run side by side.
    pub several: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: 10_000,
            run_on: 256,
            ignore_detached_panics: false,
            several: false,
        }
    }
}

/// How an execution ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The program ran to its end.
    Passed,
    /// The program met a bug: see [`Machine::bugs`] and [`Machine::met`].
    Bug,
    /// The choice of non-local reads has no feasible interleaving.
    Infeasible,
    /// The feasibility check could not decide.
    Unknown(Box<Remark>),
    /// `wrts` names a write that does not exist, or that is of another variable than the read.
    Mispaired,
    /// `rds` names a read that T does not come to.
    NoSuchRead,
    /// A call of `assume` was told something false.
    Assumed,
    /// T passed the step bound.
    StepBound,
    /// T waits for something in a loop, and no non-local read saw it.
    Waiting,
    /// T waits for ever.
    Stuck,
    /// The program does what P̂ₖ cannot express.
    Unsupported(Box<Remark>),
}

/// What a report tells of how an execution ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// What happened.
    pub message: String,
    /// The place in the source, if there is one.
    pub place: Option<Place>,
}

/// Bytes that choose non-local reads, and the program that they choose for.
#[derive(Clone, Copy)]
pub struct ByBytes<'a> {
    /// Which party is T.
    pub role: Role,
    /// The most non-local reads.
    pub k: usize,
    /// The gap and pick bytes.
    pub choices: &'a [u8],
    /// The rest of numbers that don't fit into a byte.
    pub extension: &'a [u8],
    /// The harness with its inputs.
    pub program: &'a dyn Fn(),
    /// Whether the program is free of `unsafe` code: see [`Bound::safe`](crate::Bound::safe).
    pub safe: bool,
    /// What identifies the program with its inputs, if what is learned of it is to be kept for later executions.
    pub same: Option<Same<'a>>,
}

impl std::fmt::Debug for ByBytes<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ByBytes")
            .field("role", &self.role)
            .field("k", &self.k)
            .field("choices", &self.choices)
            .finish_non_exhaustive()
    }
}

/// Called with the non-local reads so far.
pub type Tell = Box<dyn FnMut(&[Pair])>;

/// The program did something else than before with the same inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nondeterminism;

/// Runs executions of P̂ₖ, one after another.
///
/// One execution runs at a time in a process, since the program's statics are shared by all its threads: another
/// execution waits for its end.
pub struct Machine {
    engine: Box<Engine>,
    /// The memory that the program allocates from, if the arena is installed as the allocator.
    arena: Arena,
    /// Whether T' has run since [`Machine::forget`], so that its log must not change any more.
    has_run: bool,
}

impl Machine {
    /// A machine with these bounds.
    #[must_use]
    pub fn new(limits: Limits, solver: Solver) -> Self {
        panics::install_hook();
        Self {
            engine: Box::new(Engine::new(limits, solver)),
            arena: Arena::default(),
            has_run: false,
        }
    }

    /// The next executions are of another program or other inputs: T' may log something else.
    pub fn forget(&mut self) {
        self.has_run = false;
        self.engine.rounds.forget();
    }

    /// From here on, feasibility is decided as in long executions: see [`crate::feasibility::Grid::in_runs`].
    pub fn answer_in_runs(&mut self) {
        self.engine.grid = Grid::in_runs();
    }

    /// From here on, each thread may make at most `steps` events in an execution.
    pub const fn bound_steps(&mut self, steps: u32) {
        self.engine.limits.steps = steps;
    }

    /// Forgets the program, as [`Machine::forget`] does, and the bugs as well.
    pub fn forget_bugs(&mut self) {
        self.engine.ledger.clear();
        self.engine.endings.forget();
    }

    /// From here on, panics that the harness might have handled are no bugs before [`Machine::end_search`]: the harness
    /// may handle them in another execution.
    pub fn begin_search(&mut self) {
        self.engine.endings.kept = Some(Vec::new());
    }

    /// Sets the caller's number for what the next executions search.
    pub const fn search_in(&mut self, label: usize) {
        self.engine.endings.label = label;
    }

    /// All executions have been made: a panic that no harness has handled is a bug now. Returns the label, as
    /// [`Machine::search_in`] set it, under which each bug that is added now was found.
    pub fn end_search(&mut self) -> Vec<usize> {
        let mut labels = Vec::new();
        let mut kept = self.engine.endings.take_kept();
        // Among several threads an execution is followed up to the panic alone, so that none may have shown that the harness
        // handles it: then what kept the harness from joining the thread is a bug itself, and told.
        let mut bugs = self.engine.ledger.bugs.iter();
        if bugs.any(|(bug, _)| bug.kind == BugKind::Panic) {
            kept.retain(|kept| kept.bug.threads.len() <= 2);
        }
        for kept in kept {
            if self.engine.ledger.add_late(&kept.key, kept.bug) {
                labels.push(kept.label);
            }
        }
        labels
    }

    /// Runs the program once, with the non-local reads `pairs` (`rds` and `wrts`, in the order of the reads).
    ///
    /// With `bound.safe` an execution that turns out to be infeasible may run on instead of being unwound.
    ///
    /// With `reveal`, notes every further read that could be non-local too: see [`Machine::revealed`].
    ///
    /// # Errors
    /// T' did something else than in the executions before.
    pub fn run(
        &mut self,
        role: Role,
        pairs: &[Pair],
        reveal: bool,
        bound: &Bound,
    ) -> Result<Ending, Nondeterminism> {
        self.start(role, reveal, bound.safe);
        self.engine.pairs.extend_from_slice(pairs);
        self.execute(&*bound.program)
    }

    /// Runs the program with at most `k` non-local reads chosen by bytes: see
    /// [`p_hat_from_bytes`](crate::p_hat_from_bytes). Runs the program more than once where a choice is infeasible and
    /// has to be changed.
    ///
    /// # Errors
    /// T' did something else than in the executions before.
    pub fn run_bytes(&mut self, by: &ByBytes<'_>) -> Result<Ending, Nondeterminism> {
        self.engine.guide.open(by.role, by.k, by.same);
        loop {
            self.start(by.role, false, by.safe);
            let engine = &mut *self.engine;
            engine.choosing = true;
            engine.bytes.fill(by.k, by.choices, by.extension);
            engine.guide.begin();
            engine.keep_all_values = by.k > 0;
            let ending = self.execute(by.program)?;
            let engine = &mut *self.engine;
            if ending != Ending::Infeasible || engine.ledger.met_by_t || !engine.turn_around() {
                return Ok(ending);
            }
        }
    }

    /// Has `tell` called with the non-local reads so far at each choice that bytes make.
    pub fn announce(&mut self, tell: Tell) {
        self.engine.announce = Some(tell);
    }

    fn start(&mut self, role: Role, reveal: bool, safe: bool) {
        self.engine.safe = safe;
        self.engine.role = role;
        self.engine.reveal = reveal;
        self.engine.choosing = false;
        self.engine.keep_all_values = false;
        self.engine.reset();
    }

    fn execute(&mut self, program: &dyn Fn()) -> Result<Ending, Nondeterminism> {
        assert!(
            CURRENT.get().is_none(),
            "an execution inside of an execution"
        );
        let mut alone = alone();
        self.engine.begin_leaving(&mut alone);
        let pointer = NonNull::from(&mut *self.engine);
        CURRENT.set(Some(pointer));
        panics::listen(Some(abort::hear));
        let handle = Handle(pointer);
        crate::process::enter(0);
        self.arena.begin_thread(0);
        let outside = self.arena.enter(0);
        run_harness(handle, program);
        let engine = handle.get();
        let leaves_waiting = matches!(engine.ending, None | Some(Abort::Stuck))
            && engine.leaves_interfering_waiting();
        clear_up(handle);
        outside.leave();
        crate::process::leave(None);
        crate::process::restore(&mut alone);
        if self.engine.leaves == Leaves::Forgets {
            self.arena
                .give_back(|is_left| crate::process::is_let_go(is_left));
        }
        CURRENT.set(None);
        panics::listen(None);
        drop(alone);
        if self.engine.endings.has_something() {
            ended::conclude(&mut self.engine, program);
        }
        if leaves_waiting && self.engine.ledger.first_met().is_none() {
            self.engine.note_left_waiting();
        }
        self.outcome()
    }

    fn outcome(&mut self) -> Result<Ending, Nondeterminism> {
        let engine = &mut *self.engine;
        if engine.interfering_end != InterferingEnd::Open {
            if self.has_run && engine.log_changed {
                return Err(Nondeterminism);
            }
            self.has_run = true;
        }
        Ok(match engine.ending.take() {
            Some(Abort::Infeasible) => Ending::Infeasible,
            Some(Abort::Unknown) => Ending::Unknown(engine.remark()),
            Some(Abort::Mispaired) => Ending::Mispaired,
            Some(Abort::Assumed) => Ending::Assumed,
            Some(Abort::StepBound) => Ending::StepBound,
            Some(Abort::Waiting) => Ending::Waiting,
            Some(Abort::Stuck) => Ending::Stuck,
            Some(Abort::Bug) if engine.ledger.first_met().is_none() => Ending::Infeasible,
            Some(Abort::Unsupported) => Ending::Unsupported(engine.remark()),
            Some(Abort::Left) if engine.ledger.first_met().is_none() => Ending::Passed,
            Some(Abort::Left) => Ending::Bug,
            Some(Abort::Bug) => Ending::Bug,
            None if engine.ledger.first_met().is_some() => Ending::Bug,
            None if !engine.choosing && engine.done < engine.pairs.len() => Ending::NoSuchRead,
            None => Ending::Passed,
        })
    }

    /// The further reads of T that could have been non-local, too, with the writes that each could have seen.
    #[must_use]
    pub const fn revealed(&self) -> &super::Revealed {
        &self.engine.revealed
    }

    /// The non-local reads of the latest execution.
    #[must_use]
    pub fn pairs(&self) -> &[Pair] {
        &self.engine.pairs[..self.engine.done.min(self.engine.pairs.len())]
    }

    /// The log of the latest execution.
    #[must_use]
    pub fn log(&self) -> Log<'_> {
        self.engine.log()
    }

    /// The bugs of all executions, with the number of executions that met each.
    #[must_use]
    pub fn bugs(&self) -> &[(Bug, u64)] {
        &self.engine.ledger.bugs
    }

    /// The bug that the latest execution met.
    #[must_use]
    pub fn met(&self) -> Option<&Bug> {
        self.engine.ledger.first_met()
    }

    /// The threads that ran side by side in the latest execution, in the order of their creation.
    #[must_use]
    pub fn threads(&self) -> Vec<ThreadInfo> {
        self.engine.party_infos(0)
    }

    /// Whether in the latest execution an interfering thread was cut where it goes on after it has waited for another one.
    #[must_use]
    pub const fn interfering_needs_another(&self) -> bool {
        self.engine.several.was_cut
    }

    /// Whether the latest execution met a bug of T.
    #[must_use]
    pub const fn met_bug_of_t(&self) -> bool {
        self.engine.ledger.met_by_t
    }

    /// The types of which copies were made, in any execution, that may not be as in the program: those after the first `n`.
    pub fn doubts(&self, n: usize) -> impl Iterator<Item = Remark> {
        let doubts = self.engine.doubts.iter().skip(n);
        doubts.copied().map(Remark::from)
    }

    /// Whether T' was cut at the step bound in the latest execution.
    #[must_use]
    pub const fn interfering_was_cut(&self) -> bool {
        self.engine.interfering_was_cut
    }

    /// The number of threads among T and T' that were cut in the latest execution before the step bound, since what
    /// comes after threads have waited is not known.
    #[must_use]
    pub fn undecided(&self) -> u64 {
        let (of_t, of_interfering) = self.engine.undecided;
        u64::from(of_t) + u64::from(of_interfering)
    }

    /// Whether in the latest execution a scope waited for what destructors of thread-locals did, which with std may also come
    /// after the scope's end.
    #[must_use]
    pub const fn leaves_scope_open(&self) -> bool {
        self.engine.has_left_scope_open
    }

    /// Whether T' fails in the latest execution in a round after the first one. Such a failure may need what T has read in the
    /// rounds before, and is neither a bug of T nor one of T' by itself.
    #[must_use]
    pub const fn interfering_fails_later(&self) -> bool {
        self.engine.interfering_fails_later
    }

    /// Whether a thread has stood at a barrier in the latest execution. If the other one comes last, this one goes on after it has
    /// seen that; where both of them go on so, each has seen the other one, and that is not executed.
    #[must_use]
    pub const fn stood_at_barrier(&self) -> bool {
        self.engine.stands_at_barrier
    }

    /// Whether in the latest execution a time limit may run out at another event than was tried.
    #[must_use]
    pub const fn hurries_time(&self) -> bool {
        self.engine.hurried()
    }

    /// Whether T' was cut in the latest execution since it did nothing but wait.
    #[must_use]
    pub const fn interfering_waits(&self) -> bool {
        self.engine.interfering_waits
    }
}

/// Runs the harness, until it is over or has been left.
fn run_harness(handle: Handle, program: &dyn Fn()) {
    if !within_a_frame(handle, || run_to_its_end(handle, program)) {
        let engine = handle.get();
        // A panic that was under way may have been the harness's own.
        let waits = engine.endings.panics.is_under_way(0) || engine.endings.panics.is_held(0);
        if waits {
            ended::note_panic(engine, 0);
        }
    }
    let engine = handle.get();
    engine.ending = engine.abort.take();
}

/// Runs code that may leave the whole execution. Returns whether the code has come to its end, and has not been left.
fn within_a_frame(handle: Handle, mut run: impl FnMut()) -> bool {
    let frame = Frame::default();
    handle.get().frames.whole = Some(NonNull::from(&frame));
    let is_over = frame.call(&mut run);
    let engine = handle.get();
    engine.frames = abort::Frames::default();
    if let (false, Some(counter)) = (is_over, engine.counter) {
        engine.threads.forget_panics(counter, None);
    }
    is_over
}

/// The execution is over. What the program's destructors do after the program's end makes no events.
fn clear_up(handle: Handle) {
    let engine = handle.get();
    engine.quiet = true;
    engine.is_over = true;
    engine.abort = None;
    if engine.leaves == Leaves::Forgets {
        engine.threads.leave();
        panics::leave_hook();
        locals::leave();
        return;
    }
    if !engine.threads.has_bodies() && !engine.has_locals && !panics::has_hook() {
        return;
    }
    let mut leftovers = engine.threads.take_bodies();
    let mut drop_all = || {
        panics::forget_hook();
        while let Some(body) = leftovers.pop() {
            let _ = catch_unwind(AssertUnwindSafe(|| drop(body)));
        }
        if handle.get().has_locals {
            locals::clear();
        }
    };
    while !within_a_frame(handle, &mut drop_all) {}
}

fn run_to_its_end(handle: Handle, program: &dyn Fn()) {
    let result = catch_unwind(AssertUnwindSafe(program));
    let engine = handle.get();
    let by_machine = matches!(&result, Err(payload) if payload.is::<abort::Unwind>());
    if by_machine || engine.abort.is_some() || engine.quiet {
        // The execution was ended, or T' was, on whose line the harness is. A panic that was under way may have been
        // the harness's own.
        let panics = result.is_err() && !by_machine;
        if panics && engine.endings.panics.is_under_way(0) || engine.endings.panics.is_held(0) {
            ended::note_panic(engine, 0);
        }
    } else {
        let how = result.as_ref().map_err(|payload| &**payload);
        ended::harness_ended(engine, how.copied());
    }
    let _ = catch_unwind(AssertUnwindSafe(|| match result {
        Err(payload) if by_machine => {
            threads::interfering_unwound(handle, &*payload);
        }
        _ => {
            threads::destroy_locals(handle, 0);
            threads::finish(handle);
        }
    }));
}

impl Engine {
    fn new(limits: Limits, solver: Solver) -> Self {
        Self {
            generation: 0,
            line: Line::Init,
            attention: false,
            has_locals: false,
            has_left_scope_open: false,
            watches_ends: false,
            watches_results: Results::Unseen,
            counts: Default::default(),
            quiet: false,
            parked_inside: 0,
            copying: None,
            doubts: Vec::new(),
            has_copies: false,
            shown: None,
            leaves: Leaves::default(),
            frames: abort::Frames::default(),
            left: 0,
            is_over: false,
            counter: None,
            role: Role::FIRST,
            safe: false,
            limits,
            objects: Buffer::new(),
            under_test_trail: Buffer::new(),
            held: Buffer::new(),
            reads: 0,
            pairs: Buffer::new(),
            done: 0,
            joined: false,
            inherited: Buffer::new(),
            choosing: false,
            bytes: Bytes::default(),
            guide: Guide::default(),
            announce: None,
            reveal: false,
            revealed: super::Revealed::default(),
            interfering: Buffer::new(),
            interfering_trail: Buffer::new(),
            interfering_end: InterferingEnd::Open,
            init_locks: Buffer::new(),
            opening_log: false,
            events_before_split: None,
            opening: Buffer::new(),
            begin: None,
            tied: false,
            several: super::several::Several::default(),
            rounds: super::rounds::Rounds::default(),
            interfering_fails_later: false,
            stands_at_barrier: false,
            first_of_round: 0,
            uses_channels: false,
            interfering_was_cut: false,
            undecided: (false, false),
            interfering_waits: false,
            writes: Buffer::new(),
            blocks: Buffer::new(),
            open: Buffer::new(),
            nestings: super::nesting::Nestings::default(),
            interfering_shares: false,
            racy_accesses: Buffer::new(),
            keep_all_values: false,
            log_changed: false,
            grid: Grid::new(),
            solver,
            threads: Threads::default(),
            clocks: crate::clock::Clocks::default(),
            steps: 0,
            looks_at_counts: 0,
            spin: spin::Spin::default(),
            quiet_waits: super::quiet::Quiet::default(),
            endings: ended::Endings::default(),
            abort: None,
            reason: None,
            run_on: 0,
            ending: None,
            ledger: Ledger::default(),
        }
    }

    /// Makes ready for the next execution. Buffers are kept. The grid is made ready once T' has run: before that, no
    /// check uses the grid.
    fn reset(&mut self) {
        // All fields are named, so that none is forgotten.
        let Self {
            line,
            attention,
            has_locals,
            has_left_scope_open,
            watches_ends,
            watches_results,
            counts,
            quiet,
            parked_inside,
            copying,
            has_copies,
            shown,
            left,
            is_over,
            objects,
            under_test_trail,
            held,
            reads,
            pairs,
            done,
            joined,
            inherited,
            revealed,
            interfering,
            interfering_trail,
            interfering_end,
            init_locks,
            opening_log,
            events_before_split,
            opening,
            begin,
            tied,
            several,
            rounds,
            interfering_fails_later,
            stands_at_barrier,
            first_of_round,
            uses_channels,
            interfering_was_cut,
            undecided,
            interfering_waits,
            writes,
            blocks,
            open,
            nestings,
            interfering_shares,
            racy_accesses,
            grid,
            threads,
            clocks,
            steps,
            looks_at_counts,
            spin,
            quiet_waits,
            endings,
            abort,
            reason,
            run_on,
            ending,
            ledger,
            // Told of the search as a whole.
            doubts: _,
            // Set where the machine is made, or as the execution goes.
            generation: _,
            leaves: _,
            frames: _,
            counter: _,
            role: _,
            safe: _,
            limits: _,
            choosing: _,
            bytes: _,
            guide: _,
            announce: _,
            reveal: _,
            log_changed: _,
            keep_all_values: _,
            solver: _,
        } = self;
        *line = Line::Init;
        *attention = false;
        *has_locals = false;
        *has_left_scope_open = false;
        *watches_ends = false;
        *watches_results = Results::Unseen;
        counts.clear();
        *quiet = false;
        *parked_inside = 0;
        *copying = None;
        *has_copies = false;
        *shown = None;
        *left = abort::LEFT;
        *is_over = false;
        objects.clear();
        grid.reset();
        under_test_trail.clear();
        held.clear();
        *reads = 0;
        pairs.clear();
        *done = 0;
        *joined = false;
        inherited.clear();
        revealed.clear();
        interfering.clear();
        interfering_trail.clear();
        *interfering_end = InterferingEnd::Open;
        init_locks.clear();
        *opening_log = false;
        *events_before_split = None;
        opening.clear();
        *begin = None;
        *tied = false;
        several.clear();
        rounds.clear();
        *interfering_fails_later = false;
        *stands_at_barrier = false;
        *first_of_round = 0;
        *uses_channels = false;
        *interfering_was_cut = false;
        *undecided = (false, false);
        *interfering_waits = false;
        writes.clear();
        blocks.clear();
        open.clear();
        nestings.clear();
        *interfering_shares = false;
        racy_accesses.clear();
        threads.reset();
        clocks.begin();
        *steps = 0;
        *looks_at_counts = 0;
        quiet_waits.clear();
        spin.clear();
        endings.begin();
        *abort = None;
        *reason = None;
        *run_on = 0;
        *ending = None;
        ledger.begin();
    }

    /// Finds out how an execution is left, and gives it its number.
    fn begin_leaving(&mut self, generation: &mut Generation) {
        self.counter = Counter::find();
        let can_be_left = CAN_BE_LEFT && self.counter.is_some();
        self.leaves = match can_be_left {
            true if crate::process::is_put_back() => {
                self.generation = generation.next_given_back();
                self.leaves = Leaves::Forgets;
                return;
            }
            true => Leaves::Unwinds,
            false => Leaves::OnlyUnwinds,
        };
        // Leaving an execution is cheap; unwinding it is not.
        self.run_on = if self.safe { self.limits.run_on } else { 0 };
        self.generation = generation.next();
    }

    #[cold]
    fn remark(&mut self) -> Box<Remark> {
        let reason = self.reason.take();
        let (message, site) = reason.map_or_else(Default::default, |it| (it.message, it.site));
        let place = site.map(Place::from);
        Box::new(Remark { message, place })
    }

    /// The log of T' is whole: makes it ready for feasibility checks.
    pub(crate) fn close_interfering(&mut self) {
        if self.rounds.over() > 0 {
            self.reopen();
            return;
        }
        let other = self.grid.begin(&self.interfering);
        self.log_changed = other && !self.is_first_round_of_before();
    }
}

/// assume(condition) of the program under test: an execution in which the condition is false is not a behaviour to
/// check.
pub(crate) fn assume(handle: Handle, condition: bool) {
    if !condition && !handle.get().quiet {
        abort(handle, Abort::Assumed);
    }
}
