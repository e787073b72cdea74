//! T's side of the grid: its events and what each event requires of the columns, kept so that the last event can be
//! taken back.
//!
//! Row i of the grid is "T has done i events", step i is "T does its event i", from row i to row i + 1. The track does
//! not depend on how far T' goes. What does depend on it (the x-live blocks of T') is in [`crate::lane`].

use crate::bits::{NONE, by_width, index};
use crate::interference::{Interference, Slot};
use crate::log::{LockMode, Object, Op, TEvent};

/// The number of bit rows for each row of the grid.
const ROWS: usize = 3;
const FORBIDDEN: usize = 0;
const BLOCKED: usize = 1;
const CHANGE: usize = 2;

/// One event of T.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    event: TEvent,
    /// The columns at which T may take the step: `low..=high`.
    pub(super) low: u32,
    pub(super) high: u32,
    /// The slot of the object that is written, 0 if none is.
    pub(super) writes: Slot,
    /// The number of events of T' that must have happened for T to come past this event and all before it; [`NONE`] if
    /// no column allows one of these events.
    must: u32,
    /// What was known of the object before.
    before: Access,
    /// The `high` of T's latest write to the object before, when this event may have lowered it.
    high_before: u32,
}

/// What T did last with an object.
#[derive(Clone, Copy, Debug, Default)]
struct Access {
    /// The row right after T's latest access: from there on T waits for its next read.
    next: u32,
    /// The row right after T's latest own write, 0 if there is none.
    written: u32,
}

/// The events of T so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Track {
    events: Vec<Event>,
    /// Three bit rows per row of the grid: columns at which T' is in a block that excludes one which T is in; steps of
    /// T' that would break an x-live block which T is in; and how those differ from the row above. Longer than needed.
    rows: Vec<u64>,
    /// The row of the grid below which the second bit row (the blocked steps) is up to date.
    settled: usize,
    /// The locks that T holds.
    held: Vec<(Object, LockMode)>,
    /// What T did last, per slot of T'. Objects that T' does not use need no entry.
    access: Vec<Access>,
}

impl Track {
    /// Forgets all events.
    pub(super) fn clear(&mut self, u: &Interference) {
        self.events.clear();
        self.held.clear();
        self.access.resize(u.slots(), Access::default());
        for access in &mut self.access {
            *access = Access::default();
        }
        let words = ROWS * u.words();
        if self.rows.len() < words {
            self.rows.resize(words, 0);
        }
        self.rows[..words].fill(0);
        self.settled = 1;
    }

    pub(super) fn len(&self) -> usize {
        self.events.len()
    }

    pub(super) fn event(&self, at: usize) -> &Event {
        &self.events[at]
    }

    /// The columns forbidden in a row of the grid.
    #[inline(always)]
    pub(super) fn forbidden(&self, row: usize, words: usize) -> &[u64] {
        &self.rows[(row * ROWS + FORBIDDEN) * words..][..words]
    }

    /// The steps blocked in a row of the grid, given that it is settled.
    #[inline(always)]
    pub(super) fn blocked(&self, row: usize, words: usize) -> &[u64] {
        debug_assert!(row < self.settled, "row {row} of {}", self.settled);
        &self.rows[(row * ROWS + BLOCKED) * words..][..words]
    }

    /// Rows of one word: from a row of the grid on, each with the event that leads to it, up to row `last`. Row 0, to
    /// which no event leads, must not be among them.
    #[inline(always)]
    pub(super) fn one(&self, from: usize, last: usize) -> impl Iterator<Item = (&Event, u64, u64)> {
        let events = &self.events[from - 1..last];
        let rows = &self.rows.as_chunks::<ROWS>().0[from..=last];
        events
            .iter()
            .zip(rows)
            .map(|(event, row)| (event, row[FORBIDDEN], row[BLOCKED]))
    }

    /// Brings the blocked steps of all rows up to date.
    #[inline]
    pub(super) fn settle(&mut self, u: &Interference) {
        if self.settled <= self.events.len() {
            self.settle_rest(u);
        }
    }

