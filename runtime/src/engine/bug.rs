//! Bugs: what counts as a bug, and the proof that comes with it.
//!
//! Panics are noted when they reach the top of a thread, and judged at the execution's end: see
//! [`ended`](super::ended). Deadlocks and data races are found without running into them: each is a pair of prefixes of
//! the two threads, T about to do one thing and T' another, that can be reached together (section 4.2's feasibility of
//! the two prefixes).

use super::ledger::Key;
use super::{
    Bug, Engine, Handle, Held, InterferingEnd, Line, NONE, Trail, Value, ValueKind, abort, several,
    tau, threads,
};
use crate::feasibility::Step;
use crate::finding::{Event, SiteMark};
use crate::log::{LockMode, Object, Op, TEvent};
use crate::vocabulary::{BugKind, Place, Role, Site, ThreadInfo};

/// What a report tells of a bug, beside the logs.
#[derive(Clone)]
pub(super) struct Draft {
    pub(super) kind: BugKind,
    pub(super) message: String,
    pub(super) place: Place,
    /// The places of panics that this bug may only follow from.
    pub(super) follows: Vec<Place>,
    /// The number of the thread that has the bug.
    pub(super) thread: u32,
    /// The number of non-local reads performed before the bug.
    pub(super) done: usize,
}

/// The current thread ends the process here.
pub(super) fn leaves(handle: Handle, kind: BugKind, message: String, place: Place) {
    let engine = handle.get();
    if engine.line == Line::Interfering {
        let events = engine.interfering.len();
        report_interfering(engine, kind, message, place, None, events);
    } else if engine.alone() || matches!(tau::feasible(engine), tau::Answer::Yes) {
        report(engine, kind, message, place, None, None);
    }
}

/// T and T' each wait for a lock of the other one.
pub(super) const CROSSING: &str = "each thread waits for a lock that the other one holds";
const HOLDS_IT: &str = "the thread waits for a lock that it holds itself";
pub(super) const ENDED_WITH_IT: &str =
    "the thread waits for a lock that the other one ended without giving back";
pub(super) const WAITS_WITH_IT: &str =
    "the thread waits for a lock held by the other one, which waits for this thread to end";

const WAITS_FOR_IT: &str = "the thread waits for a lock held by the other one, which waits for what this thread does after that";

/// The current thread waits for a lock that was taken as this trail says, by a thread of its own line. Returns what that
/// wait is.
fn own_deadlock(engine: &Engine, taken: Option<Trail>) -> &'static str {
    let holder = taken.map(|taken| taken.thread).filter(|&it| it != NONE);
    match holder.filter(|&holder| holder != engine.threads.current) {
        None => HOLDS_IT,
        Some(holder) if engine.threads.get(holder).is_over() => ENDED_WITH_IT,
        Some(_) => WAITS_WITH_IT,
    }
}

/// T takes a lock that it holds itself, or that a thread before it on its line does.
pub(crate) fn self_deadlock(handle: Handle, lock: Object, site: Site) {
    let engine = handle.get();
    let taken = taken_by_under_test(engine, lock).or_else(|| taken_by_interfering(engine, lock));
    let message = own_deadlock(engine, taken);
    let first = taken.map_or(site, |taken| taken.site);
    blocked_for_ever(handle, BugKind::Deadlock, message, site, first);
    abort(handle, abort::Abort::Bug);
}

/// The place where T took a lock that T has not given back, and the thread of T that took the lock.
fn taken_by_under_test(engine: &Engine, lock: Object) -> Option<Trail> {
    let events = engine.under_test().iter().zip(&engine.under_test_trail[..]);
    let mut given_back = 0_u32;
    for (event, trail) in events.rev() {
        match event.op {
            Op::Release(of, _) if of == lock => given_back += 1,
            Op::Acquire(of, _) if of == lock && given_back == 0 => return Some(*trail),
            Op::Acquire(of, _) if of == lock => given_back -= 1,
            _ => {}
        }
    }
    None
}

