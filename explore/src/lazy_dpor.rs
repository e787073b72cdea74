//! `lazy-dpor`: dynamic partial-order reduction that leaves the order of critical sections open where no thread can tell.
//!
//! Source: *The Lazy Happens-Before Relation* (Thomson and Donaldson), section 4, names this reduction as future work, and
//! the obstacle: not every linearization of a lazy relation can be executed. The way around the obstacle is seqz's own.
//! The frame is that of [`Dpor`](crate::Dpor), sleep sets included, in which an execution that is asleep has an equivalent
//! execution that is not.
//!
//! [`Dpor`](crate::Dpor) always reverses the order of two sections of one lock. `lazy-dpor` reverses the order only for
//! one of these reasons:
//! 1. **Data.** Clocks are those of the lazy relation, so that lock operations order nothing. Two accesses race even if a
//!    lock keeps them apart, or if only the order of sections puts one access after the other. The events that are to come
//!    before the earlier access are put in a row after the prefix, and the row is run on paper. If one of these events
//!    takes a lock that is held there ([`LazyDpor::row`]), the sections of that lock are reversed instead, at the
//!    beginning of the section that holds the lock. Each section around the earlier access is also reversed if another
//!    section of its lock came between the two accesses.
//! 2. **Waiting.** A section in which its thread may have to wait (the thread takes a second lock there, joins, spins, or
//!    never gives the lock back) can hold other threads up for ever, or be held up. Such a section is reversed with all
//!    other sections of its lock; this rule finds deadlocks. An event after the acquire may be the first to show that the
//!    thread may wait.
//! 3. **Attempts.** `try_lock` sees whether a lock is held, so its order with every operation on the lock counts.
//!
//! If the only thread to try at a point sleeps there and would begin with taking a lock, later events of the execution may
//! have to come before that acquire. So this point is looked at again when the whole execution is known
//! ([`LazyDpor::look_again`]).
//!
//! So a section that is not reversed can be moved as a whole, over all events that do not depend on the section, to the
//! front of an execution that begins with the section's thread. Events that the lazy relation does not order may sleep,
//! and the executions to explore need not contain the sleeping events; so a row is also tried without them
//! ([`LazyDpor::awake`]).
//!
//! Two accesses to plain data race if no event orders them, and a lock may order them. But a race shows in the execution
//! that reverses it: there the thread of the earlier access has announced this access until the other access has been
//! made.
//!
//! Promise: exhausted lazily: every lazy relation of an execution is executed at least once, so all terminal states,
//! failures and deadlocks are seen. The promise is not a theorem: tests compare the strategy with an interpreter on random
//! programs.
//!
//! Because of the sleep sets, no two executions that run to an end have one happens-before relation; so there are never
//! more such executions than with `dpor`. There can be more executions that are *given up*: the threads to try are found
//! in another order, and some of these threads turn out to sleep. `docs/lazy.md` has the smallest example.

mod rows;
mod trace;

use crate::divergence::Divergence;
use crate::event::{Event, Kind, Pending, Thread};
use crate::executor::{Outcome, Pick, RunEnd, View};
use crate::stack::{Stack, Step};
use crate::strategy::{Promise, Stats, Strategy};
use crate::threads::ThreadSet;
use crate::trace::{NOWHERE, Position, Trace};

use trace::{LazyTrace, covers, depends_lazily};

/// An operation that is to come before an earlier event.
#[derive(Clone, Copy, Debug)]
struct Target {
    event: Event,
    /// The position of the event before it in its thread.
    before: Position,
    /// The operation's position; the end of the trace, if the operation has not run.
    end: Position,
    is_pending: bool,
}

/// Dynamic partial-order reduction with the lazy happens-before relation.
#[derive(Clone, Debug, Default)]
pub struct LazyDpor {
    stack: Stack,
    trace: LazyTrace,
    /// The same execution with the happens-before relation that is not lazy.
    regular: Trace,
    /// The threads that can run at the current point.
    enabled: ThreadSet,
    /// The numbers of the sections in which their thread may wait, as far as that has turned out.
    told: Vec<usize>,
    /// The positions, each with a target, at which the only thread to try sleeps and would take a lock first: later events
    /// may have to come before that acquire.
    doubts: Vec<(Position, Target)>,
}

