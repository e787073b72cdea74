//! T's side of the grid: its events and what each asks of the columns, kept so that the last event can be taken back.
//!
//! Row i of the grid is "T has done i events", step i is "T does its event i", from row i to row i + 1. None of this
//! depends on how far T' goes; what does (the x-live blocks of T') is put together in [`super::lane`].

use super::interference::{Interference, NONE, index};
use crate::log::{LockMode, Object, Op, TEvent};

/// One event of T.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub(super) event: TEvent,
    /// The columns at which T may take the step: `low..=high`.
    pub(super) low: u32,
    pub(super) high: u32,
    /// The object that is written, `NONE` if none is.
    pub(super) writes: Object,
    /// How much of T' must have happened for T to come past this event and all before it.
    must: u32,
    /// Whether some event up to here is one that no column allows.
    impossible: bool,
    /// What was known of the object before.
    before: Access,
    /// The `high` of T's latest write to the object before, when this event lowered it.
    high_before: u32,
}

/// What T did last with an object.
#[derive(Clone, Copy, Debug, Default)]
struct Access {
    /// The execution that this belongs to.
    run: u64,
    /// The row right after T's latest access: from there on T waits for its next read.
    next: u32,
    /// The row right after T's latest own write, 0 if there is none.
    written: u32,
}

/// The events of T so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Track {
    events: Vec<Event>,
    /// Per row, in words: columns at which T' is in a block that excludes one which T is in.
    forbidden: Vec<u64>,
    /// Per row, in words: steps of T' that would break an x-live block which T is in.
    blocked: Vec<u64>,
    /// Locks that T holds.
    held: Vec<(Object, LockMode)>,
    access: Vec<Access>,
    run: u64,
}

impl Track {
    /// Forgets all events.
    pub(super) fn clear(&mut self, words: usize) {
        self.events.clear();
        self.held.clear();
        self.run += 1;
        self.forbidden.clear();
        self.forbidden.resize(words, 0);
        self.blocked.clear();
        self.blocked.resize(words, 0);
    }

    pub(super) fn len(&self) -> usize {
        self.events.len()
    }

    pub(super) fn event(&self, at: usize) -> &Event {
        &self.events[at]
    }

    pub(super) fn forbidden(&self) -> &[u64] {
        &self.forbidden
    }

    pub(super) fn blocked(&self) -> &[u64] {
        &self.blocked
    }

    /// How much of T' must have happened.
    pub(super) fn must(&self) -> u32 {
        self.events.last().map_or(0, |last| last.must)
    }

    /// Whether some event is one that no column allows.
    pub(super) fn impossible(&self) -> bool {
        self.events.last().is_some_and(|last| last.impossible)
    }

    /// Appends an event. Rows from the returned one on are no longer what they were.
    pub(super) fn push(&mut self, u: &Interference, event: TEvent) -> usize {
        let at = self.events.len();
        let words = u.words();
        let n = index(u.len());
        let (low, high) = columns(u, event);
        let object = accessed(event.op);
        let before = object.map_or(Access::default(), |x| self.access(x));
        let mut row = Event {
            event,
            low,
            high,
            writes: event.op.writes().unwrap_or(NONE),
            must: self.must().max(low.min(n)),
            impossible: self.impossible() || low > high,
            before,
            high_before: NONE,
        };
        self.forbidden.extend_from_within(at * words..);
        self.blocked.resize((at + 2) * words, 0);
        let mut dirty = at + 1;
        if let Some(x) = object {
            if event.source.is_some() {
                if before.written > 0 {
                    // T's own write must not fall between the paired write and this read.
                    let write = &mut self.events[before.written as usize - 1];
                    row.high_before = write.high;
                    if low - 1 < write.high {
                        write.high = low - 1;
                        dirty = before.written as usize;
                    }
                }
            } else if event.op.reads().is_some() && self.flip(u, x, before.next as usize, at) {
                dirty = before.next as usize;
            }
            let next = index(at + 1);
            self.access[x as usize] = Access {
                run: self.run,
                next,
                written: if event.op.writes().is_some() {
                    next
                } else {
                    before.written
                },
            };
        }
        match event.op {
            Op::Acquire(lock, mode) => {
                self.held.push((lock, mode));
                self.forbid(u, at + 1, lock, mode);
            }
            Op::Release(lock, mode) => {
                self.unhold(lock, mode);
                self.forbidden[(at + 1) * words..].fill(0);
                for held in 0..self.held.len() {
                    let (lock, mode) = self.held[held];
                    self.forbid(u, at + 1, lock, mode);
                }
            }
            _ => {}
        }
        self.events.push(row);
        dirty
    }

