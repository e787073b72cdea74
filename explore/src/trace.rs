//! An execution so far, with a vector clock for each event, for the strategies that reduce by partial order.
//!
//! The clock of an event says how many events of each thread happen before it or are it (Flanagan and Godefroid, *Dynamic
//! Partial-Order Reduction for Model Checking Software*, POPL 2005, section 4.1). A trace can be cut back to a prefix,
//! so that what two executions have in common is computed once.

use crate::divergence::Divergence;
use crate::event::{Class, Event, Kind, Object, Thread};
use crate::looks::{look, look_at};

/// A position in a trace; [`NOWHERE`] is before its start.
pub(crate) type Position = u32;

/// The position of no event: what comes before a first one.
pub(crate) const NOWHERE: Position = Position::MAX;

/// The number of events that a trace has room for from the start: growing to this size step by step would cost as much as
/// the events themselves.
const SHORT: usize = 32;

/// One event and what belongs to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) event: Event,
    /// The number of the event among its thread's events, from 1.
    pub(crate) index: u32,
    /// The position of its thread's event before; for a thread's first event, of the thread's fork.
    pub(crate) before: Position,
    /// The position of the last event before that changed the object.
    modifier: Position,
    /// The number, among the uses of its object, of the first of those in a row that are its thread's and end with it.
    run: u32,
}

/// An execution so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace {
    entries: Vec<Entry>,
    /// `width` numbers for each event.
    clocks: Vec<u32>,
    width: usize,
    /// Per thread: the position of its last event, or of its fork.
    last: Vec<Position>,
    /// Per thread: the number of its events.
    counts: Vec<u32>,
    /// Per object: whether it has had changes that commute.
    commuted: Vec<bool>,
    /// Per object: the positions of the events on it, ascending.
    uses: Vec<Vec<Position>>,
}

impl Trace {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn entry(&self, position: Position) -> &Entry {
        look();
        &self.entries[position as usize]
    }

    pub(crate) fn event(&self, position: Position) -> &Event {
        look();
        &self.entries[position as usize].event
    }

    /// The thread's last event or its fork.
    pub(crate) fn last(&self, thread: Thread) -> Position {
        self.last
            .get(usize::from(thread))
            .copied()
            .unwrap_or(NOWHERE)
    }

    /// The number of the thread's events.
    pub(crate) fn count(&self, thread: Thread) -> u32 {
        self.counts.get(usize::from(thread)).copied().unwrap_or(0)
    }

    /// The events on the object, ascending.
    pub(crate) fn uses(&self, object: Object) -> &[Position] {
        self.uses.get(object as usize).map_or(&[], Vec::as_slice)
    }

    /// The objects, each with the events on it.
    pub(crate) fn objects(&self) -> impl Iterator<Item = (Object, &[Position])> {
        (0..).zip(self.uses.iter().map(Vec::as_slice))
    }

    /// The clock of an event; empty for [`NOWHERE`].
    pub(crate) fn clock(&self, position: Position) -> &[u32] {
        if position == NOWHERE {
            return &[];
        }
        look();
        let start = position as usize * self.width;
        &self.clocks[start..start + self.width]
    }

    /// Whether `earlier` happens before `position` or is it. Nothing happens before [`NOWHERE`].
    #[inline]
    pub(crate) fn happens_before(&self, earlier: Position, position: Position) -> bool {
        if position == NOWHERE {
            return false;
        }
        let entry = self.entry(earlier);
        let thread = usize::from(entry.event.thread);
        self.clocks[position as usize * self.width + thread] >= entry.index
    }

    /// Whether the event is the thread's own, or happens before `before`, the thread's last one.
    #[inline]
    pub(crate) fn is_known(&self, position: Position, thread: Thread, before: Position) -> bool {
        self.event(position).thread == thread || self.happens_before(position, before)
    }

    /// Whether the object has had changes that commute.
    pub(crate) fn has_commuting(&self, object: Object) -> bool {
        let commuted = self.commuted.get(object as usize);
        commuted.copied().unwrap_or(false)
    }

    /// The last event before this one that changed its object.
    pub(crate) fn modifier(&self, position: Position) -> Position {
        self.entry(position).modifier
    }

    /// The last event up to this one that changed its object.
    pub(crate) fn latest_change(&self, position: Position) -> Position {
        if self.event(position).kind.class() == Class::Modify {
            position
        } else {
            self.modifier(position)
        }
    }

    /// Given that a thread knows use number `n` of an object: returns the number of uses up to and with the last use before
    /// that one which the thread may not know. A thread that knows a use also knows the uses in a row before it by the same
    /// thread, and a thread that knows a change knows all uses before the change.
    pub(crate) fn unknown_before(&self, uses: &[Position], n: usize) -> usize {
        let start = self.entry(uses[n]).run as usize;
        let change = self.latest_change(uses[n]);
        if change != NOWHERE && change >= uses[start] {
            0
        } else {
            start
        }
    }

    /// Checks that an execution that is run again does the same event at this position.
    pub(crate) fn verify(&self, position: usize, event: &Event) -> Result<(), Divergence> {
        Divergence::check(position, &self.entries[position].event, event)
    }

    /// Cuts it back to its first `length` events.
    pub(crate) fn truncate(&mut self, length: usize) {
        look_at(self.entries.len().saturating_sub(length));
        while self.entries.len() > length {
            let Some(Entry { event, before, .. }) = self.entries.pop() else {
                return;
            };
            let thread = usize::from(event.thread);
            self.last[thread] = before;
            self.counts[thread] -= 1;
            if event.kind == Kind::Fork {
                self.last[event.object as usize] = NOWHERE;
            }
            if event.kind.class() != Class::None {
                self.uses[event.object as usize].pop();
            }
        }
        self.clocks.truncate(length * self.width);
    }