/// The place where T' took a lock that T' has not given back, and the thread of T' that took the lock.
fn taken_by_interfering(engine: &Engine, lock: Object) -> Option<Trail> {
    let open = engine.open.iter().rev();
    let mut open = open.map(|&open| engine.blocks[open as usize]);
    let first = engine.several.first();
    let is_own =
        |block: &super::Block| engine.line != Line::Interfering || block.acquire as usize >= first;
    let block = open.find(|block| block.held.lock == lock && is_own(block))?;
    Some(engine.interfering_trail[block.acquire as usize])
}

/// T waits for something that T', which has come to its end, does not do after T's latest event.
pub(super) fn waits_in_vain(engine: &mut Engine, message: &str, site: Site) {
    let end = engine.interfering.len();
    let message = message.to_owned();
    report(
        engine,
        BugKind::Deadlock,
        message,
        site.into(),
        None,
        Some(end),
    );
}

/// T waits for what T' does only with a lock that T holds: in this order T' comes to the taking of that lock.
pub(super) fn waits_for_kept(engine: &mut Engine, acquire: usize, order: Vec<Step>, site: Site) {
    let place: Place = engine.interfering_trail[acquire].site.into();
    let key = Key {
        kind: BugKind::Deadlock,
        place: place.clone(),
        other_place: Some(site.into()),
        said: String::new(),
        follows: Vec::new(),
        role: engine.role,
    };
    if engine.ledger.meet(&key, true) {
        return;
    }
    let draft = Draft {
        kind: BugKind::Deadlock,
        message: WAITS_FOR_IT.to_owned(),
        place,
        follows: Vec::new(),
        thread: engine.threads.current,
        done: engine.done,
    };
    if let Some(bug) = of_t_at(engine, draft, Some(site.into()), false, Where::At(acquire)) {
        let bug = Bug {
            interleaving: order,
            ..bug
        };
        engine.endings.suspect(&key, &[bug], true);
    }
}

/// The current thread is about to wait for something that can't happen.
pub(crate) fn blocked_for_ever(
    handle: Handle,
    kind: BugKind,
    message: &str,
    site: Site,
    other: Site,
) {
    let engine = handle.get();
    if engine.line == Line::Interfering {
        let events = engine.interfering.len();
        report_interfering(
            engine,
            kind,
            message.to_owned(),
            site.into(),
            Some(other.into()),
            events,
        );
    } else if engine.alone() || matches!(tau::feasible(engine), tau::Answer::Yes) {
        report(
            engine,
            kind,
            message.to_owned(),
            site.into(),
            Some(other.into()),
            None,
        );
    }
}

/// T' takes a lock that it holds itself, or that a thread before it on its line does.
pub(crate) fn interfering_self_deadlock(handle: Handle, lock: Object, site: Site) {
    let engine = handle.get();
    let taken = taken_by_interfering(engine, lock);
    let message = own_deadlock(engine, taken);
    let first = taken.map_or(site, |taken| taken.site);
    blocked_for_ever(handle, BugKind::Deadlock, message, site, first);
}

/// The current thread is at the end of a scope whose threads are over, and a handle of one was never dropped.
pub(crate) fn waits_for_handle(handle: Handle, site: Site) {
    if handle.get().quiet {
        return;
    }
    let message = "a scope waits for the handle of one of its threads, which nobody drops";
    blocked_for_ever(handle, BugKind::Deadlock, message, site, site);
    abort(handle, abort::Abort::Bug);
}

/// T is about to take a lock: can T' hold this lock, and wait for a lock that T holds, or never give this lock back?
pub(crate) fn find_deadlocks(handle: Handle, wanted: Held, site: Site) {
    let engine = handle.get();
    if !engine.all_reads_done() {
        return;
    }
    if engine.is_of_several() {
        several::find_deadlocks(engine, wanted, site);
        return;
    }
    if !engine.joined {
        find_crossing(engine, wanted, site);
        find_waiting_writer(engine, wanted, site);
    }
    find_holder_for_ever(engine, wanted, site);
}

