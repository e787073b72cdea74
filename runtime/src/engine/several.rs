//! More than two threads side by side: T and several interfering threads T'₁ … T'ₙ.
//!
//! Each interfering thread is sequential in itself, as T' is beside T alone: it reads its own writes, and what was there before
//! the threads began. So their runs depend on the inputs alone, and are made one after the other, each on a G' of its own:
//! an object's copy of one of them is given up when the next one first uses the object. Their logs stand one behind the
//! other in the log of T', with one number for each write of any of them, and k reads of T see writes of any of them.
//! [`Many`](crate::feasibility::Many) decides feasibility.
//!
//! A thread that waits for others, as main mostly does, goes on behind the first one that it waits for, on that one's line.
//! Where that is an interfering thread, and it waits for a second one, what it does after that would depend on both: it does
//! nothing more than to wait for T, or its log ends there and the search is not exhausted.
//!
//! All of them begin together: none is started while others run. Threads that only wait for each other to be started one after
//! the other are threads that begin together, since starting a thread is no event.

use super::threads::{self, ThreadNo};
use super::{
    Abort, Engine, Handle, Held, Inherited, InterferingEnd, Line, NONE, abort, bug, number, tau,
    unsupported,
};
use crate::log::{LockMode, Object, Op};
use crate::memory::Buffer;
use crate::vocabulary::{BugKind, Role, Site};

/// The most threads that run side by side.
const MOST: usize = 9;

/// An interfering thread whose run is over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prime {
    thread: ThreadNo,
    /// The index of its first event, and the index after its last one.
    first: usize,
    end: usize,
    pub(super) how: InterferingEnd,
    /// The interfering threads that its line has waited for, one bit each.
    waited_for: u16,
    is_joined: bool,
}

/// The threads that run side by side, where they are more than two.
#[derive(Debug, Default)]
pub(super) struct Several {
    /// In the order of their creation.
    parties: Buffer<ThreadNo>,
    /// The interfering threads whose runs are over, in the order of their logs.
    pub(super) primes: Buffer<Prime>,
    ends: Buffer<usize>,
    /// The interfering thread that runs, the index of its first event, and those that its line has waited for.
    current: ThreadNo,
    first: usize,
    waited_for: u16,
    /// Whether it is the last one to run: T's turn comes while it waits for T.
    is_last: bool,
    /// Whether one of them was cut where it goes on after it has waited for another one.
    pub(super) was_cut: bool,
    waits: bool,
}

impl Several {
    pub(super) fn clear(&mut self) {
        if !self.parties.is_empty() {
            self.parties.clear();
            self.primes.clear();
            self.ends.clear();
            self.first = 0;
            self.waited_for = 0;
            self.is_last = false;
            self.was_cut = false;
            self.waits = false;
        }
    }

    pub(super) fn parties(&self) -> &[ThreadNo] {
        &self.parties
    }

    /// The number of the interfering thread that runs, or that runs next.
    #[inline]
    pub(super) fn current(&self) -> usize {
        self.primes.len()
    }

    /// The index of the first event of the interfering thread that runs; 0 beside T alone.
    #[inline]
    pub(super) const fn first(&self) -> usize {
        self.first
    }

    fn role_of(&self, thread: ThreadNo) -> Role {
        let at = self.parties.iter().position(|&party| party == thread);
        Role(u8::try_from(at.unwrap_or_default()).unwrap_or_default())
    }

    /// The role in which the interfering thread with this number is the thread under test.
    pub(super) fn role(&self, number: usize) -> Role {
        let prime = self.primes.get(number).map(|prime| prime.thread);
        self.role_of(prime.unwrap_or(self.current))
    }

    /// The events of the interfering thread with this number, as indices, and where they would end if it is still running.
    pub(super) fn events(&self, number: usize, now: usize) -> std::ops::Range<usize> {
        match self.primes.get(number) {
            Some(prime) => prime.first..prime.end,
            None => self.first..now,
        }
    }

    /// The interfering threads by their roles, in the order of their logs, each with its number of events.
    pub(super) fn lengths(&self) -> Vec<(Role, u32)> {
        let primes = self.primes.iter();
        primes
            .map(|prime| (self.role_of(prime.thread), number(prime.end - prime.first)))
            .collect()
    }

    /// The number of the interfering thread that has made this event.
    pub(super) fn of_event(&self, event: usize) -> usize {
        self.primes.partition_point(|prime| prime.end <= event)
    }
}

/// What the current thread does when others begin to run side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Current {
    /// It is one of them.
    RunsToo,
    /// It waits for this one.
    WaitsFor(ThreadNo),
    /// It is over.
    IsOver,
}

impl Engine {
    /// Whether more than two threads run side by side.
    #[inline]
    pub(crate) const fn is_of_several(&self) -> bool {
        self.grid.is_of_several
    }

