//! Following the interleaving of a finding of P̂ₖ on the original program.
//!
//! A finding of P̂ₖ comes with an order of the events of both threads. Here the original program runs under a scheduler
//! that keeps exactly this order, and the finding is confirmed if the bug is there at its end. A difference is told
//! with its place; no other thread is ever run instead.

use std::collections::HashMap;

use seqz_explore::{Event, Executor, Kind, Pending, Pick, Scheduler, Thread, View};

use super::behind_writers::WRITERS_FIRST;
use super::events::OF_COUNT;
use super::events::site_number;
use super::loops::Idle;
use super::machine::{Machine, Settings};
use crate::feasibility::Step;
use crate::finding::{self, Answer, Bug};
use crate::input::Random;
use crate::log::{LockMode, Object, Op};
use crate::vocabulary::{BugKind, Confirmation, FailureKind, Lineage, Place, Scheduled};

/// An event of the interleaving that is still to come.
#[derive(Clone, Copy, Debug)]
struct Expected {
    thread: u32,
    op: Op,
    site: u32,
    /// Whether this may be the write of what is borrowed exclusively together with its lock: on the machine it is one with
    /// the read before it.
    settles: bool,
}

/// A scheduler that keeps to the interleaving.
struct Follow {
    lineage: Vec<Lineage>,
    /// The program's thread for each of the finding's threads.
    threads: Vec<Option<Thread>>,
    /// The number of threads that each thread has created.
    created: HashMap<Thread, u32>,
    /// The number of events that the harness makes alone before the interleaving begins.
    before: u32,
    /// The scheduling points of the interleaving, in order.
    expected: Vec<Expected>,
    /// The index of the next event in `expected`.
    at: usize,
    /// A sentence on where program and interleaving part, once they have.
    difference: Option<String>,
    /// The thread that fails, by its number in the finding.
    culprit: u32,
    /// Whether the bug is that both threads wait: then readers wait behind writers that wait.
    is_deadlock: bool,
    /// Whether locks are kept over the join: see [`kept_locks`].
    keeps_locks: bool,
    /// Whether the operation that has just been let run is an attempt to take a lock that P̂ₖ does not log: the attempt
    /// must fail.
    must_fail: bool,
    /// The site of the last event of the thread that fails.
    last_site: Option<u32>,
    /// How often that thread may still look whether it can go on: it may have been woken for nothing.
    looks: u32,
    /// The threads that could run at the interleaving's end.
    enabled_at_end: Vec<Thread>,
    onwards: Onwards,
    random: Random,
}

/// How the program is run on where the interleaving has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Onwards {
    /// The program is not run on: the bug is that something can be done then, or can't.
    Nowhere,
    /// The threads take turns.
    InTurn,
    /// Always the first thread that can run.
    First,
    /// Always the last thread that can run.
    Last,
    /// A random thread; the numbers come from this seed.
    Random(u64),
}

/// The ways that are tried. What comes of a bug may depend on the way: a harness may handle a panic in one and not in
/// another.
const ONWARDS: [Onwards; 8] = [
    Onwards::InTurn,
    Onwards::First,
    Onwards::Last,
    Onwards::Random(1),
    Onwards::Random(2),
    Onwards::Random(3),
    Onwards::Random(4),
    Onwards::Random(5),
];

/// How often a thread that waits for ever may be woken for nothing, and look: two events each time.
const LOOKS: u32 = 8;

/// Follows the interleaving of `bug` on `program`, and says whether the bug is there.
#[must_use]
pub fn confirm(bug: &Bug, program: &dyn Fn()) -> Confirmation {
    let Some(expected) = expected(bug) else {
        return Confirmation::NotTried;
    };
    let ways: &[Onwards] = match bug.kind {
        BugKind::Deadlock | BugKind::DataRace => &[Onwards::Nowhere],
        _ => &ONWARDS,
    };
    let mut absent = None;
    for &onwards in ways {
        let (machine, follow) = follow(bug, program, &expected, onwards);
        let schedule = schedule(&machine);
        if let Some(difference) = follow.difference {
            return Confirmation::Diverged {
                difference,
                schedule,
            };
        }
        if is_there(bug, &machine, &follow) {
            return Confirmation::Confirmed(schedule);
        }
        absent.get_or_insert(schedule);
    }
    absent.map_or(Confirmation::NotTried, Confirmation::Absent)
}