/// T is about to take a lock: can T' hold this lock, and wait for a lock that T holds?
fn find_crossing(engine: &mut Engine, wanted: Held, site: Site) {
    if engine.held.is_empty() {
        return;
    }
    for at in engine.crossing_blocks(wanted) {
        let block = engine.blocks[at as usize];
        if engine.grid.reachable_at(block.acquire as usize) {
            let other = engine.interfering_trail[block.acquire as usize].site;
            let message = CROSSING.to_owned();
            report(
                engine,
                BugKind::Deadlock,
                message,
                site.into(),
                Some(other.into()),
                Some(block.acquire as usize),
            );
        }
    }
}

/// T is about to take a lock: can T' hold this lock, and never give it back?
fn find_holder_for_ever(engine: &mut Engine, wanted: Held, site: Site) {
    if engine.open.is_empty() {
        return;
    }
    let open = engine.open.iter().rev();
    let mut open = open.map(|&open| engine.blocks[open as usize]);
    let Some(holder) = open.find(|block| excludes(block.held, wanted)) else {
        return;
    };
    let end = engine.interfering.len();
    let taken = engine.interfering_trail[holder.acquire as usize];
    let (for_ever, other) = match engine.interfering_end {
        // The harness's own thread may have taken the lock where it was on the line of T', and goes on as T after the join.
        InterferingEnd::Complete if taken.thread == engine.threads.current => {
            (HOLDS_IT, taken.site)
        }
        InterferingEnd::Complete => (ENDED_WITH_IT, taken.site),
        // Since the join, locks that T' holds are T's.
        InterferingEnd::WaitsForUnderTest(..) if engine.joined => return,
        InterferingEnd::WaitsForUnderTest(thread, waits) if taken.thread == thread => {
            (WAITS_WITH_IT, waits)
        }
        // Another thread on the line of T' took it, which has ended.
        InterferingEnd::WaitsForUnderTest(..) => (ENDED_WITH_IT, taken.site),
        // T' waits for what T has not done, and does not do before it has the lock.
        InterferingEnd::Stopped if engine.interfering_waits_in_vain() => {
            let waits = engine.interfering_trail[end - 1].site;
            (WAITS_FOR_IT, waits)
        }
        InterferingEnd::Stopped => {
            let given_back = engine.gives_back_in_turns(wanted.lock);
            if !given_back && engine.leaves_interfering_waiting() {
                engine.note_left_waiting();
            }
            return;
        }
        InterferingEnd::Open => return,
    };
    if engine.grid.reachable_at(end) {
        report(
            engine,
            BugKind::Deadlock,
            for_ever.to_owned(),
            site.into(),
            Some(other.into()),
            Some(end),
        );
    }
}

/// T is about to take a lock: can one of the threads wait to read a second time, behind the other one, which waits to write
/// until the first read is over? Whether a read waits there is left open by std.
fn find_waiting_writer(engine: &mut Engine, wanted: Held, site: Site) {
    let same = |held: &Held, mode: LockMode| held.lock == wanted.lock && held.mode == mode;
    let reads_again = wanted.mode == LockMode::Shared
        && engine.held.iter().any(|held| same(held, LockMode::Shared));
    // Programs without read-write locks have neither case.
    if !reads_again && (wanted.mode == LockMode::Shared || !engine.interfering_shares) {
        return;
    }
    let blocks = match wanted.mode {
        LockMode::Shared => engine.writing_blocks(wanted.lock),
        LockMode::Exclusive => engine.rereading_blocks(wanted.lock),
    };
    for at in blocks {
        let block = engine.blocks[at as usize];
        if engine.grid.reachable_at(block.acquire as usize) {
            let other = engine.interfering_trail[block.acquire as usize].site;
            let message = "a thread waits to read a second time behind the other one, which waits to write until the first \
                           read is over"
                .to_owned();
            report(
                engine,
                BugKind::Deadlock,
                message,
                site.into(),
                Some(other.into()),
                Some(block.acquire as usize),
            );
        }
    }
}

