//! An execution so far with vector clocks for the lazy happens-before relation, and with its critical sections.

use crate::event::{Class, Event, Kind, Object, Thread};
use crate::threads::ThreadSet;
use crate::trace::{NOWHERE, Position};

/// Whether the order of two events of different threads counts in the lazy relation. Attempts to lock see whether the
/// lock is held, so that their order with all other operations on it counts.
pub(super) fn depends_lazily(one: &Event, other: &Event) -> bool {
    if is_attempt(one.kind) || is_attempt(other.kind) {
        return one.depends(other);
    }
    one.object == other.object && one.lazy_class().conflicts(other.lazy_class())
}

/// Whether all earlier events on the object whose order with `latest` counts come before `known`, an event on the same
/// object. Then every event that comes after `known` comes after these events, too.
pub(super) fn covers(known: &Event, latest: &Event) -> bool {
    let is_like = known.kind == latest.kind && known.lazy_class() == latest.lazy_class();
    let is_change =
        !is_attempt(known.kind) && !is_attempt(latest.kind) && known.lazy_class() == Class::Modify;
    is_like || is_change
}

const fn is_attempt(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::TryLock | Kind::TryLockFailed | Kind::TryLockShared | Kind::TryLockSharedFailed
    )
}

/// Whether a thread may never get past an operation of this kind.
const fn waits(kind: Kind) -> bool {
    kind.blocks() || matches!(kind, Kind::Join | Kind::Wait)
}

/// A critical section.
#[derive(Clone, Copy, Debug)]
pub(super) struct Section {
    pub(super) thread: Thread,
    pub(super) lock: Object,
    pub(super) is_shared: bool,
    /// The position at which the lock was taken.
    pub(super) taken: Position,
    /// The position at which the lock was given back; [`NOWHERE`] if it has not been given back.
    pub(super) given_back: Position,
    /// Whether the thread may have to wait in the section, for example before it takes another lock. The wait may depend on
    /// the order of sections, and may last for ever.
    pub(super) may_wait: bool,
}

impl Section {
    /// Whether the section excludes another hold of the lock, exclusive or shared.
    pub(super) fn excludes(&self, is_shared: bool) -> bool {
        !(self.is_shared && is_shared)
    }
}

/// One event and what belongs to it.
#[derive(Clone, Copy, Debug)]
struct Entry {
    event: Event,
    /// The number of the event among its thread's events, from 1.
    index: u32,
    before: Position,
    /// The threads that could run right before the event.
    enabled: ThreadSet,
    /// All sections before this one had been given back before it.
    open_from: usize,
}

/// An execution so far.
#[derive(Clone, Debug, Default)]
pub(super) struct LazyTrace {
    entries: Vec<Entry>,
    clocks: Vec<Vec<u32>>,
    /// Per thread: its last event, or its fork.
    last: Vec<Position>,
    counts: Vec<u32>,
    /// Per object: the events on it, ascending.
    uses: Vec<Vec<Position>>,
    sections: Vec<Section>,
    /// Per lock: the numbers of its sections in which their threads may wait.
    waiting: Vec<Vec<usize>>,
    /// Per thread: the numbers of its sections that are open.
    open: Vec<Vec<usize>>,
}

impl LazyTrace {
    pub(super) fn len(&self) -> Position {
        self.entries.len() as Position
    }

    pub(super) fn event(&self, position: Position) -> &Event {
        &self.entries[position as usize].event
    }

    /// What comes before the event in its thread.
    pub(super) fn before(&self, position: Position) -> Position {
        self.entries[position as usize].before
    }

    /// The thread's last event or its fork.
    pub(super) fn last(&self, thread: Thread) -> Position {
        self.last
            .get(usize::from(thread))
            .copied()
            .unwrap_or(NOWHERE)
    }

    /// The events on the object, ascending.
    pub(super) fn uses(&self, object: Object) -> &[Position] {
        self.uses.get(object as usize).map_or(&[], Vec::as_slice)
    }

    pub(super) fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// Those of this lock in which their threads may wait.
    pub(super) fn waiting_sections(&self, lock: Object) -> impl Iterator<Item = &Section> {
        let numbers = self.waiting.get(lock as usize);
        let numbers = numbers.map_or(&[] as &[usize], Vec::as_slice);
        numbers.iter().map(|&number| &self.sections[number])
    }

    /// The sections that the event at this position, or the end of the trace, lies in, by whatever thread.
    pub(super) fn open_at(&self, position: Position) -> impl Iterator<Item = (usize, &Section)> {
        let entry = self.entries.get(position as usize);
        let from = entry.map_or_else(|| self.open_from(), |entry| entry.open_from);
        let sections = self.sections.iter().enumerate().skip(from);
        sections
            .take_while(move |(_, section)| section.taken < position)
            .filter(move |(_, section)| {
                section.given_back == NOWHERE || section.given_back >= position
            })
    }

    /// All sections before this one have been given back.
    fn open_from(&self) -> usize {
        let first = self.open.iter().flatten().min();
        first.copied().unwrap_or(self.sections.len())
    }