impl LazyDpor {
    /// A search before its first execution.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn target(&self, position: Position) -> Target {
        Target {
            event: *self.trace.event(position),
            before: self.trace.before(position),
            end: position,
            is_pending: false,
        }
    }

    fn waiting_target(&self, thread: Thread, pending: &Pending) -> Target {
        Target {
            event: Event {
                thread,
                kind: pending.kind,
                object: pending.object,
                ..Event::default()
            },
            before: self.trace.last(thread),
            end: self.trace.len(),
            is_pending: true,
        }
    }

    /// Turns the target's races over data round.
    fn race(&mut self, target: Target) {
        let uses = self.trace.uses(target.event.object);
        let uses = &uses[..uses.partition_point(|&position| position < target.end)];
        let mut racing: Vec<Position> = Vec::new();
        for &position in uses.iter().rev() {
            let event = self.trace.event(position);
            let is_known = event.thread == target.event.thread
                || self.trace.happens_before(position, target.before);
            if !is_known && depends_lazily(event, &target.event) {
                racing.push(position);
            } else if is_known && covers(event, &target.event) {
                break;
            }
        }
        racing.reverse();
        for (n, &position) in racing.iter().enumerate() {
            let is_immediate = target.event.kind.blocks()
                || !racing[n + 1..]
                    .iter()
                    .any(|&other| self.trace.happens_before(position, other));
            if !is_immediate || self.was_let_go(target, position) {
                continue;
            }
            self.turn_round(position, target);
            // What another thread's section keeps apart.
            let around: Vec<Position> = self
                .trace
                .open_at(position)
                .filter(|&(number, _)| self.keeps_apart(number, position, target))
                .map(|(_, section)| section.taken)
                .collect();
            for taken in around {
                self.turn_round(taken, target);
            }
        }
    }

    /// Whether the operation was announced before `position` and was waiting there for something that is not a lock.
    fn was_let_go(&mut self, target: Target, position: Position) -> bool {
        let announced = target.before == NOWHERE || target.before < position;
        let there = self
            .stack
            .node(position)
            .enabled
            .contains(target.event.thread);
        announced && !there && !matches!(target.event.kind, Kind::Lock | Kind::LockShared)
    }

    /// Whether the section, in which the event at `position` lies, is that of its thread, and another one of this lock
    /// comes before the target.
    fn keeps_apart(&self, number: usize, position: Position, target: Target) -> bool {
        let section = &self.trace.sections()[number];
        let mut later = self.trace.sections()[number + 1..]
            .iter()
            .take_while(|other| other.taken <= target.end);
        section.thread == self.trace.event(position).thread
            && later.any(|other| {
                other.lock == section.lock
                    && other.thread != section.thread
                    && section.excludes(other.is_shared)
            })
    }

    /// Turns round the order of a section in which its thread may wait, and of those of the same lock.
    fn sections(&mut self) {
        while let Some(number) = self.told.pop() {
            let sections = self.trace.sections();
            let this = sections[number];
            let races: Vec<(Position, Position)> = sections
                .iter()
                .filter(|other| {
                    other.lock == this.lock
                        && other.thread != this.thread
                        && this.excludes(other.is_shared)
                })
                .map(|other| {
                    let (a, b) = (this.taken, other.taken);
                    (a.min(b), a.max(b))
                })
                .collect();
            for (earlier, later) in races {
                self.turn_sections_round(earlier, self.target(later));
            }
        }
    }

    /// Turns round the order of the target, which takes a lock, and of sections in which their threads may wait.
    fn lock(&mut self, target: Target) {
        let is_shared = matches!(target.event.kind, Kind::LockShared | Kind::TryLockShared);
        let mut races: Vec<Position> = self
            .trace
            .waiting_sections(target.event.object)
            .filter(|section| {
                section.thread != target.event.thread
                    && section.taken < target.end
                    && section.excludes(is_shared)
            })
            .map(|section| section.taken)
            .collect();
        races.sort_unstable();
        for taken in races {
            self.turn_sections_round(taken, target);
        }
    }

    fn turn_sections_round(&mut self, taken: Position, target: Target) {
        if !self.trace.happens_before(taken, target.before) {
            self.turn_round(taken, target);
        }
    }

    /// Makes sure that an order is explored in which the target comes before the event at `position`.
    fn turn_round(&mut self, position: Position, target: Target) {
        let mut pairs = vec![(position, target)];
        let mut known: Vec<(Position, Position)> = Vec::new();
        while let Some((position, target)) = pairs.pop() {
            if known.contains(&(position, target.end)) {
                continue;
            }
            known.push((position, target.end));
            let all: Vec<Position> = (position + 1..target.end)
                .filter(|&at| !self.trace.happens_before(position, at))
                .collect();
            let needed: Vec<Position> = all
                .iter()
                .copied()
                .filter(|&at| self.is_needed(at, position, target))
                .collect();
            let awake = self.awake(position, &all, &needed);
            let is_regular = |&at: &Position| !self.regular.happens_before(position, at);
            let is_plain = all.iter().all(is_regular);
            let mut tried = false;
            if let Ok(row) = self.row(position, &all, &needed, target) {
                self.start(position, &row, target);
                tried = row.len() == all.len() && (is_plain || awake.len() == all.len());
            }
            if !tried && let Ok(row) = self.row(position, &awake, &needed, target) {
                self.start(position, &row, target);
                tried = row.len() == awake.len();
            }
            if tried {
                continue;
            }
            let obstacle = match self.row(position, &needed, &needed, target) {
                Ok(row) => {
                    self.start(position, &row, target);
                    continue;
                }
                Err(obstacle) => obstacle,
            };
            // Some lock is held: the section that takes the lock here must come before.
            let (taken, blocked) = obstacle;
            let blocked = match blocked {
                NOWHERE => target,
                blocked => self.target(blocked),
            };
            if known.contains(&(taken, blocked.end)) || known.len() > 16 {
                let node = self.stack.node(position);
                node.backtrack = node.backtrack.union(node.enabled);
            } else {
                pairs.push((taken, blocked));
            }
        }
    }

    /// Makes sure that one of the threads is tried before `position` that can begin these events with the target behind
    /// them.
    fn start(&mut self, position: Position, events: &[Position], target: Target) {
        let mut starting = ThreadSet::EMPTY;
        // Those of them that start with taking a lock.
        let mut locking = ThreadSet::EMPTY;
        let mut moving = ThreadSet::EMPTY;
        let mut before: Vec<Event> = Vec::new();
        let events = events
            .iter()
            .map(|&at| *self.trace.event(at))
            .chain([target.event]);
        for event in events {
            if !moving.contains(event.thread) {
                moving.insert(event.thread);
                let is_first = before.iter().all(|earlier| {
                    let forked =
                        earlier.kind == Kind::Fork && earlier.object == u32::from(event.thread);
                    let joined =
                        event.kind == Kind::Join && event.object == u32::from(earlier.thread);
                    !forked && !joined && !earlier.depends(&event)
                });
                if is_first {
                    starting.insert(event.thread);
                    if matches!(event.kind, Kind::Lock | Kind::LockShared) {
                        locking.insert(event.thread);
                    }
                }
            }
            before.push(event);
        }
        let node = self.stack.node(position);
        let asleep = starting.intersection(node.asleep);
        let is_doubtful = starting.intersection(node.backtrack).is_empty()
            && !asleep.is_empty()
            && asleep.difference(locking).is_empty();
        node.try_one_of(starting, target.event.thread);
        if is_doubtful {
            self.doubts.push((position, target));
        }
    }

    /// Looks once more, now that all of the execution is there, at what is in doubt.
    fn look_again(&mut self) {
        for n in 0..self.doubts.len() {
            let (position, target) = self.doubts[n];
            let others: Vec<Position> = (position + 1..self.trace.len())
                .filter(|&at| at != target.end || target.is_pending)
                .filter(|&at| !self.trace.happens_before(position, at))
                .filter(|&at| target.is_pending || !self.trace.happens_before(target.end, at))
                .collect();
            let needed: Vec<Position> = others
                .iter()
                .copied()
                .filter(|&at| at < target.end && self.is_needed(at, position, target))
                .collect();
            let awake = self.awake(position, &others, &needed);
            for events in [others, awake] {
                if let Ok(row) = self.row(position, &events, &needed, target) {
                    self.start(position, &row, target);
                }
            }
        }
    }

    /// What waits at the end of the execution, or where it is given up.
    fn races_of_waiting(&mut self, view: &View<'_>, waiting: ThreadSet) {
        self.trace
            .note_enabled(view.enabled, |section| self.told.push(section));
        self.sections();
        for thread in waiting.iter() {
            let target = self.waiting_target(thread, view.of(thread));
            if matches!(target.event.kind, Kind::Lock | Kind::LockShared) {
                self.lock(target);
            }
            self.race(target);
        }
    }
}