    fn settle_rest(&mut self, u: &Interference) {
        let (from, last) = (self.settled, self.events.len());
        self.settled = last + 1;
        if u.words() == 1 {
            let rows = &mut self.rows.as_chunks_mut::<ROWS>().0[from - 1..=last];
            let mut blocked = rows[0][BLOCKED];
            for row in &mut rows[1..] {
                blocked ^= row[CHANGE];
                row[BLOCKED] = blocked;
            }
            return;
        }
        by_width!(u.words(), |words| {
            let rows = &mut self.rows[(from - 1) * ROWS * words..(last + 1) * ROWS * words];
            let (mut above, mut below) = rows.split_at_mut(ROWS * words);
            while !below.is_empty() {
                let (row, rest) = below.split_at_mut(ROWS * words);
                for word in 0..words {
                    row[BLOCKED * words + word] =
                        above[BLOCKED * words + word] ^ row[CHANGE * words + word];
                }
                (above, below) = (row, rest);
            }
        });
    }

    /// The number of events of T' that must have happened; [`NONE`] if no number is enough.
    #[inline]
    pub(super) fn must(&self) -> u32 {
        self.events.last().map_or(0, |last| last.must)
    }

    /// The row right after T's latest own write to the object, 0 if there is none.
    pub(super) fn written(&self, slot: Slot) -> usize {
        self.access[slot as usize].written as usize
    }

    /// Appends an event. Rows from the returned one on are out of date.
    pub(super) fn push(&mut self, u: &Interference, event: TEvent) -> usize {
        match u.words() {
            1 => self.append::<1>(u, event),
            2 => self.append::<2>(u, event),
            _ => self.append::<0>(u, event),
        }
    }

    /// `WORDS` is the number of words in a row if it is a usual one, else 0.
    fn append<const WORDS: usize>(&mut self, u: &Interference, event: TEvent) -> usize {
        let words = if WORDS == 0 { u.words() } else { WORDS };
        let at = self.events.len();
        self.add_row(at, words);
        let mut row = Event {
            event,
            low: 0,
            high: index(u.len()),
            writes: 0,
            must: self.must(),
            before: Access::default(),
            high_before: NONE,
        };
        let mut dirty = at + 1;
        if event.source.is_some() {
            restrict(u, &mut row);
        }
        let next = index(at + 1);
        match event.op {
            Op::Read(x) => {
                let slot = u.slot(x);
                dirty = self.read(u, slot, at, &mut row, words);
                self.access[slot as usize].next = next;
            }
            Op::Update(x) => {
                let slot = u.slot(x);
                dirty = self.read(u, slot, at, &mut row, words);
                row.writes = slot;
                self.access[slot as usize] = Access {
                    next,
                    written: next,
                };
            }
            Op::Write(x) => {
                let slot = u.slot(x);
                row.before = self.access[slot as usize];
                row.writes = slot;
                self.access[slot as usize] = Access {
                    next,
                    written: next,
                };
            }
            Op::Acquire(lock, mode) => {
                self.held.push((lock, mode));
                self.forbid(u, at + 1, lock, mode, words);
            }
            Op::Release(lock, mode) => {
                self.leave(lock, mode);
                self.rows[((at + 1) * ROWS + FORBIDDEN) * words..][..words].fill(0);
                for held in 0..self.held.len() {
                    let (lock, mode) = self.held[held];
                    self.forbid(u, at + 1, lock, mode, words);
                }
            }
            Op::Join => restrict(u, &mut row),
            Op::TryFail(..) => {}
        }
        self.events.push(row);
        dirty
    }

    /// Takes the last event back. Rows from the returned one on are out of date.
    pub(super) fn pop(&mut self, u: &Interference) -> Option<usize> {
        let row = self.events.pop()?;
        Some(by_width!(u.words(), |words| self.take_back(u, &row, words)))
    }

    #[inline(always)]
    fn take_back(&mut self, u: &Interference, row: &Event, words: usize) -> usize {
        let at = self.events.len();
        let mut dirty = at + 1;
        self.settled = self.settled.min(at + 1);
        match row.event.op {
            Op::Read(x) | Op::Update(x) => {
                let slot = u.slot(x);
                if row.event.source.is_none() {
                    dirty = self.flip(u, slot, row.before.next as usize, at, words);
                } else if row.high_before != NONE {
                    dirty = row.before.written as usize;
                    self.events[dirty - 1].high = row.high_before;
                }
                self.access[slot as usize] = row.before;
            }
            Op::Write(x) => self.access[u.slot(x) as usize] = row.before,
            Op::Acquire(lock, mode) => self.leave(lock, mode),
            Op::Release(lock, mode) => self.held.push((lock, mode)),
            Op::TryFail(..) | Op::Join => {}
        }
        dirty
    }