    /// Whether `earlier` happens before `position` or is it. Nothing happens before [`NOWHERE`].
    pub(super) fn happens_before(&self, earlier: Position, position: Position) -> bool {
        if position == NOWHERE {
            return false;
        }
        let Entry { event, index, .. } = &self.entries[earlier as usize];
        let clock = &self.clocks[position as usize];
        clock
            .get(usize::from(event.thread))
            .is_some_and(|known| known >= index)
    }

    /// Cuts it back to its first `length` events.
    pub(super) fn truncate(&mut self, length: usize) {
        if length == self.entries.len() {
            return;
        }
        let mut entries = std::mem::take(&mut self.entries);
        entries.truncate(length);
        *self = Self::default();
        for Entry { event, enabled, .. } in entries {
            self.note_enabled(enabled, |_| {});
            self.push(&event, enabled, |_| {});
        }
    }

    /// Takes the next event, before which these threads could run. `tell` is called with the number of each section that
    /// turns out to be one in which its thread may wait.
    pub(super) fn push(
        &mut self,
        event: &Event,
        enabled: ThreadSet,
        tell: impl FnMut(usize),
    ) -> Position {
        let names_thread = matches!(event.kind, Kind::Fork | Kind::Join);
        let thread = usize::from(event.thread);
        let other = if names_thread {
            event.object as usize
        } else {
            thread
        };
        self.make_room(thread.max(other));
        let position = self.len();
        let open_from = self.open_from();
        let before = self.last[thread];
        let mut clock = match before {
            NOWHERE => Vec::new(),
            before => self.clocks[before as usize].clone(),
        };
        let mut join = |with: &[u32]| {
            if clock.len() < with.len() {
                clock.resize(with.len(), 0);
            }
            for (own, &other) in clock.iter_mut().zip(with) {
                *own = (*own).max(other);
            }
        };
        if event.kind == Kind::Join {
            if self.last[other] != NOWHERE {
                join(&self.clocks[self.last[other] as usize]);
            }
        } else if event.kind.class() != Class::None {
            for &earlier in self.uses(event.object).iter().rev() {
                let used = self.event(earlier);
                let counts = depends_lazily(used, event);
                if counts {
                    join(&self.clocks[earlier as usize]);
                }
                if (counts || used.thread == event.thread) && covers(used, event) {
                    break;
                }
            }
            let object = event.object as usize;
            if object >= self.uses.len() {
                self.uses.resize_with(object + 1, Vec::new);
            }
            self.uses[object].push(position);
        }
        if clock.len() <= thread {
            clock.resize(thread + 1, 0);
        }
        self.counts[thread] += 1;
        let index = self.counts[thread];
        clock[thread] = index;
        self.clocks.push(clock);
        self.entries.push(Entry {
            event: *event,
            index,
            before,
            enabled,
            open_from,
        });
        self.last[thread] = position;
        if event.kind == Kind::Fork {
            self.last[other] = position;
        }
        self.note_section(event, position, tell);
        position
    }

    fn note_section(&mut self, event: &Event, position: Position, tell: impl FnMut(usize)) {
        let thread = usize::from(event.thread);
        if waits(event.kind) {
            self.may_wait(thread, tell);
        }
        if event.kind.acquires() {
            self.open[thread].push(self.sections.len());
            self.sections.push(Section {
                thread: event.thread,
                lock: event.object,
                is_shared: matches!(event.kind, Kind::LockShared | Kind::TryLockShared),
                taken: position,
                given_back: NOWHERE,
                may_wait: false,
            });
        }
        if matches!(event.kind, Kind::Unlock | Kind::UnlockShared) {
            let sections = &mut self.sections;
            let open = &mut self.open[thread];
            let of_lock = open
                .iter()
                .rposition(|&section| sections[section].lock == event.object);
            if let Some(at) = of_lock {
                sections[open.remove(at)].given_back = position;
            }
        }
    }

    /// The thread may wait in the sections that it is in.
    fn may_wait(&mut self, thread: usize, mut tell: impl FnMut(usize)) {
        let Some(open) = self.open.get(thread) else {
            return;
        };
        for &section in open {
            if !std::mem::replace(&mut self.sections[section].may_wait, true) {
                let lock = self.sections[section].lock as usize;
                if lock >= self.waiting.len() {
                    self.waiting.resize_with(lock + 1, Vec::new);
                }
                self.waiting[lock].push(section);
                tell(section);
            }
        }
    }

    /// No others than these threads can run: they wait, or have ended.
    pub(super) fn note_enabled(&mut self, enabled: ThreadSet, mut tell: impl FnMut(usize)) {
        for thread in 0..self.open.len() {
            let name = Thread::try_from(thread).unwrap_or(Thread::MAX);
            if !enabled.contains(name) {
                self.may_wait(thread, &mut tell);
            }
        }
    }

    fn make_room(&mut self, thread: usize) {
        if thread >= self.last.len() {
            self.last.resize(thread + 1, NOWHERE);
            self.counts.resize(thread + 1, 0);
            self.open.resize_with(thread + 1, Vec::new);
        }
    }
}