    /// Whether an interfering thread uses the object for the first time, so that the object's copy is another one's.
    pub(crate) fn takes_over(&mut self, object: Object) -> bool {
        if self.line != Line::Interfering {
            return false;
        }
        let current = number(self.several.current());
        let of = &mut self.objects[object as usize].copy_of;
        std::mem::replace(of, current) != current
    }

    /// Whether the current line has waited for another interfering thread, and must do nothing more.
    pub(super) fn is_behind_another(&self) -> bool {
        self.several.waited_for != 0 && self.line == Line::Interfering
    }
}

fn refuse(handle: Handle, what: &str, site: Option<Site>) {
    let message = format!("{what}, which the sequential program does not follow");
    unsupported(handle, message, site);
}

/// The program does what the sequential program does not follow where more than two threads run side by side.
#[cold]
pub(crate) fn refuse_beside_several(handle: Handle, what: &str, site: Option<Site>) {
    refuse(
        handle,
        &format!("{what} where more than two threads run side by side"),
        site,
    );
}

/// These threads, in the order of their creation, begin to run side by side. Runs those that interfere, and T as far as that can
/// be done here.
pub(super) fn run(handle: Handle, parties: &[ThreadNo], current: Current, site: Option<Site>) {
    let engine = handle.get();
    if !engine.limits.several {
        threads::too_many_at_once(handle, site, parties);
        return;
    }
    if parties.len() > MOST {
        refuse(handle, "more than nine threads run at once here", site);
        return;
    }
    if !engine.init_locks.is_empty() {
        let what = "a lock is held where more than two threads begin to run side by side";
        refuse(handle, what, site);
        return;
    }
    if !engine.solver.is_grid() {
        let what = "the solver that was chosen knows of two threads, and more than two run side by side here";
        unsupported(handle, what.to_owned(), site);
        return;
    }
    let role = engine.role.index().min(parties.len() - 1);
    engine.role = Role(u8::try_from(role).unwrap_or_default());
    engine.several.parties.extend_from_slice(parties);
    // The event that is about to happen has been counted already.
    let about_to = u32::from(current == Current::RunsToo);
    let before = engine.steps.saturating_sub(about_to);
    engine.events_before_split.get_or_insert(before);
    engine.steps = 0;
    engine.grid.is_of_several = true;
    // From here on, each use of an object has to ask whose copy it has.
    engine.first_of_round = Object::MAX;
    let under_test = parties[role];
    let me = engine.threads.current;
    let last = match current {
        Current::RunsToo => Some(me),
        Current::WaitsFor(thread) => Some(thread),
        Current::IsOver => parties.iter().rfind(|&&it| it != under_test).copied(),
    };
    threads::choose(handle, parties, under_test);
    for &thread in parties {
        if thread != under_test && Some(thread) != last {
            handle.get().several.current = thread;
            threads::run_interfering(handle, thread);
            end_one(handle, InterferingEnd::Complete);
        }
    }
    let engine = handle.get();
    let Some(last) = last.filter(|&last| last != under_test) else {
        // No other thread is left but T.
        close(handle);
        if under_test != me {
            threads::run_waiting_under_test(handle);
        }
        return;
    };
    engine.several.is_last = true;
    engine.several.current = last;
    if last == me {
        engine.line = Line::Interfering;
        return;
    }
    threads::run_interfering(handle, last);
    threads::go_on_behind(handle, current != Current::IsOver);
}

/// The run of an interfering thread is over.
pub(super) fn end_one(handle: Handle, how: InterferingEnd) {
    let engine = handle.get();
    if engine.interfering_end == InterferingEnd::Open {
        engine.interfering_end = how;
    }
    let several = &mut engine.several;
    let end = engine.interfering.len();
    several.primes.push(Prime {
        thread: several.current,
        first: several.first,
        end,
        how: engine.interfering_end,
        waited_for: several.waited_for,
        is_joined: false,
    });
    several.ends.push(end);
    several.first = end;
    several.waited_for = 0;
    several.waits |= engine.interfering_waits;
    engine.interfering_end = InterferingEnd::Open;
    engine.interfering_waits = false;
    engine.spin.begin_round();
}

/// The runs of all interfering threads are over: T's turn has come.
pub(super) fn close(handle: Handle) {
    let engine = handle.get();
    let all = &engine.several.primes;
    let stopped = all.iter().any(|it| it.how == InterferingEnd::Stopped);
    engine.interfering_end = if stopped {
        InterferingEnd::Stopped
    } else {
        InterferingEnd::Complete
    };
    engine.interfering_waits = engine.several.waits;
    let begun = engine
        .grid
        .begin_several(&engine.interfering, &engine.several.ends);
    engine.steps = 0;
    engine.spin.progress();
    engine.line = Line::UnderTest;
    match begun {
        Some(other) => engine.log_changed = other,
        None => abort::unknown(handle, TOO_MUCH.to_owned()),
    }
}

