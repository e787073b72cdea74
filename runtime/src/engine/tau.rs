//! τ\[T\]: what an event does on the line of the thread under test.
//!
//! Source: section 4.1, figure 3, left. Every read is a candidate for a non-local read. A read that `rds` names gets
//! the value of its paired write. Every other read stays local, which the feasibility check after the read has to
//! allow.

use super::abort::unknown;
use super::choice::{choose, choose_failure};
use super::{
    Abort, Engine, Handle, Held, Inherited, InterferingEnd, Line, NONE, Paired, abort, bug, counts,
    several, tau_prime, threads,
};
use crate::feasibility::Verdict;
use crate::log::{LockMode, Log, Object, Op, TEvent};
use crate::vocabulary::{ReadId, Site, WriteId};

/// On which copy an access acts, and whether the access is an event of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    // The variants in the order of [`Line`]'s: then a `Line` becomes an `Access` at no cost.
    /// G, and nothing is logged.
    Plain,
    /// An event of T.
    UnderTest,
    /// An event of T'.
    Interfering,
    /// G', and nothing is logged.
    PlainPrime,
}

/// Must be called before an event. The call may run threads, and may unwind.
#[inline]
pub(crate) fn enter(handle: Handle, site: Site) -> Access {
    let engine = handle.get();
    engine.steps += 1;
    // One test for all three conditions, since none of them has a side effect.
    if engine.attention | engine.quiet | (engine.steps > engine.limits.steps) {
        return enter_slowly(handle, site);
    }
    match engine.line {
        Line::Init => Access::Plain,
        Line::UnderTest => Access::UnderTest,
        Line::Interfering => Access::Interfering,
    }
}

#[cold]
fn enter_slowly(handle: Handle, site: Site) -> Access {
    let engine = handle.get();
    if engine.quiet {
        if let Some(of) = engine.copying {
            super::copying::makes_events(handle, of);
        }
        super::abort::after_end(handle);
        return plain(handle.get());
    }
    if engine.counts.is_uncertain() {
        counts::is_noticed(handle);
    }
    if engine.attention {
        if engine.is_behind_another() {
            several::stop_behind_another(handle);
            return plain(handle.get());
        }
        threads::before_event(handle, site);
    }
    let engine = handle.get();
    if engine.steps > engine.limits.steps {
        abort(handle, Abort::StepBound);
        return plain(handle.get());
    }
    match engine.line {
        Line::Init => Access::Plain,
        Line::UnderTest => Access::UnderTest,
        Line::Interfering => Access::Interfering,
    }
}

/// Like [`enter`], without running any other thread: for destructors that run while the thread unwinds.
pub(crate) fn enter_unwinding(handle: Handle) -> Access {
    let engine = handle.get();
    if engine.counts.is_uncertain() {
        counts::is_noticed(handle);
    }
    if engine.quiet {
        return plain(engine);
    }
    engine.steps += 1;
    match engine.line {
        Line::Init => Access::Plain,
        Line::UnderTest => Access::UnderTest,
        Line::Interfering => Access::Interfering,
    }
}

fn plain(engine: &Engine) -> Access {
    if engine.line == Line::Interfering {
        Access::PlainPrime
    } else {
        Access::Plain
    }
}

/// append(log, (T, …)). The event comes in two parts, as [`Grid::push`](super::grid::Grid::push) passes it on.
///
/// Inlined everywhere: a call takes a twentieth of an execution of a small program more, as it has to build the event in memory.
#[inline(always)]
pub(crate) fn push(engine: &mut Engine, op: Op, source: Option<u32>, site: Site, value: u64) {
    let trail = engine.trail(site, value);
    engine.under_test_trail.push(trail);
    engine.grid.push(TEvent { op, source });
    let seen = match (op, source) {
        (Op::Read(object), Some(source)) => Some((object, source)),
        (Op::Write(object) | Op::Update(object), _) => Some((object, NONE)),
        _ => None,
    };
    if let Some((object, event)) = seen
        && let Some(info) = engine.objects.get_mut(object as usize)
    {
        info.seen = event;
    }
}

/// Whether T' has taken this lock, and T may still run before that.
pub(crate) fn interferes(handle: Handle, lock: Object) -> bool {
    let engine = handle.get();
    let info = engine.objects.get(lock as usize);
    !engine.joined && info.is_some_and(|info| info.last_acquire != NONE)
}