/// What the original program makes of a panic or a deadlock that can be reached; `None` if the program goes on as if
/// nothing had been.
#[must_use]
pub(crate) fn judge(bug: &Bug, program: &dyn Fn()) -> Option<Answer> {
    let expected = expected(bug)?;
    let mut best = None;
    for onwards in ONWARDS {
        let (machine, follow) = follow(bug, program, &expected, onwards);
        if follow.difference.is_some() {
            // `confirm` reports the difference.
            return Some(Answer::failure(bug.kind));
        }
        if bug.kind == BugKind::Deadlock {
            // The threads that wait do so in any case: the question is whether the harness ends without them.
            if machine.harness_is_over() {
                continue;
            }
            return Some(Answer::failure(bug.kind));
        }
        for failure in machine.failures() {
            let kind = match failure.kind {
                FailureKind::Panic => BugKind::Panic,
                FailureKind::Detached => BugKind::Detached,
                _ => continue,
            };
            if failure.place.as_ref() != Some(&bug.place) {
                continue;
            }
            let answer = Answer {
                kind,
                bystander: failure.bystander,
                follows: failure.follows.clone(),
            };
            if !failure.bystander {
                return Some(answer);
            }
            best = Some(answer);
        }
    }
    best
}

/// Runs the program in the order of the interleaving, and then on.
fn follow<'p>(
    bug: &Bug,
    program: &'p dyn Fn(),
    expected: &[Expected],
    onwards: Onwards,
) -> (Machine<'p>, Follow) {
    let mut follow = Follow {
        lineage: bug.lineage.clone(),
        threads: vec![Some(0)],
        created: HashMap::new(),
        before: bug.init_events,
        expected: expected.to_vec(),
        at: 0,
        difference: None,
        culprit: bug.thread,
        is_deadlock: bug.kind == BugKind::Deadlock,
        keeps_locks: !kept_locks(bug).is_empty(),
        must_fail: false,
        last_site: expected
            .iter()
            .rfind(|event| event.thread == bug.thread)
            .map(|event| event.site),
        looks: LOOKS,
        enabled_at_end: Vec::new(),
        onwards,
        random: Random::new(match onwards {
            Onwards::Random(seed) => seed,
            _ => 0,
        }),
    };
    follow.threads.resize(bug.lineage.len() + 1, None);
    let known = bug.init_events as usize + bug.under_test.len() + bug.interfering.len();
    let settings = Settings {
        steps: Settings::room_for(known),
        idle: Idle::GoesOn,
        ..Settings::default()
    };
    let mut machine = Machine::new(program, settings);
    machine.run(&mut follow);
    (machine, follow)
}

/// The schedule of the machine's latest execution, as it is written down.
#[must_use]
pub fn schedule(machine: &Machine<'_>) -> Vec<Scheduled> {
    let trace = machine.trace().iter().enumerate();
    trace
        .map(|(number, traced)| Scheduled {
            thread: u32::from(traced.event.thread),
            action: traced.event.kind.plain(),
            object: traced.event.object,
            place: traced.site.map(Place::from),
            saw: machine.saw(number),
        })
        .collect()
}