pub(super) const TOO_MUCH: &str =
    "the threads that run side by side do so much that their interleavings can't be told apart";

/// The current line waits for an interfering thread that has come to its end.
pub(super) fn wait_for_another(handle: Handle, thread: ThreadNo) {
    let engine = handle.get();
    let primes = engine.several.primes.iter();
    let mut others = primes.enumerate().filter(|(_, it)| it.thread == thread);
    if let Some((number, _)) = others.next() {
        engine.several.waited_for |= 1 << number;
        engine.attention = true;
    }
}

/// The current line goes on after it has waited for another interfering thread, or waits for one that has not run.
pub(super) fn stop_behind_another(handle: Handle) {
    handle.get().several.was_cut = true;
    abort(handle, Abort::Stuck);
}

/// Whether T's turn has come if the current line waits for T.
pub(super) fn is_last(engine: &Engine) -> bool {
    !engine.is_of_several() || engine.several.is_last
}

/// T has joined an interfering thread, or a thread on its line: from here on all of that line is in the past.
pub(super) fn join(handle: Handle, thread: ThreadNo, site: Site) {
    let engine = handle.get();
    let mut primes = engine.several.primes.iter();
    if let Some(number) = primes.position(|it| it.thread == thread) {
        join_line(handle, number, site);
    }
}

/// T goes on behind the last line, which has waited for T.
pub(super) fn join_last(handle: Handle, site: Site) {
    let last = handle.get().several.primes.len() - 1;
    join_line(handle, last, site);
}

fn join_line(handle: Handle, number: usize, site: Site) {
    let engine = handle.get();
    let prime = engine.several.primes[number];
    if prime.is_joined {
        return;
    }
    find_deadlock_at_join(engine, number, site);
    if prime.how == InterferingEnd::Stopped {
        abort(handle, Abort::Stuck);
        return;
    }
    engine.several.primes[number].is_joined = true;
    engine.tied = true;
    engine.comes_after_interfering();
    let line = u32::try_from(number).unwrap_or(NONE);
    tau::push(engine, Op::Join, Some(line), site, 0);
    for other in 0..number {
        if prime.waited_for & 1 << other != 0 {
            join_line(handle, other, site);
            if handle.get().abort.is_some() {
                return;
            }
        }
    }
    let engine = handle.get();
    engine.joined = engine.several.primes.iter().all(|it| it.is_joined);
    if matches!(prime.how, InterferingEnd::WaitsForUnderTest(..)) {
        for at in 0..engine.open.len() {
            let block = engine.blocks[engine.open[at] as usize];
            if engine.several.of_event(block.acquire as usize) != number {
                continue;
            }
            if !engine.joined {
                let what = "a lock is kept while one thread is joined and others run";
                refuse(handle, what, Some(site));
                return;
            }
            let held = block.held;
            engine.held.push(held);
            engine.inherited.push(Inherited { held, alive: true });
        }
    }
    tau::require_feasible(handle);
}

/// What an interfering thread is about to wait for, at one of its events.
#[derive(Clone, Copy, Debug)]
struct Wait {
    number: usize,
    /// The index of the event.
    event: usize,
    wanted: Held,
}

/// Threads that wait for each other's locks: where each interfering thread of them is, by its number of events.
type Cuts = Vec<(usize, usize)>;

impl Engine {
    /// Where interfering threads wait for locks. Those that T has joined wait for none.
    fn waits(&self) -> Vec<Wait> {
        let waits = self.blocks.iter().filter(|block| block.blocking);
        let waits = waits.map(|block| Wait {
            number: self.several.of_event(block.acquire as usize),
            event: block.acquire as usize,
            wanted: block.held,
        });
        waits
            .filter(|wait| !self.several.primes[wait.number].is_joined)
            .collect()
    }

    fn cut(&self, wait: &Wait) -> (usize, usize) {
        (
            wait.number,
            wait.event - self.several.primes[wait.number].first,
        )
    }

    /// Whether this interfering thread, once it has done all events before this one, holds a lock that excludes the wanted one.
    fn holds_at(&self, number: usize, event: usize, wanted: Held) -> bool {
        let mut blocks = self.blocks.iter();
        blocks.any(|block| {
            let acquire = block.acquire as usize;
            self.several.of_event(acquire) == number
                && acquire < event
                && (block.release == NONE || block.release as usize >= event)
                && bug::excludes(block.held, wanted)
        })
    }