/// A read of `object` by T. Returns `Some(event)` if the read is non-local: the value is that of this event of T'.
///
/// `op_of` gives the read's operation when the read sees a given value: an update that fails is a read. `local` is the
/// value that T would see by itself.
#[inline]
pub(crate) fn read(
    handle: Handle,
    object: Object,
    site: Site,
    local: u64,
    op_of: impl Fn(u64) -> Op,
) -> Option<u32> {
    let engine = handle.get();
    let read = engine.next_read();
    if engine.choosing {
        choose(engine, object, &op_of, false);
    }
    if let Some(&(next, write)) = engine.pairs.get(engine.done)
        && next == read
    {
        let Some(paired) = engine.writes.get(write.0 as usize).copied() else {
            abort(handle, Abort::Mispaired);
            return None;
        };
        if engine.interfering[paired.event as usize].writes() != Some(object) {
            abort(handle, Abort::Mispaired);
            return None;
        }
        engine.done += 1;
        engine.comes_after_interfering();
        let value = engine.interfering_value(paired.event);
        push(engine, op_of(value), Some(paired.event), site, value);
        engine.spin.progress();
        require_feasible(handle);
        return Some(paired.event);
    }
    if engine.reveal && engine.all_reads_done() && (object as usize) < engine.objects.len() {
        reveal(engine, object, read, &op_of);
    }
    let seen = engine
        .objects
        .get(object as usize)
        .map_or(NONE, |info| info.seen);
    push(engine, op_of(local), None, site, local);
    if !engine.goes_on()
        && let Some(event) = without_local(handle, object, seen, (site, local), &op_of)
    {
        return Some(event);
    }
    None
}

/// A read of `object` by T that is no choice: the read sees what event `source` of T' has written, unless T has seen
/// that already; without a `source`, the read sees what T last saw.
pub(crate) fn read_known(
    handle: Handle,
    object: Object,
    source: Option<u32>,
    site: Site,
    value: u64,
) {
    let engine = handle.get();
    engine.steps += 1;
    let seen = engine.objects.get(object as usize).map(|info| info.seen);
    let source = source.filter(|&event| seen != Some(event));
    engine.spin.progress();
    push(engine, Op::Read(object), source, site, value);
    require_feasible(handle);
}

/// A round is over, and T reads `object` as it begins the next one: see [`rounds`](super::rounds). Nothing is read where T
/// has the latest write of T' already.
pub(crate) fn read_at_end_of_round(handle: Handle, object: Object, site: Site) {
    let engine = handle.get();
    let info = engine.objects[object as usize];
    let Some(&Paired { event, .. }) = engine.writes.get(info.last_write as usize) else {
        return;
    };
    if event == info.seen {
        return;
    }
    let read = engine.next_read();
    if !hypothetically_feasible(engine, TEvent::local(Op::Read(object))) {
        push(engine, Op::Read(object), Some(event), site, 0);
        require_feasible(handle);
        return;
    }
    if engine.choosing {
        choose(engine, object, &|_| Op::Read(object), false);
    }
    if is_next(engine, read) {
        let (_, write) = engine.pairs[engine.done];
        if write.0 != info.last_write {
            abort(handle, Abort::Mispaired);
            return;
        }
        engine.done += 1;
        push(engine, Op::Read(object), Some(event), site, 0);
    } else {
        if engine.reveal && engine.all_reads_done() {
            reveal(engine, object, read, |_| Op::Read(object));
        }
        push(engine, Op::Read(object), None, site, 0);
    }
    require_feasible(handle);
}

/// T begins an operation that is one step: see [`Block`](crate::shared::Block). No thread waits for the lock.
pub(crate) fn enter_block(handle: Handle, lock: Object, site: Site) {
    push(
        handle.get(),
        Op::Acquire(lock, LockMode::Exclusive),
        None,
        site,
        0,
    );
}

/// T ends an operation that is one step.
pub(crate) fn leave_block(handle: Handle, lock: Object, site: Site) {
    push(
        handle.get(),
        Op::Release(lock, LockMode::Exclusive),
        None,
        site,
        0,
    );
    require_feasible(handle);
}

/// T waits for an object to change, and looks at it once more. What T could see now, T could have seen at its look before,
/// so this read is no choice.
pub(crate) fn read_again(handle: Handle, object: Object, site: Site, value: u64) {
    let engine = handle.get();
    engine.steps += 1;
    push(engine, Op::Read(object), None, site, value);
}

