//! The holders of a lock after a prefix of an execution, without a look at all of the lock's events.

use crate::event::{Event, Kind, Object, Thread};
use crate::trace::{Position, Trace};

/// The number of uses from which a lock counts as used often. Of other locks, all uses are looked at.
const MANY: usize = 48;

/// One use of a lock by a thread.
#[derive(Clone, Copy, Debug)]
struct Use {
    /// The number of the use among its thread's events, from 1.
    index: u32,
    position: Position,
    /// How the thread holds the lock after the use.
    held: Held,
}

/// The number of times that a lock is held, exclusively and shared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) exclusive: i32,
    pub(super) shared: i32,
}

impl Held {
    /// What this event adds.
    pub(super) fn by(event: &Event) -> Self {
        let (exclusive, shared) = match event.kind {
            Kind::Lock | Kind::TryLock => (1, 0),
            Kind::Unlock => (-1, 0),
            Kind::LockShared | Kind::TryLockShared => (0, 1),
            Kind::UnlockShared => (0, -1),
            _ => (0, 0),
        };
        Self { exclusive, shared }
    }

    /// Both together.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            exclusive: self.exclusive + other.exclusive,
            shared: self.shared + other.shared,
        }
    }
}

/// The uses of one lock, by thread.
#[derive(Clone, Debug)]
struct Lock {
    object: Object,
    threads: Vec<(Thread, Vec<Use>)>,
}

/// The locks of an execution that are used often.
#[derive(Clone, Debug, Default)]
pub(super) struct Holdings {
    locks: Vec<Lock>,
}

impl Holdings {
    /// Those of this execution. A lock with a `few` uses is used often.
    pub(super) fn look_at(&mut self, trace: &Trace, few: usize) {
        self.locks.clear();
        for (object, uses) in trace.objects() {
            if uses.len() < MANY.min(few) {
                continue;
            }
            let is_lock = uses
                .first()
                .is_some_and(|&first| is_of_lock(trace.event(first).kind));
            if !is_lock {
                continue;
            }
            let mut threads: Vec<(Thread, Vec<Use>)> = Vec::new();
            for &position in uses {
                let entry = trace.entry(position);
                let thread = entry.event.thread;
                let at = threads.iter().position(|&(other, _)| other == thread);
                let at = at.unwrap_or_else(|| {
                    threads.push((thread, Vec::new()));
                    threads.len() - 1
                });
                let uses = &mut threads[at].1;
                let before = uses.last().map_or_else(Held::default, |last| last.held);
                uses.push(Use {
                    index: entry.index,
                    position,
                    held: before.and(Held::by(&entry.event)),
                });
            }
            self.locks.push(Lock { object, threads });
        }
    }

    /// How the lock is held after all events before `end` and those that the clock knows. `None`: it is not used often.
    pub(super) fn after(&self, lock: Object, end: Position, clock: &[u32]) -> Option<Held> {
        let lock = self.locks.iter().find(|known| known.object == lock)?;
        let mut held = Held::default();
        for (thread, uses) in &lock.threads {
            let known = clock.get(usize::from(*thread)).copied().unwrap_or(0);
            let count = uses.partition_point(|one| one.position < end || one.index <= known);
            if let Some(last) = count.checked_sub(1) {
                held = held.and(uses[last].held);
            }
        }
        Some(held)
    }
}

/// Whether events of this kind are those of a lock.
const fn is_of_lock(kind: Kind) -> bool {
    kind.acquires()
        || matches!(
            kind,
            Kind::Unlock | Kind::UnlockShared | Kind::TryLockFailed | Kind::TryLockSharedFailed
        )
}