    /// The row below `at`: T is in the same lock blocks, and in no x-live block that a read has shown yet.
    #[inline(always)]
    fn add_row(&mut self, at: usize, words: usize) {
        let next = (at + 1) * ROWS * words;
        if self.rows.len() < next + ROWS * words {
            self.rows.resize(2 * (next + ROWS * words), 0);
        }
        let (above, below) = self.rows.split_at_mut(next);
        let above = &above[next - ROWS * words..];
        below[FORBIDDEN * words..][..words].copy_from_slice(&above[FORBIDDEN * words..][..words]);
        below[CHANGE * words..][..words].fill(0);
    }

    #[inline(always)]
    fn read(
        &mut self,
        u: &Interference,
        slot: Slot,
        at: usize,
        row: &mut Event,
        words: usize,
    ) -> usize {
        row.before = self.access[slot as usize];
        if row.event.source.is_none() {
            return self.flip(u, slot, row.before.next as usize, at, words);
        }
        let written = row.before.written as usize;
        if written > 0 {
            // T's own write must not fall between the paired write and this read.
            let write = &mut self.events[written - 1];
            row.high_before = write.high;
            write.high = write.high.min(row.low - 1);
            return written;
        }
        at + 1
    }

    /// Keeps T' from writing the object, or lets T' write again, in the rows `first..=last`: no two x-live blocks of
    /// one object have a row in common, and no two objects a step. Returns the first row that is changed.
    #[inline(always)]
    fn flip(
        &mut self,
        u: &Interference,
        slot: Slot,
        first: usize,
        last: usize,
        words: usize,
    ) -> usize {
        let writes = &u.writes(slot)[..words];
        if writes.iter().all(|&word| word == 0) {
            return last + 1;
        }
        for row in [first, last + 1] {
            // Row 0 has no row above it to differ from.
            let kind = if row == 0 { BLOCKED } else { CHANGE };
            let row = &mut self.rows[(row * ROWS + kind) * words..][..words];
            for word in 0..words {
                row[word] ^= writes[word];
            }
        }
        self.settled = self.settled.min(first.max(1));
        first
    }

    fn leave(&mut self, lock: Object, mode: LockMode) {
        let held = self.held.iter().rposition(|&held| held == (lock, mode));
        debug_assert!(held.is_some(), "T does not hold {lock} ({mode:?})");
        if let Some(at) = held {
            self.held.swap_remove(at);
        }
    }

    #[inline(always)]
    fn forbid(&mut self, u: &Interference, row: usize, lock: Object, mode: LockMode, words: usize) {
        let inside = &u.excluding(u.slot(lock), mode)[..words];
        let forbidden = &mut self.rows[(row * ROWS + FORBIDDEN) * words..][..words];
        for word in 0..words {
            forbidden[word] |= inside[word];
        }
    }
}

#[inline(never)]
fn restrict(u: &Interference, row: &mut Event) {
    (row.low, row.high) = columns(u, row.event);
    row.must = if row.low > row.high {
        NONE
    } else {
        row.must.max(row.low)
    };
}

/// The columns at which T may take the step, as far as the event alone decides. Empty (`low > high`) when the event
/// can't have its source.
pub(super) fn columns(u: &Interference, event: TEvent) -> (u32, u32) {
    let Some(source) = event.source else {
        return (index(u.len()), index(u.len()));
    };
    let paired = u.ops().get(source as usize).copied();
    match (event.op, paired) {
        (Op::Read(x) | Op::Update(x), Some(Op::Write(y) | Op::Update(y))) if x == y => {
            (source + 1, u.overwritten(u.slot(x), source))
        }
        (Op::TryFail(x, mode), Some(Op::Acquire(y, other))) if x == y && mode.excludes(other) => {
            (source + 1, u.closed(source))
        }
        _ => (1, 0),
    }
}