    /// Makes room for about as many events as the other one has, at once.
    pub(crate) fn make_room_as_in(&mut self, other: &Self) {
        self.entries.reserve(other.entries.len());
        self.clocks.reserve(other.clocks.len());
        if self.uses.len() < other.uses.len() {
            self.uses.resize_with(other.uses.len(), Vec::new);
        }
    }

    /// Becomes the first `length` events of `other`.
    pub(crate) fn copy_prefix(&mut self, other: &Self, length: usize) {
        look_at(length);
        self.truncate(0);
        self.make_room(other.width.saturating_sub(1));
        if self.width != other.width || length < other.len() / 4 {
            for entry in &other.entries[..length] {
                self.push(&entry.event);
            }
            return;
        }
        self.clocks
            .extend_from_slice(&other.clocks[..length * other.width]);
        self.entries.extend_from_slice(&other.entries[..length]);
        for position in 0..length {
            let Entry { event, .. } = self.entries[position];
            if event.kind.class() != Class::None {
                self.make_place(event.object);
            }
            self.note(&event, position as Position);
        }
    }

    /// Takes the next event. Returns its position.
    pub(crate) fn push(&mut self, event: &Event) -> Position {
        look();
        let thread = usize::from(event.thread);
        let names_thread = matches!(event.kind, Kind::Fork | Kind::Join);
        let other = if names_thread {
            event.object as usize
        } else {
            0
        };
        self.make_room(thread.max(other));
        let position = self.entries.len() as Position;
        let before = self.last[thread];
        let start = self.clocks.len();
        if before == NOWHERE {
            self.clocks.resize(start + self.width, 0);
        } else {
            let from = before as usize * self.width;
            self.clocks.extend_from_within(from..from + self.width);
        }
        let class = event.kind.class();
        let (mut modifier, mut run) = (NOWHERE, 0);
        if class != Class::None {
            self.make_place(event.object);
            (modifier, run) = self.join_uses(event, class, start);
        } else if event.kind == Kind::Join {
            self.join(start, self.last[other]);
        }
        let index = self.counts[thread] + 1;
        self.clocks[start + thread] = index;
        self.entries.push(Entry {
            event: *event,
            index,
            before,
            modifier,
            run,
        });
        self.note(event, position);
        position
    }

    /// Joins the clocks of all earlier events that the event depends on; the last one that changed its object, and
    /// [`Entry::run`].
    fn join_uses(&mut self, event: &Event, class: Class, start: usize) -> (Position, u32) {
        let object = event.object as usize;
        let uses = &self.uses[object];
        let Some(&latest) = uses.last() else {
            return (NOWHERE, 0);
        };
        let last = &self.entries[latest as usize];
        let run = if last.event.thread == event.thread {
            last.run
        } else {
            uses.len() as u32
        };
        let modifier = if last.event.kind.class() == Class::Modify {
            latest
        } else {
            last.modifier
        };
        // Reads of what is no lock and no count have nothing but the modifier to depend on.
        let plain = matches!(event.kind, Kind::Read | Kind::FailedUpdate)
            && !self.commuted.get(object).copied().unwrap_or(false);
        if !plain && latest != modifier {
            for n in (0..self.uses[object].len()).rev() {
                let position = self.uses[object][n];
                if position == modifier {
                    break;
                }
                let used = self.event(position);
                let conflicts = used.kind.class().conflicts(class);
                let is_own = used.thread == event.thread;
                let is_like = used.kind.class() == class;
                if conflicts {
                    self.join(start, position);
                }
                if is_like && (conflicts || is_own) {
                    // It has come after all that this event has to come after.
                    break;
                }
            }
        }
        self.join(start, modifier);
        (modifier, run)
    }

    fn join(&mut self, start: usize, with: Position) {
        if with == NOWHERE {
            return;
        }
        let (earlier, own) = self.clocks.split_at_mut(start);
        let from = with as usize * self.width;
        for (own, &other) in own.iter_mut().zip(&earlier[from..from + self.width]) {
            *own = (*own).max(other);
        }
    }

    /// Counts the event in, once it has its clock.
    fn note(&mut self, event: &Event, position: Position) {
        let thread = usize::from(event.thread);
        self.last[thread] = position;
        self.counts[thread] += 1;
        if event.kind == Kind::Fork {
            self.last[event.object as usize] = position;
        }
        if event.kind.class() != Class::None {
            let object = event.object as usize;
            self.uses[object].push(position);
            if matches!(event.kind, Kind::Add | Kind::Take | Kind::Upgrade) {
                if object >= self.commuted.len() {
                    self.commuted.resize(object + 1, false);
                }
                self.commuted[object] = true;
            }
        }
    }

    /// Makes a place for the uses of an object.
    fn make_place(&mut self, object: Object) {
        let object = object as usize;
        if object >= self.uses.len() {
            self.uses.resize_with(object + 1, Vec::new);
        }
    }

    /// Makes room for a thread. Clocks get wider, which happens a few times in a search.
    fn make_room(&mut self, thread: usize) {
        if thread < self.width {
            return;
        }
        let width = (thread + 1).next_power_of_two().max(4);
        if self.entries.is_empty() {
            self.entries.reserve(SHORT);
        }
        let mut clocks = Vec::with_capacity(self.entries.capacity() * width);
        for row in self.clocks.chunks_exact(self.width.max(1)) {
            clocks.extend_from_slice(row);
            clocks.resize(clocks.len() + width - row.len(), 0);
        }
        self.clocks = clocks;
        self.width = width;
        self.last.resize(width, NOWHERE);
        self.counts.resize(width, 0);
    }
}