/// The events of the interleaving that are scheduling points: the read of a guard belongs to the taking of its lock, and
/// the write to the giving back.
fn expected(bug: &Bug) -> Option<Vec<Expected>> {
    let kept = kept_locks(bug);
    let mut joined = false;
    let mut all = Vec::new();
    // For T and each T': the lock of the operation that it is in, and whether an event stands for the operation already.
    let mut operations: Vec<Option<(Object, bool)>> = vec![None; bug.lines.len() + 1];
    for step in &bug.interleaving {
        let (events, at) = match step {
            Step::UnderTest(at) => (&bug.under_test, *at as usize),
            Step::Interfering(at) => (&bug.interfering, *at as usize),
        };
        let event = events.get(at)?;
        let operation = operations.get_mut(line(bug, step))?;
        let Some(thread) = event.thread else {
            match event.op {
                Op::Acquire(lock, _) if is_operation(events, at, lock) => {
                    *operation = Some((lock, false))
                }
                Op::Release(lock, _) if operation.is_some_and(|(of, _)| of == lock) => {
                    *operation = None
                }
                _ => {}
            }
            continue;
        };
        if let Some((_, has_event)) = operation
            && std::mem::replace(has_event, true)
        {
            continue;
        }
        let own = |event: &&finding::Event| event.thread == Some(thread);
        let before = at
            .checked_sub(1)
            .and_then(|before| events.get(before))
            .filter(own);
        let after = events.get(at + 1).filter(own);
        match event.op {
            Op::Join => {
                joined = true;
                continue;
            }
            Op::Read(x) if matches!(before.map(|event| event.op), Some(Op::Acquire(l, _)) if l == x) =>
            {
                continue;
            }
            Op::Write(x) if matches!(after.map(|event| event.op), Some(Op::Release(l, _)) if l == x) =>
            {
                continue;
            }
            Op::Read(x) | Op::Write(x) if joined && kept.contains(&x) => continue,
            _ => {}
        }
        let site = site_number(event.site.0?);
        let settles = matches!((event.op, before), (Op::Write(x), Some(before))
            if before.op == Op::Read(x) && before.site == event.site);
        all.push(Expected {
            thread,
            op: event.op,
            site,
            settles,
        });
    }
    Some(all)
}

/// The thread that makes the step: 0 for T, and from 1 on for those that interfere.
fn line(bug: &Bug, step: &Step) -> usize {
    let Step::Interfering(at) = step else {
        return 0;
    };
    let mut end = 0;
    let mut lines = bug.lines.iter();
    let line = lines.position(|(_, events)| {
        end += events;
        *at < end
    });
    line.map_or(1, |line| line + 1)
}

/// Whether the taking of a lock at this index, which is no event of the program, begins an operation that is one step: then
/// the next giving back of that lock is none, either.
fn is_operation(events: &[finding::Event], at: usize, lock: Object) -> bool {
    let mut later = events[at + 1..].iter();
    let end = later.find(|event| matches!(event.op, Op::Release(of, _) if of == lock));
    end.is_some_and(|event| event.thread.is_none())
}

fn fits(op: Op, kind: Kind) -> bool {
    use Kind::{
        CompareExchange, Lock, LockShared, Notify, Read, TryLock, TryLockShared, Unlock,
        UnlockShared, Update, Wait, Wake, Write,
    };
    match op {
        // An update that leaves the value as it found it is logged as a read.
        // A wait that has to be notified reads that it was.
        Op::Read(_) => matches!(kind, Read | CompareExchange | Update | Wait | Wake | Notify),
        // Entering a queue, and notifying those who are in one, are writes.
        Op::Write(_) => matches!(kind, Write | Wait | Notify),
        // Coming to a barrier, and using up what a thread was unparked for.
        Op::Update(_) => matches!(kind, Update | CompareExchange | Wait | Wake),
        Op::Acquire(_, LockMode::Exclusive) => matches!(kind, Lock | TryLock),
        Op::Acquire(_, LockMode::Shared) => matches!(kind, LockShared | TryLockShared),
        Op::Release(_, LockMode::Exclusive) => kind == Unlock,
        Op::Release(_, LockMode::Shared) => kind == UnlockShared,
        Op::TryFail(_, LockMode::Exclusive) => kind == TryLock,
        Op::TryFail(_, LockMode::Shared) => kind == TryLockShared,
        Op::Join => false,
    }
}

/// Creating and joining threads is no event of P̂ₖ: it is done as soon as it can be. So are making and dropping handles of
/// shared values, and looking at how many there are: P̂ₖ only answers where that is the same in each interleaving. So are telling
/// others that an initialization is over, which P̂ₖ logs as the write of its state, and a scope's wait for a handle that
/// nobody drops.
fn is_free(pending: &Pending) -> bool {
    let is_unlogged = matches!(
        pending.kind,
        Kind::Read | Kind::Update | Kind::Notify | Kind::Wait
    ) && pending.expected == OF_COUNT;
    is_unlogged
        || matches!(
            pending.kind,
            Kind::Add
                | Kind::Take
                | Kind::Upgrade
                | Kind::Fork
                | Kind::Join
                | Kind::Local
                | Kind::Fence
        )
}