/// T is about to wait for T' to end: can T' wait for a lock that T holds?
pub(crate) fn find_deadlock_at_join(handle: Handle, site: Site) {
    let engine = handle.get();
    if engine.held.is_empty() || !engine.all_reads_done() {
        return;
    }
    let joins = engine.trail(site, 0).thread;
    for (acquire, mine) in kept_from(engine) {
        let other = engine.interfering_trail[acquire].site;
        let (message, place, other_place) = match taken_by_under_test(engine, mine.lock) {
            // The thread that took the lock has ended, and a thread of T' is in the way of the join.
            Some(taken) if taken.thread != joins => (ENDED_WITH_IT, other, taken.site),
            _ => (
                "the thread waits for the other one to end, which waits for a lock that it holds",
                site,
                other,
            ),
        };
        report(
            engine,
            BugKind::Deadlock,
            message.to_owned(),
            place.into(),
            Some(other_place.into()),
            Some(acquire),
        );
    }
}

/// T has ended: can T' wait for a lock that T has not given back?
pub(crate) fn find_deadlock_at_end(handle: Handle) {
    let engine = handle.get();
    if engine.quiet || engine.held.is_empty() || engine.joined || !engine.all_reads_done() {
        return;
    }
    for (acquire, mine) in kept_from(engine) {
        let place = engine.interfering_trail[acquire].site;
        let taken = taken_by_under_test(engine, mine.lock).map_or(place, |taken| taken.site);
        report(
            engine,
            BugKind::Deadlock,
            ENDED_WITH_IT.to_owned(),
            place.into(),
            Some(taken.into()),
            Some(acquire),
        );
    }
}

/// The events at which T' may now wait for a lock that T holds, each with what T holds.
pub(super) fn kept_from(engine: &mut Engine) -> Vec<(usize, Held)> {
    let mut kept = Vec::new();
    for at in 0..engine.blocks.len() {
        let block = engine.blocks[at];
        let mut mine = engine.held.iter();
        let mine = mine.find(|mine| block.blocking && excludes(**mine, block.held));
        let acquire = block.acquire as usize;
        if let Some(&mine) = mine
            && engine.grid.reachable_at(acquire)
        {
            kept.push((acquire, mine));
        }
    }
    kept
}

/// T is about to access plain data: can T' be about to access the same data?
pub(crate) fn find_races(handle: Handle, object: Object, writes: bool, site: Site) {
    let engine = handle.get();
    if !engine.all_reads_done() || engine.joined {
        return;
    }
    for at in 0..engine.racy_accesses.len() {
        let event = engine.racy_accesses[at] as usize;
        let Some(&op) = engine.interfering.get(event) else {
            continue;
        };
        let same = op.reads() == Some(object) || op.writes() == Some(object);
        let conflicts = same && (writes || op.writes().is_some());
        if !conflicts {
            continue;
        }
        let other = engine.interfering_trail[event].site;
        if engine.ledger.meet_race(site, other, engine.role) {
            continue;
        }
        if engine.grid.reachable_at(event) {
            let mine = if writes { "writes" } else { "reads" };
            let theirs = if op.writes().is_some() {
                "writes"
            } else {
                "reads"
            };
            let message = format!(
                "one thread {mine} and the other one {theirs} the same plain data at the same time"
            );
            report(
                engine,
                BugKind::DataRace,
                message,
                site.into(),
                Some(other.into()),
                Some(event),
            );
            let key = Key {
                kind: BugKind::DataRace,
                place: site.into(),
                other_place: Some(other.into()),
                said: String::new(),
                follows: Vec::new(),
                role: engine.role,
            };
            engine.ledger.add_race(&key, site, other);
        }
    }
}

pub(super) fn excludes(a: Held, b: Held) -> bool {
    a.lock == b.lock && a.mode.excludes(b.mode)
}