/// The latest event of T is a local read, of an object of which T had last seen event `seen`, and some log may allow no
/// local read here. Returns `Some(event)` if the read is non-local instead.
#[inline(never)]
fn without_local(
    handle: Handle,
    object: Object,
    seen: u32,
    (site, local): (Site, u64),
    op_of: &impl Fn(u64) -> Op,
) -> Option<u32> {
    let engine = handle.get();
    match feasible(engine) {
        Answer::Yes => return None,
        Answer::Unknown(why) => {
            unknown(handle, why);
            return None;
        }
        Answer::No => {}
    }
    if engine.choosing {
        // No interleaving lets this read be local: the read takes the next choice, if it can.
        take_back(engine, object, seen);
        choose(engine, object, op_of, true);
        if is_next(engine, ReadId(engine.reads - 1)) {
            let (_, write) = engine.pairs[engine.done];
            let event = engine.writes[write.0 as usize].event;
            engine.done += 1;
            engine.comes_after_interfering();
            let value = engine.interfering_value(event);
            push(engine, op_of(value), Some(event), site, value);
            engine.spin.progress();
            require_feasible(handle);
            return Some(event);
        }
        push(engine, op_of(local), None, site, local);
    }
    abort(handle, Abort::Infeasible);
    None
}

/// Takes the latest event of T back: a local event, of an object of which T had last seen event `seen`.
fn take_back(engine: &mut Engine, object: Object, seen: u32) {
    engine.truncate_under_test(engine.under_test().len() - 1);
    if let Some(info) = engine.objects.get_mut(object as usize) {
        info.seen = seen;
    }
}

/// Notes the writes of T' that this read of T could see.
#[inline]
fn reveal(engine: &mut Engine, object: Object, read: ReadId, op_of: impl Fn(u64) -> Op) {
    let super::ObjectInfo {
        last_write, seen, ..
    } = engine.objects[object as usize];
    if last_write == NONE {
        return;
    }
    if !engine.is_on_grid() {
        reveal_slowly(engine, last_write, seen, read, op_of);
        return;
    }
    if let Some(foreign) = engine.grid.foreign(object) {
        reveal_list(engine, object, seen, read, foreign);
        return;
    }
    let mut reader = engine.grid.reader(object);
    let mut next = last_write;
    while next != NONE {
        let Paired { event, previous } = engine.writes[next as usize];
        if event == seen {
            // The local read sees that write again, and older writes can't be seen any more.
            break;
        }
        let op = op_of(engine.interfering_trail[event as usize].value);
        if reader.could_see(event, op.writes().is_some()) {
            engine.revealed.push(read, WriteId(next));
        }
        next = previous;
    }
}

/// Notes the writes of T' that this read of T could see, where the log of T' is long: the list of writes is made anew
/// only where reads could see something else than the read before.
#[inline(never)]
fn reveal_list(engine: &mut Engine, object: Object, seen: u32, read: ReadId, foreign: u32) {
    let (grid, writes) = (&engine.grid, &engine.writes);
    let list = engine.revealed.shared(object, foreign);
    let list = list.unwrap_or_else(|| {
        let mut before = NONE;
        let latest_first = std::iter::from_fn(|| {
            let event = grid.latest_seen(foreign, object, before)?;
            before = event;
            write_at(writes, event)
        });
        engine.revealed.share(object, foreign, latest_first)
    });
    engine.revealed.push_shared(read, list, |write| {
        seen == NONE || writes[write.0 as usize].event > seen
    });
}

/// The write of T' whose event has this index.
pub(super) fn write_at(writes: &[Paired], event: u32) -> Option<WriteId> {
    let at = writes.binary_search_by_key(&event, |paired| paired.event);
    at.ok().map(|at| WriteId(at as u32))
}

/// Notes the writes of T' that this read of T could see, with another solver than the grid, or with several interfering threads.
#[cold]
fn reveal_slowly(
    engine: &mut Engine,
    last_write: u32,
    seen: u32,
    read: ReadId,
    op_of: impl Fn(u64) -> Op,
) {
    let mut next = last_write;
    while next != NONE {
        let Paired { event, previous } = engine.writes[next as usize];
        if event == seen {
            if engine.is_of_several() {
                // Another interfering thread may have written before or after that.
                next = previous;
                continue;
            }
            break;
        }
        let op = op_of(engine.interfering_value(event));
        if hypothetically_feasible(engine, TEvent::non_local(op, event)) {
            engine.revealed.push(read, WriteId(next));
        }
        next = previous;
    }
}