/// The locks that T' takes and never gives back in its log: main, on the line of T', keeps them over the join. What T
/// does with these locks after the join concerns no other thread, and is not logged.
fn kept_locks(bug: &Bug) -> Vec<Object> {
    let mut kept = Vec::new();
    for event in &bug.interfering {
        match event.op {
            Op::Acquire(lock, _) => kept.push(lock),
            Op::Release(lock, _) => {
                if let Some(at) = kept.iter().rposition(|held| *held == lock) {
                    kept.remove(at);
                }
            }
            _ => {}
        }
    }
    kept
}

impl Follow {
    /// The thread that fails.
    fn culprit(&self) -> Option<Thread> {
        self.threads.get(self.culprit as usize).copied().flatten()
    }

    /// The thread to run where the interleaving has ended.
    fn go_on(&mut self, view: &View<'_>) -> Option<Thread> {
        match self.onwards {
            Onwards::Nowhere => None,
            Onwards::InTurn => {
                let last = view.last.unwrap_or(0);
                let next = view.enabled.iter().find(|&thread| thread > last);
                next.or_else(|| view.enabled.first())
            }
            Onwards::First => view.enabled.first(),
            Onwards::Last => view.enabled.iter().last(),
            Onwards::Random(_) => {
                let at = self.random.below(u64::from(view.enabled.len())) as usize;
                view.enabled.iter().nth(at)
            }
        }
    }

    /// Whether this may be an operation that P̂ₖ does without logging it: unwrapping a shared value, trying to take a
    /// lock that is held for certain, or using a lock that main kept over the join.
    const fn is_unlogged(&mut self, pending: &Pending) -> bool {
        match pending.kind {
            Kind::TryLock | Kind::TryLockShared => {
                self.must_fail = true;
                true
            }
            Kind::Lock | Kind::LockShared | Kind::Unlock | Kind::UnlockShared => self.keeps_locks,
            // The operation may be about a count.
            Kind::CompareExchange => pending.expected == 1,
            _ => false,
        }
    }

    /// Goes on to what is expected after a write that is one with the read before it. `about_to` says what a thread that
    /// is not over is about to do, and where.
    fn leave_out_settled(&mut self, about_to: impl Fn(Thread) -> Option<(Kind, u32)>) {
        let Some(next) = self.expected.get(self.at).filter(|next| next.settles) else {
            return;
        };
        let thread = self.threads.get(next.thread as usize).copied().flatten();
        let pending = thread.and_then(about_to);
        let is_event = pending.is_some_and(|(kind, site)| fits(next.op, kind) && site == next.site);
        self.at += usize::from(!is_event);
    }

    /// Whether the thread that is said to wait for ever has been woken, and looks once more whether it can go on.
    fn is_woken(&mut self, pending: &Pending) -> bool {
        let at_first = self.looks == LOOKS;
        let looks = self.is_deadlock
            && self.onwards == Onwards::Nowhere
            && self.last_site == Some(pending.site)
            && (!at_first || matches!(pending.kind, Kind::Wake | Kind::Wait));
        if !looks || self.looks == 0 {
            return false;
        }
        self.looks -= 1;
        true
    }

    fn differs(&mut self, difference: String) -> Pick {
        self.difference = Some(difference);
        Pick::Abandon
    }
}