    /// Looks for ways in which the wanted lock is not given back as long as T keeps its locks: T waits in a circle then, or
    /// for a thread that is over. `found` is called with where the threads are, and with where the last one of them waits or
    /// has taken the lock, and tells whether to look on.
    fn chase(&mut self, wanted: Held, waits: &[Wait], cuts: &mut Cuts, found: &mut Found<'_>) {
        let held = self.held.iter().any(|&mine| bug::excludes(mine, wanted));
        if held && !cuts.is_empty() {
            found(self, cuts, Way::Circle);
        }
        for number in 0..self.several.primes.len() {
            if cuts.iter().any(|&(known, _)| known == number) {
                continue;
            }
            for wait in waits.iter().filter(|wait| wait.number == number) {
                // A reader also waits behind a writer that waits.
                let queues = wanted.mode == LockMode::Shared
                    && wait.wanted
                        == Held {
                            mode: LockMode::Exclusive,
                            ..wanted
                        };
                if queues || self.holds_at(number, wait.event, wanted) {
                    cuts.push(self.cut(wait));
                    self.chase(wait.wanted, waits, cuts, found);
                    cuts.pop();
                }
            }
            let prime = self.several.primes[number];
            let is_over = match prime.how {
                InterferingEnd::Complete => true,
                InterferingEnd::WaitsForUnderTest(..) => !self.joined,
                InterferingEnd::Stopped | InterferingEnd::Open => false,
            };
            if is_over && self.holds_at(number, prime.end, wanted) {
                cuts.push((number, prime.end - prime.first));
                found(self, cuts, Way::Over(number));
                cuts.pop();
            }
        }
    }
}

/// Called with where threads are that wait for each other, and with why the last one of them waits.
type Found<'f> = dyn FnMut(&mut Engine, &[(usize, usize)], Way) + 'f;

/// Why a lock is not given back.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// T holds a lock that is waited for.
    Circle,
    /// The interfering thread with this number is over, or waits for T.
    Over(usize),
}

const CIRCLE: &str = "threads wait in a circle for locks that the next one of them holds";

/// T is about to take a lock: can it wait for ever?
pub(super) fn find_deadlocks(engine: &mut Engine, wanted: Held, site: Site) {
    if engine.blocks.is_empty() {
        return;
    }
    let waits = engine.waits();
    engine.chase(wanted, &waits, &mut Vec::new(), &mut |engine, cuts, way| {
        if !engine.grid.reachable_at_all(cuts) {
            return;
        }
        let place = |engine: &Engine, (number, done): (usize, usize)| {
            let event = engine.several.primes[number].first + done;
            engine.interfering_trail[event].site
        };
        let (message, other) = match way {
            Way::Circle if cuts.len() == 1 => (bug::CROSSING, place(engine, cuts[0])),
            Way::Circle => (CIRCLE, place(engine, cuts[0])),
            Way::Over(number) => over(engine, number, wanted, site),
        };
        let message = message.to_owned();
        bug::report_at(
            engine,
            BugKind::Deadlock,
            message,
            site.into(),
            Some(other.into()),
            bug::Where::Cuts(cuts),
        );
    });
}

/// What a lock that this interfering thread keeps is told to be, and the place.
fn over(engine: &Engine, number: usize, wanted: Held, site: Site) -> (&'static str, Site) {
    let mut open = engine.open.iter().rev();
    let taken = open.find_map(|&open| {
        let block = engine.blocks[open as usize];
        let is_it = engine.several.of_event(block.acquire as usize) == number
            && bug::excludes(block.held, wanted);
        is_it.then(|| engine.interfering_trail[block.acquire as usize])
    });
    match (engine.several.primes[number].how, taken) {
        (InterferingEnd::WaitsForUnderTest(thread, waits), Some(taken))
            if taken.thread == thread =>
        {
            (bug::WAITS_WITH_IT, waits)
        }
        (_, taken) => (bug::ENDED_WITH_IT, taken.map_or(site, |taken| taken.site)),
    }
}

/// T is about to wait for an interfering thread to end: can that one wait for ever, as long as T keeps its locks?
fn find_deadlock_at_join(engine: &mut Engine, number: usize, site: Site) {
    if engine.held.is_empty() || !engine.all_reads_done() {
        return;
    }
    let waits = engine.waits();
    for wait in waits.iter().filter(|wait| wait.number == number) {
        let mut cuts = vec![engine.cut(wait)];
        let other = engine.interfering_trail[wait.event].site;
        engine.chase(wait.wanted, &waits, &mut cuts, &mut |engine, cuts, way| {
            if matches!(way, Way::Circle) && engine.grid.reachable_at_all(cuts) {
                let message = if cuts.len() == 1 {
                    "the thread waits for the other one to end, which waits for a lock that it holds"
                } else {
                    CIRCLE
                };
                bug::report_at(
                    engine,
                    BugKind::Deadlock,
                    message.to_owned(),
                    site.into(),
                    Some(other.into()),
                    bug::Where::Cuts(cuts),
                );
            }
        });
    }
}
