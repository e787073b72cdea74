//! Races: pairs of events whose order a scheduler could reverse.

use crate::event::{Class, Kind, Object, Pending, Thread};
use crate::threads::{MAX_THREADS, ThreadSet};
use crate::trace::{NOWHERE, Position, Trace};

/// A thread's operation at the end of a trace, run or announced.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Latest {
    pub(crate) thread: Thread,
    pub(crate) kind: Kind,
    pub(crate) object: Object,
    /// The position of the event before it in its thread.
    pub(crate) before: Position,
    /// The position at which the trace ends for the operation: only events before this position count.
    pub(crate) end: Position,
}

impl Latest {
    /// The event at this position, which is the trace's last one.
    pub(crate) fn ran(trace: &Trace, position: Position) -> Self {
        let entry = trace.entry(position);
        Self {
            thread: entry.event.thread,
            kind: entry.event.kind,
            object: entry.event.object,
            before: entry.before,
            end: position,
        }
    }

    /// What a thread waits for at the end of the trace.
    pub(crate) fn waiting(trace: &Trace, thread: Thread, pending: &Pending) -> Self {
        Self {
            thread,
            kind: pending.kind,
            object: pending.object,
            before: trace.last(thread),
            end: trace.len() as Position,
        }
    }
}

/// The events that race with `latest`, from the last to the first: dependent, by another thread, not ordered with it
/// but by their own dependence, and such that both could have been enabled.
pub(crate) fn races(trace: &Trace, latest: Latest) -> impl Iterator<Item = Position> {
    let class = latest.kind.class();
    let uses = match class {
        Class::None => &[],
        _ => trace.uses(latest.object),
    };
    let mut n = uses.len();
    std::iter::from_fn(move || {
        while n > 0 {
            n -= 1;
            let position = uses[n];
            if position >= latest.end {
                continue;
            }
            let event = trace.event(position);
            let known =
                event.thread == latest.thread || trace.happens_before(position, latest.before);
            if known {
                let known = event.kind.class();
                if known == Class::Modify || known == class {
                    // All that came before it on this object, and that this operation could race with, is known with it.
                    n = 0;
                }
            } else if event.kind.class().conflicts(class)
                && event.kind.may_be_coenabled(latest.kind)
            {
                return Some(position);
            }
        }
        None
    })
}

/// Whether the operation was announced before `position` and waiting there for something that is not a lock: what ran
/// there then let it go on, and can't come after it.
pub(crate) fn was_let_go_by(latest: Latest, position: Position, enabled_there: bool) -> bool {
    let announced = latest.before == NOWHERE || latest.before < position;
    announced && !enabled_there && !matches!(latest.kind, Kind::Lock | Kind::LockShared)
}

/// The events after the races of an operation, for questions about one race after the other, from the last race to the
/// first: each event is looked at once for all of them.
///
/// Of each thread, one event of each sort answers: an event that comes after a race in happens-before has all later events
/// of its thread come after the race, too.
#[derive(Debug)]
pub(crate) struct Window<'t> {
    trace: &'t Trace,
    latest: Latest,
    /// The events from here on have been looked at.
    from: Position,
    /// The threads of these events, and the first event of each.
    threads: ThreadSet,
    first: [Position; MAX_THREADS],
    /// The threads with events that conflict with the operation, and the first such event of each.
    in_conflict: ThreadSet,
    conflict: [Position; MAX_THREADS],
    /// The threads with events that race with the operation, and the last such event of each.
    racing: ThreadSet,
    race: [Position; MAX_THREADS],
}

impl<'t> Window<'t> {
    /// The window of this operation, before its last race.
    pub(crate) const fn new(trace: &'t Trace, latest: Latest) -> Self {
        Self {
            trace,
            latest,
            from: latest.end,
            threads: ThreadSet::EMPTY,
            first: [NOWHERE; MAX_THREADS],
            in_conflict: ThreadSet::EMPTY,
            conflict: [NOWHERE; MAX_THREADS],
            racing: ThreadSet::EMPTY,
            race: [NOWHERE; MAX_THREADS],
        }
    }

    /// Looks at all events after the one at `position`.
    fn widen(&mut self, position: Position) {
        let Self { trace, latest, .. } = *self;
        while self.from > position + 1 {
            self.from -= 1;
            let event = trace.event(self.from);
            let at = usize::from(event.thread);
            self.threads.insert(event.thread);
            self.first[at] = self.from;
            let class = event.kind.class();
            if class == Class::None
                || event.object != latest.object
                || !class.conflicts(latest.kind.class())
            {
                continue;
            }
            self.in_conflict.insert(event.thread);
            self.conflict[at] = self.from;
            let races = !self.racing.contains(event.thread)
                && !trace.is_known(self.from, latest.thread, latest.before)
                && event.kind.may_be_coenabled(latest.kind);
            if races {
                self.racing.insert(event.thread);
                self.race[at] = self.from;
            }
        }
    }

    /// Whether no event comes between the racing event at `position` and the operation in happens-before. If an event does,
    /// its race is reversed first, and then this race; but an operation that waits may not be able to go between the two
    /// events (a lock between another thread's lock and an attempt that fails because of that lock), so for a waiting
    /// operation every race counts.
    pub(crate) fn is_immediate(&mut self, position: Position) -> bool {
        if self.latest.kind.blocks() {
            return true;
        }
        self.widen(position);
        let mut racing = self
            .racing
            .iter()
            .map(|thread| self.race[usize::from(thread)]);
        racing.all(|other| !self.trace.happens_before(position, other))
    }

    /// Threads that the reversal of a race can start with: of the events after the one at `position` that don't come after
    /// it in happens-before, and the operation, those that are minimal, by their threads.
    pub(crate) fn starting(&mut self, position: Position) -> ThreadSet {
        let moving = self.moving(position);
        let mut starting = self.minimal(moving);
        let (trace, latest) = (self.trace, self.latest);
        if !moving.contains(latest.thread) {
            let mut first = moving.iter().map(|other| self.first[usize::from(other)]);
            let mut conflicts = self.in_conflict.iter();
            let is_minimal = first.all(|other| !trace.happens_before(other, latest.before))
                && conflicts
                    .all(|other| trace.happens_before(position, self.conflict[usize::from(other)]));
            if is_minimal {
                starting.insert(latest.thread);
            }
        }
        starting
    }

    /// Threads that a reversal can start with of which only the first events are known: the part of [`Self::starting`] that
    /// has been run.
    pub(crate) fn going_on(&mut self, position: Position) -> ThreadSet {
        let moving = self.moving(position);
        self.minimal(moving)
    }

    /// The threads of the events after the one at `position` that don't come after it.
    fn moving(&mut self, position: Position) -> ThreadSet {
        self.widen(position);
        let threads = self.threads.iter();
        threads
            .filter(|&thread| {
                let first = self.first[usize::from(thread)];
                !self.trace.happens_before(position, first)
            })
            .collect()
    }

    /// Those of the threads whose first events come after none of the others.
    fn minimal(&self, moving: ThreadSet) -> ThreadSet {
        let of = |thread: Thread| self.first[usize::from(thread)];
        let comes_after = |thread: Thread, other: Thread| {
            other != thread && self.trace.happens_before(of(other), of(thread))
        };
        let threads = moving.iter();
        threads
            .filter(|&thread| !moving.iter().any(|other| comes_after(thread, other)))
            .collect()
    }
}