/// Where interfering threads have to be at a bug of T.
#[derive(Clone, Copy, Debug)]
pub(super) enum Where<'c> {
    Anywhere,
    /// T' has done so many events; among several interfering threads, as [`Grid::reachable_at`](super::grid::Grid::reachable_at)
    /// says.
    At(usize),
    /// Each of these interfering threads has done so many events.
    Cuts(&'c [(usize, usize)]),
}

/// The interleaving up to its last event of T. Where T' need not be at a certain event, what T' does after T's last
/// event decides nothing.
fn up_to_decision(mut interleaving: Vec<Step>, cut: Where<'_>) -> Vec<Step> {
    if matches!(cut, Where::Anywhere) {
        let of_t = |step: &Step| matches!(step, Step::UnderTest(_));
        let decided = interleaving
            .iter()
            .rposition(of_t)
            .map_or(0, |last| last + 1);
        interleaving.truncate(decided);
    }
    interleaving
}

/// Writes a bug of T down, with the interleaving that shows it; `cut` says where T' has to be.
fn report(
    engine: &mut Engine,
    kind: BugKind,
    message: String,
    place: Place,
    other_place: Option<Place>,
    cut: Option<usize>,
) {
    let cut = cut.map_or(Where::Anywhere, Where::At);
    report_at(engine, kind, message, place, other_place, cut);
}

/// Writes a bug of T down, with the interleaving that shows it, where the interfering threads are as `cut` says.
pub(super) fn report_at(
    engine: &mut Engine,
    kind: BugKind,
    message: String,
    place: Place,
    other_place: Option<Place>,
    cut: Where<'_>,
) {
    let key = Key {
        kind,
        place: place.clone(),
        other_place: other_place.clone(),
        said: String::new(),
        follows: Vec::new(),
        role: engine.role,
    };
    if engine.ledger.meet(&key, true) {
        return;
    }
    let is_anywhere = matches!(cut, Where::Anywhere);
    let alone = engine.alone() && is_anywhere;
    let draft = Draft {
        kind,
        message,
        place,
        follows: Vec::new(),
        thread: engine.threads.current,
        done: engine.done,
    };
    if kind != BugKind::Deadlock {
        if let Some(bug) = of_t_at(engine, draft, other_place, alone, cut) {
            engine.ledger.add(&key, &bug, true);
        }
        return;
    }
    // Whether the harness waits for T may depend on how far T' has come.
    let end = engine.interfering.len();
    let later = is_anywhere && engine.line == Line::UnderTest && engine.grid.reachable_at(end);
    let first = of_t_at(engine, draft.clone(), other_place.clone(), alone, cut);
    let second = later.then(|| of_t_at(engine, draft, other_place, false, Where::At(end)));
    let ways: Vec<Bug> = first.into_iter().chain(second.flatten()).collect();
    if !ways.is_empty() {
        engine.endings.suspect(&key, &ways, true);
    }
}

/// A bug of T that is at the end of T's log.
pub(super) fn of_t(engine: &mut Engine, draft: Draft, alone: bool) -> Option<Bug> {
    of_t_at(engine, draft, None, alone, Where::Anywhere)
}

fn of_t_at(
    engine: &mut Engine,
    draft: Draft,
    other_place: Option<Place>,
    alone: bool,
    cut: Where<'_>,
) -> Option<Bug> {
    let interleaving = if alone {
        (0..)
            .map(Step::UnderTest)
            .take(engine.under_test().len())
            .collect()
    } else {
        let witness = match cut {
            Where::At(cut) => engine.grid.witness_at(cut),
            Where::Cuts(cuts) => engine.grid.witness_at_all(cuts),
            Where::Anywhere => engine.grid.witness(),
        };
        match witness {
            Some(witness) => up_to_decision(witness.0, cut),
            None => return None, // Not reachable: no bug.
        }
    };
    // What T' would do only as it goes on is not done: T' waits.
    let done = engine.events_before_vain_looks();
    let is_done = |step: &Step| !matches!(step, Step::Interfering(at) if *at as usize >= done);
    let interleaving: Vec<Step> = interleaving.into_iter().filter(is_done).collect();
    Some(Bug {
        kind: draft.kind,
        message: draft.message,
        place: draft.place,
        other_place,
        follows: draft.follows,
        role: engine.role,
        pairs: engine.pairs[..draft.done].to_vec(),
        threads: engine.party_infos(engine.under_test().len()),
        under_test: engine.under_test_events(),
        interfering: engine.interfering_events(),
        lines: engine.lines(),
        interleaving,
        thread: draft.thread,
        init_events: engine.init_events(),
        lineage: engine.threads.lineage(),
    })
}