impl Strategy for LazyDpor {
    fn begin(&mut self) -> bool {
        let more = self.stack.begin();
        self.trace.truncate(self.stack.known());
        let known = self.trace.len();
        self.doubts
            .retain(|(_, target)| !target.is_pending && target.end < known);
        self.regular.truncate(self.stack.known());
        more
    }

    fn pick(&mut self, view: &View<'_>) -> Result<Pick, Divergence> {
        self.enabled = view.enabled;
        match self.stack.pick(view)? {
            Step::Run(thread) => Ok(Pick::Run(thread)),
            Step::Asleep => {
                self.races_of_waiting(view, view.live.difference(view.enabled));
                Ok(Pick::Abandon)
            }
        }
    }

    fn ran(&mut self, event: &Event) -> Result<(), Divergence> {
        if self.stack.ran(event)? {
            let told = &mut self.told;
            self.trace
                .note_enabled(self.enabled, |section| told.push(section));
            self.regular.push(event);
            let position = self
                .trace
                .push(event, self.enabled, |section| told.push(section));
            self.sections();
            let target = self.target(position);
            if event.kind.acquires() {
                self.lock(target);
            }
            self.race(target);
        }
        Ok(())
    }

    fn blocked(&mut self, view: &View<'_>) {
        self.races_of_waiting(view, view.live.difference(view.enabled));
    }

    fn cut(&mut self, view: &View<'_>) {
        self.races_of_waiting(view, view.live);
    }

    fn end(&mut self, end: &RunEnd) {
        if end.outcome != Outcome::Abandoned {
            let told = &mut self.told;
            self.trace
                .note_enabled(ThreadSet::EMPTY, |section| told.push(section));
            self.sections();
        }
        let known = self.doubts.len();
        self.look_again();
        self.doubts.truncate(known);
        self.stack.end();
    }

    fn report(&self) -> Stats {
        let promise = if self.stack.is_done() {
            Promise::ExhaustedLazily { truncated: false }
        } else {
            Promise::Unfinished
        };
        Stats::of_tree(promise, self.stack.explored())
    }
}