    /// Takes the last event back. Rows from the returned one on are no longer what they were.
    pub(super) fn pop(&mut self, u: &Interference) -> Option<usize> {
        let row = self.events.pop()?;
        let at = self.events.len();
        let words = u.words();
        let mut dirty = at + 1;
        self.forbidden.truncate((at + 1) * words);
        self.blocked.truncate((at + 1) * words);
        if let Some(x) = accessed(row.event.op) {
            if row.event.source.is_some() {
                if row.high_before != NONE {
                    let write = row.before.written as usize;
                    if self.events[write - 1].high != row.high_before {
                        self.events[write - 1].high = row.high_before;
                        dirty = write;
                    }
                }
            } else if row.event.op.reads().is_some()
                && self.flip(u, x, row.before.next as usize, at)
            {
                dirty = row.before.next as usize;
            }
            self.access[x as usize] = row.before;
        }
        match row.event.op {
            Op::Acquire(lock, mode) => self.unhold(lock, mode),
            Op::Release(lock, mode) => self.held.push((lock, mode)),
            _ => {}
        }
        Some(dirty)
    }

    fn access(&mut self, x: Object) -> Access {
        if x as usize >= self.access.len() {
            self.access.resize(x as usize + 1, Access::default());
        }
        let access = self.access[x as usize];
        if access.run == self.run {
            access
        } else {
            Access {
                run: self.run,
                ..Access::default()
            }
        }
    }

    /// Keeps T' from writing x, or lets it again, in the rows `first..=last`: no two x-live blocks of one object have
    /// a row in common, and no two objects a step. Says whether T' writes x at all.
    fn flip(&mut self, u: &Interference, x: Object, first: usize, last: usize) -> bool {
        let Some(writes) = u.writes(x) else {
            return false;
        };
        if writes.iter().all(|&word| word == 0) {
            return false;
        }
        let words = u.words();
        for row in self.blocked[first * words..(last + 1) * words].chunks_exact_mut(words) {
            for (blocked, writes) in row.iter_mut().zip(writes) {
                *blocked ^= writes;
            }
        }
        true
    }

    fn unhold(&mut self, lock: Object, mode: LockMode) {
        let held = self.held.iter().rposition(|&held| held == (lock, mode));
        debug_assert!(held.is_some(), "T does not hold {lock} ({mode:?})");
        if let Some(at) = held {
            self.held.swap_remove(at);
        }
    }

    fn forbid(&mut self, u: &Interference, row: usize, lock: Object, mode: LockMode) {
        if let Some(inside) = u.excluding(lock, mode) {
            let words = u.words();
            for (forbidden, inside) in self.forbidden[row * words..].iter_mut().zip(inside) {
                *forbidden |= inside;
            }
        }
    }
}

/// The object whose value the event reads or writes. A failed attempt to take a lock looks at no value.
fn accessed(op: Op) -> Option<Object> {
    match op {
        Op::Read(x) | Op::Write(x) | Op::Update(x) => Some(x),
        _ => None,
    }
}

/// The columns at which T may take the step, as far as the event alone decides. Empty (`low > high`) when its source is
/// none that the event can have.
fn columns(u: &Interference, event: TEvent) -> (u32, u32) {
    let n = index(u.len());
    let Some(source) = event.source else {
        return if event.op == Op::Join { (n, n) } else { (0, n) };
    };
    let fits = u
        .ops()
        .get(source as usize)
        .is_some_and(|&paired| match (event.op, paired) {
            (Op::Read(x) | Op::Update(x), Op::Write(y) | Op::Update(y)) => x == y,
            (Op::TryFail(x, mode), Op::Acquire(y, other)) => x == y && mode.excludes(other),
            _ => false,
        });
    if fits {
        (source + 1, u.until(source))
    } else {
        (1, 0)
    }
}