/// Writes down a bug that T' has by itself: a bug of the other role at k = 0.
fn report_interfering(
    engine: &mut Engine,
    kind: BugKind,
    message: String,
    place: Place,
    other_place: Option<Place>,
    events: usize,
) {
    if engine.rounds.over() > 0 {
        // It may be due to what T has read in the rounds before.
        engine.interfering_fails_later = true;
        return;
    }
    if !engine.opening.is_empty() {
        // T holds locks from before T spawned T', so that T' may not come this far by itself. Where T' is the thread under
        // test, feasibility decides.
        return;
    }
    let number = engine.several.current();
    let role = engine.interfering_role(number);
    let key = Key {
        kind,
        place: place.clone(),
        other_place: other_place.clone(),
        said: String::new(),
        follows: Vec::new(),
        role,
    };
    if engine.ledger.meet(&key, false) {
        return;
    }
    let draft = Draft {
        kind,
        message,
        place,
        follows: Vec::new(),
        thread: engine.threads.current,
        done: 0,
    };
    let bug = Bug {
        other_place,
        ..of_t_prime(engine, draft, number, events)
    };
    if kind == BugKind::Deadlock {
        engine.endings.suspect(&key, &[bug], false);
    } else {
        engine.ledger.add(&key, &bug, false);
    }
}

/// A bug that T', the interfering thread with this number, has by itself when the log has so many events.
pub(super) fn of_t_prime(engine: &Engine, draft: Draft, number: usize, events: usize) -> Bug {
    let role = engine.interfering_role(number);
    let mut under_test = engine.interfering_events();
    under_test.truncate(events);
    under_test.drain(..engine.several.events(number, events).start);
    Bug {
        kind: draft.kind,
        message: draft.message,
        place: draft.place,
        other_place: None,
        follows: draft.follows,
        role,
        pairs: Vec::new(),
        threads: engine.party_infos(0),
        interleaving: (0..).map(Step::UnderTest).take(under_test.len()).collect(),
        under_test,
        interfering: Vec::new(),
        lines: Vec::new(),
        thread: draft.thread,
        init_events: engine.init_events(),
        lineage: engine.threads.lineage(),
    }
}

/// The same bug of T, which is at the end of T's log, beside all that T' does; `None` if T' can't do all of it before.
pub(super) fn beside_all_of_t_prime(engine: &mut Engine, bug: &Bug) -> Option<Bug> {
    let end = engine.interfering.len();
    let is_whole = engine.interfering_end == InterferingEnd::Complete;
    let witness = (is_whole && engine.grid.reachable_at(end)).then(|| engine.grid.witness_at(end));
    let interleaving = witness.flatten()?.0;
    Some(Bug {
        interleaving,
        ..bug.clone()
    })
}

/// An execution in which both threads have come to their ends.
pub(super) struct Whole {
    pairs: Vec<crate::vocabulary::Pair>,
    under_test: Vec<Event>,
    interfering: Vec<Event>,
    lines: Vec<(Role, u32)>,
    /// An order in which T' comes as far as it must, and one in which T' comes to its end.
    orders: [Option<Vec<Step>>; 2],
}