impl Scheduler for Follow {
    fn pick(&mut self, view: &View<'_>) -> Pick {
        self.leave_out_settled(|thread| {
            let pending = view.of(thread);
            view.live
                .contains(thread)
                .then_some((pending.kind, pending.site))
        });
        let is_over = self.before == 0 && self.at == self.expected.len();
        let waits = !is_over || self.onwards == Onwards::Nowhere;
        let mut free = view.enabled.iter().filter(|_| waits);
        if let Some(free) = free.find(|&thread| is_free(view.of(thread))) {
            return Pick::Run(free);
        }
        if self.difference.is_some() {
            return Pick::Abandon;
        }
        if self.before > 0 {
            self.before -= 1;
            return view.enabled.first().map_or(Pick::Abandon, Pick::Run);
        }
        let Some(&next) = self.expected.get(self.at) else {
            let culprit = self.culprit();
            if let Some(thread) = culprit.filter(|&thread| view.enabled.contains(thread))
                && self.is_unlogged(view.of(thread))
            {
                // Where the program runs on, it may take any lock.
                self.must_fail &= self.onwards == Onwards::Nowhere;
                return Pick::Run(thread);
            }
            if let Some(thread) = culprit.filter(|&thread| view.enabled.contains(thread))
                && self.is_woken(view.of(thread))
            {
                return Pick::Run(thread);
            }
            if let Some(thread) = self.go_on(view) {
                return Pick::Run(thread);
            }
            self.enabled_at_end = view.enabled.iter().collect();
            return Pick::Abandon;
        };
        let Some(thread) = self.threads.get(next.thread as usize).copied().flatten() else {
            return self.differs(format!(
                "event {}: thread {} does not exist",
                self.at, next.thread
            ));
        };
        if !view.live.contains(thread) {
            return self.differs(format!("event {}: thread {thread} is over", self.at));
        }
        let pending = view.of(thread);
        if !fits(next.op, pending.kind) || next.site != pending.site {
            if view.enabled.contains(thread) && self.is_unlogged(pending) {
                return Pick::Run(thread);
            }
            let kind = pending.kind;
            return self.differs(format!(
                "event {}: thread {thread} is about to do {kind:?}, not {:?}",
                self.at, next.op
            ));
        }
        if !view.enabled.contains(thread) {
            return self.differs(format!(
                "event {}: thread {thread} can't do {:?} yet",
                self.at, next.op
            ));
        }
        self.at += 1;
        Pick::Run(thread)
    }

    fn ran(&mut self, event: &Event) {
        if self.is_deadlock && self.at == self.expected.len() {
            WRITERS_FIRST.set(true);
        }
        let failed = matches!(event.kind, Kind::TryLockFailed | Kind::TryLockSharedFailed);
        if std::mem::take(&mut self.must_fail) && !failed {
            self.difference = Some(format!(
                "event {}: thread {} takes a lock",
                self.at, event.thread
            ));
        }
        if event.kind != Kind::Fork {
            return;
        }
        let before = self.created.entry(event.thread).or_default();
        let this = *before;
        *before += 1;
        let creator = self
            .threads
            .iter()
            .position(|thread| *thread == Some(event.thread));
        let known = self
            .lineage
            .iter()
            .position(|&(parent, at)| Some(parent as usize) == creator && at == this);
        if let Some(known) = known {
            self.threads[known + 1] = u8::try_from(event.object).ok();
        }
    }

    fn blocked(&mut self, _view: &View<'_>) {
        self.enabled_at_end.clear();
        self.leave_out_settled(|_| None);
        if self.at < self.expected.len() {
            self.difference = Some(format!("event {}: no thread can go on", self.at));
        }
    }
}

fn is_there(bug: &Bug, machine: &Machine<'_>, follow: &Follow) -> bool {
    let announced = machine.announced();
    let about_to = |place: &Place, waits: bool| {
        announced.iter().enumerate().any(|(thread, announced)| {
            let can_run = follow
                .enabled_at_end
                .iter()
                .any(|&enabled| usize::from(enabled) == thread);
            announced
                .as_ref()
                .is_some_and(|(_, at)| at.as_ref() == Some(place))
                && can_run != waits
        })
    };
    let fails = |kind| {
        let mut failures = machine.failures().iter();
        failures.any(|failure| failure.kind == kind && failure.place.as_ref() == Some(&bug.place))
    };
    match bug.kind {
        BugKind::Panic => fails(FailureKind::Panic),
        BugKind::Detached => fails(FailureKind::Detached),
        BugKind::Exit => fails(FailureKind::Exit),
        BugKind::Abort => fails(FailureKind::Abort),
        BugKind::Result => machine
            .failures()
            .iter()
            .any(|failure| failure.kind == FailureKind::Result && failure.message == bug.message),
        // The other place is that at which the other thread waits, or at which it took the lock that it never gives
        // back.
        BugKind::Deadlock => about_to(&bug.place, true),
        BugKind::DataRace => {
            about_to(&bug.place, false)
                && bug
                    .other_place
                    .as_ref()
                    .is_some_and(|other| about_to(other, false))
        }
    }
}