/// A write of `object` by T.
#[inline]
pub(crate) fn write(handle: Handle, object: Object, site: Site, value: u64) {
    let engine = handle.get();
    engine.spin.progress();
    push(engine, Op::Write(object), None, site, value);
}

/// T takes a lock, for which it would wait.
pub(crate) fn acquire(handle: Handle, lock: Object, mode: LockMode, site: Site) {
    let wanted = Held { lock, mode };
    if handle.get().holds_excluding(wanted) {
        bug::self_deadlock(handle, lock, site);
        return;
    }
    bug::find_deadlocks(handle, wanted, site);
    acquired(handle, wanted, site);
}

fn acquired(handle: Handle, wanted: Held, site: Site) {
    let engine = handle.get();
    engine.spin.acquired(wanted.lock, wanted.mode);
    engine.held.push(wanted);
    if engine.has_inherited(wanted.lock) {
        return;
    }
    push(engine, Op::Acquire(wanted.lock, wanted.mode), None, site, 0);
}

/// T tries to take a lock without waiting for it. Returns whether T got the lock.
pub(crate) fn try_acquire(handle: Handle, lock: Object, mode: LockMode, site: Site) -> bool {
    let wanted = Held { lock, mode };
    let engine = handle.get();
    engine.note_attempt(lock);
    if engine.holds_excluding(wanted) {
        return false;
    }
    let read = engine.next_read();
    if engine.has_inherited(lock) {
        acquired(handle, wanted, site);
        return true;
    }
    if engine.choosing {
        choose_failure(engine, lock, mode, false);
    }
    if is_next(engine, read) {
        fail(handle, wanted, site);
        return false;
    }
    if engine.reveal && engine.all_reads_done() {
        let failure = |event| TEvent::non_local(Op::TryFail(lock, mode), event);
        let candidates: Vec<_> = engine.writes_of(lock, true).collect();
        for write in candidates {
            let event = engine.writes[write.0 as usize].event;
            let excludes =
                matches!(engine.interfering[event as usize], Op::Acquire(_, m) if m.excludes(mode));
            if excludes && hypothetically_feasible(engine, failure(event)) {
                engine.revealed.push(read, write);
            }
        }
    }
    acquired(handle, wanted, site);
    let engine = handle.get();
    if engine.choosing && !engine.alone() && matches!(feasible(engine), Answer::No) {
        // No interleaving lets this attempt succeed: the attempt takes the next choice, if it can.
        engine.held.pop();
        engine.spin.released(lock, mode);
        engine.truncate_under_test(engine.under_test().len() - 1);
        choose_failure(engine, lock, mode, true);
        if is_next(engine, read) {
            fail(handle, wanted, site);
            return false;
        }
        acquired(handle, wanted, site);
    }
    require_feasible(handle);
    true
}

/// Whether this read is the next non-local one.
fn is_next(engine: &Engine, read: ReadId) -> bool {
    let next = engine.pairs.get(engine.done);
    next.is_some_and(|&(next, _)| next == read)
}

/// T does not get the lock, since T' is in the block that the next pair names.
fn fail(handle: Handle, wanted: Held, site: Site) {
    let Held { lock, mode } = wanted;
    let engine = handle.get();
    let (_, write) = engine.pairs[engine.done];
    let paired = engine.writes.get(write.0 as usize).copied();
    let paired = paired.filter(|paired| match engine.interfering[paired.event as usize] {
        Op::Acquire(l, m) => l == lock && m.excludes(mode),
        _ => false,
    });
    let Some(paired) = paired else {
        abort(handle, Abort::Mispaired);
        return;
    };
    engine.done += 1;
    engine.comes_after_interfering();
    push(engine, Op::TryFail(lock, mode), Some(paired.event), site, 0);
    engine.spin.progress();
    require_feasible(handle);
}

/// T gives a lock back.
pub(crate) fn release(handle: Handle, lock: Object, mode: LockMode, site: Site) {
    let engine = handle.get();
    engine.spin.released(lock, mode);
    let held = Held { lock, mode };
    if engine.held.last() == Some(&held) {
        engine.held.pop();
    } else if let Some(at) = engine.held.iter().rposition(|other| *other == held) {
        engine.held.remove(at);
    }
    let mut inherited = engine.inherited.iter_mut().rev();
    if let Some(entry) = inherited.find(|entry| entry.held.lock == lock) {
        entry.alive = false;
        return;
    }
    push(engine, Op::Release(lock, mode), None, site, 0);
}

