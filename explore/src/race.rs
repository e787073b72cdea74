//! Races: pairs of events whose order a scheduler could reverse.

use crate::event::{Class, Kind, Object, Pending, Thread};
use crate::threads::{MAX_THREADS, ThreadSet};
use crate::trace::{Position, Trace};

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
    let announced = latest.before == crate::trace::NOWHERE || latest.before < position;
    announced && !enabled_there && !matches!(latest.kind, Kind::Lock | Kind::LockShared)
}

/// Whether no event comes between the racing event at `position` and `latest` in happens-before. If an event does, its
/// race is reversed first, and then this race; but an operation that waits may not be able to go between the two events (a
/// lock between another thread's lock and an attempt that fails because of that lock), so for a waiting operation every
/// race counts.
pub(crate) fn is_immediate(trace: &Trace, latest: Latest, position: Position) -> bool {
    latest.kind.blocks()
        || races(trace, latest)
            .take_while(|&other| other > position)
            .all(|other| !trace.happens_before(position, other))
}

/// Threads that the reversal of a race can start with: of the events after the one at `position` that don't come after
/// it in happens-before, and `latest`, those that are minimal, by their threads.
pub(crate) fn starting(trace: &Trace, latest: Latest, position: Position) -> ThreadSet {
    let window = position + 1..latest.end;
    let (moving, before, mut starting) = moving(trace, position, latest.end);
    if !moving.contains(latest.thread) {
        let clock = trace.clock(latest.before);
        let knows_none = moving.iter().all(|other| {
            let known = clock.get(usize::from(other)).copied().unwrap_or(0);
            known <= before[usize::from(other)]
        });
        let uses = trace.uses(latest.object);
        let from = uses.partition_point(|&at| at < window.start);
        let to = uses.partition_point(|&at| at < window.end);
        let conflicts_with_none = uses[from..to.max(from)]
            .iter()
            .filter(|&&at| !trace.happens_before(position, at))
            .all(|&at| {
                let kind = trace.event(at).kind;
                !kind.class().conflicts(latest.kind.class())
            });
        if knows_none && conflicts_with_none {
            starting.insert(latest.thread);
        }
    }
    starting
}

/// Threads that a reversal can start with of which only the first events are known: the part of [`starting`] that has been
/// run.
pub(crate) fn going_on(trace: &Trace, position: Position, end: Position) -> ThreadSet {
    moving(trace, position, end).2
}

/// Of the events between `position` and `end` that don't come after the one at `position`: their threads; how many events
/// of each there are before; and those threads whose events are minimal.
fn moving(
    trace: &Trace,
    position: Position,
    end: Position,
) -> (ThreadSet, [u32; MAX_THREADS], ThreadSet) {
    let mut moving = ThreadSet::EMPTY;
    let mut starting = ThreadSet::EMPTY;
    let mut before = [0_u32; MAX_THREADS];
    for at in position + 1..end {
        let entry = trace.entry(at);
        let thread = entry.event.thread;
        if trace.happens_before(position, at) {
            continue;
        }
        if moving.contains(thread) {
            continue;
        }
        let clock = trace.clock(at);
        let is_minimal = moving
            .iter()
            .all(|other| clock[usize::from(other)] <= before[usize::from(other)]);
        moving.insert(thread);
        before[usize::from(thread)] = entry.index - 1;
        if is_minimal {
            starting.insert(thread);
        }
    }
    (moving, before, starting)
}