impl Whole {
    pub(super) fn of(engine: &mut Engine) -> Self {
        let end = engine.interfering.len();
        let early = engine.grid.witness();
        let late = engine
            .grid
            .reachable_at(end)
            .then(|| engine.grid.witness_at(end));
        Self {
            pairs: engine.pairs[..engine.done].to_vec(),
            orders: [early, late.flatten()].map(|witness| witness.map(|witness| witness.0)),
            under_test: engine.under_test_events(),
            interfering: engine.interfering_events(),
            lines: engine.lines(),
        }
    }

    /// A bug of T or of T' in the orders of the whole execution.
    pub(super) fn orders_of(&self, bug: &Bug, of_t: bool) -> Vec<Bug> {
        // As the thread under test, T' comes to its end, and the other one must see nothing of it.
        let orders = match of_t {
            true => &self.orders[..],
            // Which of several interfering threads it is of, the orders don't tell.
            false if self.lines.len() > 1 => &[],
            false if self.pairs.is_empty() => &self.orders[1..],
            false => &[],
        };
        let in_order = |order: &Vec<Step>| {
            let (under_test, interfering) = if of_t {
                (&self.under_test, &self.interfering)
            } else {
                (&self.interfering, &self.under_test)
            };
            let swapped = |step: &Step| match *step {
                Step::UnderTest(at) if !of_t => Step::Interfering(at),
                Step::Interfering(at) if !of_t => Step::UnderTest(at),
                step => step,
            };
            Bug {
                pairs: self.pairs.clone(),
                lines: self.lines.clone(),
                under_test: under_test.clone(),
                interfering: interfering.clone(),
                interleaving: order.iter().map(swapped).collect(),
                ..bug.clone()
            }
        };
        orders.iter().flatten().map(in_order).collect()
    }
}

impl Engine {
    pub(super) fn truncate_under_test(&mut self, events: usize) {
        self.under_test_trail.truncate(events);
        self.grid.truncate(events);
    }

    /// The threads that run side by side when T has made that many events, in the order of their creation.
    pub(super) fn party_infos(&self, events: usize) -> Vec<ThreadInfo> {
        let two = self.parties_at(events).filter(|_| !self.is_of_several());
        let two = two.map(|(first, second)| [first, second]);
        let parties = two.as_ref().map_or(self.several.parties(), |two| &two[..]);
        let info = |&thread: &threads::ThreadNo| {
            let thread: &threads::Thread = self.threads.get(thread);
            ThreadInfo {
                name: thread.name.as_deref().map(str::to_owned),
                spawned_at: thread.spawned_at.map(Place::from),
            }
        };
        parties.iter().map(info).collect()
    }

    /// The interfering threads by their roles, in the order of their logs, each with its number of events.
    fn lines(&self) -> Vec<(Role, u32)> {
        if self.is_of_several() {
            self.several.lengths()
        } else {
            vec![(
                self.interfering_role(0),
                super::number(self.interfering.len()),
            )]
        }
    }

    fn event(&self, event: TEvent, trail: Trail) -> Event {
        let event = self.for_reports(event);
        let object = event.op.reads().or(event.op.writes());
        let value = object.and_then(|object| {
            let kind = self.objects.get(object as usize)?.kind;
            let shown = !matches!(kind, ValueKind::Opaque) && !matches!(event.op, Op::TryFail(..));
            shown.then_some(Value {
                kind,
                bits: trail.value,
            })
        });
        Event {
            op: event.op,
            source: event.source,
            place: trail.site.into(),
            value,
            thread: (trail.thread != NONE).then_some(trail.thread),
            site: SiteMark(Some(trail.site)),
        }
    }

    fn under_test_events(&self) -> Vec<Event> {
        self.under_test()
            .iter()
            .zip(&self.under_test_trail)
            .map(|(&event, &trail)| self.event(event, trail))
            .collect()
    }

    fn interfering_events(&self) -> Vec<Event> {
        let events = self.interfering.iter().zip(&self.interfering_trail);
        events
            .map(|(&op, &trail)| self.event(TEvent::local(op), trail))
            .collect()
    }
}