/// T has joined T': from here on all of T' is in the past.
pub(crate) fn join(handle: Handle, site: Site) {
    let engine = handle.get();
    if engine.joined {
        return;
    }
    if engine.is_of_several() {
        several::join_last(handle, site);
        return;
    }
    bug::find_deadlock_at_join(handle, site);
    let engine = handle.get();
    if engine.interfering_end == InterferingEnd::Stopped {
        let reason = if engine.interfering_waits_for_time() {
            engine.hurry();
            Abort::Waiting
        } else {
            Abort::Stuck
        };
        abort(handle, reason);
        return;
    }
    engine.joined = true;
    engine.comes_after_interfering();
    if matches!(
        engine.interfering_end,
        InterferingEnd::WaitsForUnderTest(..)
    ) {
        for &open in &engine.open {
            let held = engine.blocks[open as usize].held;
            engine.held.push(held);
            engine.inherited.push(Inherited { held, alive: true });
        }
    }
    push(engine, Op::Join, None, site, 0);
    require_feasible(handle);
}

/// assume(isFeasible(log)).
#[inline]
pub(crate) fn require_feasible(handle: Handle) {
    if !handle.get().goes_on() {
        require_feasible_slowly(handle);
    }
}

fn require_feasible_slowly(handle: Handle) {
    match feasible(handle.get()) {
        Answer::Yes => {}
        Answer::No => abort(handle, Abort::Infeasible),
        Answer::Unknown(why) => unknown(handle, why),
    }
}

/// A feasibility verdict without its witness.
pub(crate) enum Answer {
    Yes,
    No,
    Unknown(String),
}

impl From<Verdict> for Answer {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Feasible(_) => Self::Yes,
            Verdict::Infeasible => Self::No,
            Verdict::Unknown(why) => Self::Unknown(why),
        }
    }
}

/// Whether the log as it stands has a feasible interleaving.
#[inline]
pub(crate) fn feasible(engine: &mut Engine) -> Answer {
    if engine.solver.is_grid() {
        return if engine.grid.feasible() {
            Answer::Yes
        } else if engine.grid.has_given_up() {
            Answer::Unknown(several::TOO_MUCH.to_owned())
        } else {
            Answer::No
        };
    }
    let by_grid = engine.grid.feasible();
    let log = Log {
        under_test: engine.grid.events(),
        interfering: &engine.interfering,
    };
    engine.solver.check(&log, by_grid)
}

/// Whether the log would have a feasible interleaving with `event` added.
#[inline]
pub(super) fn hypothetically_feasible(engine: &mut Engine, event: TEvent) -> bool {
    if engine.solver.is_grid() {
        return engine.grid.would_be_feasible(event);
    }
    let by_grid = engine.grid.would_be_feasible(event);
    engine.grid.push(event);
    let log = Log {
        under_test: engine.grid.events(),
        interfering: &engine.interfering,
    };
    let answer = engine.solver.check(&log, by_grid);
    engine.grid.pop();
    // An event that can't be decided is tried: the execution then ends as undecided, and is counted as such.
    !matches!(answer, Answer::No)
}

impl Engine {
    /// Whether the log is known to be feasible without a check.
    #[inline]
    fn goes_on(&self) -> bool {
        // Where T ran alone, T' need not have started.
        self.alone() || (self.grid.goes_on() && self.solver.is_grid())
    }

    /// Whether the progress grid of two threads decides.
    #[inline]
    pub(super) const fn is_on_grid(&self) -> bool {
        self.solver.is_grid() && !self.is_of_several()
    }

    /// Whether T itself holds the lock in a way that keeps it from taking it as wanted.
    fn holds_excluding(&self, wanted: Held) -> bool {
        self.held
            .iter()
            .any(|held| held.lock == wanted.lock && held.mode.excludes(wanted.mode))
    }
}

/// An access of either line to data that no synchronisation protects.
pub(crate) fn racy_access(handle: Handle, object: Object, writes: bool, site: Site) {
    match handle.get().line {
        Line::UnderTest => bug::find_races(handle, object, writes, site),
        Line::Interfering => tau_prime::note_racy(handle.get()),
        Line::Init => {}
    }
}
