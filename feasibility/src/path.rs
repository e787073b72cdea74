//! One interleaving of what T has done so far, kept as T goes on.
//!
//! The interleaving is a path through the grid (see [`crate::grid`]) that goes on to the right, that is lets T' do an
//! event, as late as possible: right before an event of T that requires more of T'. As long as there is such a path,
//! the log is feasible. Checking whether the path goes on takes a few operations on words, and no row of the grid.
//! Where the path ends, it often shows as quickly that no other path goes on. What the path can't decide, the grid
//! decides.
//!
//! Used only for logs of T' whose columns fit into a word.

mod two;

pub(super) use two::Paths;

use crate::bits::index;
use crate::interference::{Interference, Word};
use crate::log::{LockMode, Object, Op, TEvent};
use crate::track::columns;

/// The number of locks for which there is room at first.
const ROOM: usize = 16;

/// The most events of T in a path that is tried again with T' further on at one of these events.
const AGAIN: usize = 64;

/// An object: what T' does with it, and where the path was when T last did something with it, as columns.
#[derive(Clone, Copy, Debug)]
struct Seat {
    word: Word,
    places: Places,
}

#[derive(Clone, Copy, Debug, Default)]
struct Places {
    /// The path's column at T's latest access.
    at: u8,
    /// The path's column at T's latest own write.
    written: u8,
    /// The least number of events that T' had done at T's latest own write, on any path.
    after: u8,
    /// The step from which on T' had done none of its writes to the object at T's latest access, on any path.
    fresh: u8,
}

/// What becomes of the path when T does one more event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    /// The path goes on. Holds the column at which T does its event, and the last column at which T could.
    At(u32, u32),
    /// No path goes on.
    Impossible,
    /// Another path may go on.
    Unknown,
}

/// The path.
#[derive(Clone, Debug, Default)]
struct Path {
    /// Whether there is a path: the columns fit into a word.
    on: bool,
    /// Whether events that the path goes through have been taken back.
    stale: bool,
    /// Whether no path goes further than this one, if T's log does.
    ends: bool,
    /// The number of events of T that the path goes through.
    len: usize,
    /// The column at which T' is.
    column: u32,
    /// The least column at which T' must be, on any path.
    must: u32,
    /// The columns, as bits, at which T' is in a block that excludes one which T is in.
    forbidden: u64,
    /// The steps of T', as bits, that would see what T wrote.
    spoilt: u64,
    /// The locks that T holds.
    held: Vec<(Object, LockMode)>,
    /// The index of T's event that took the first of the held locks.
    opened: usize,
    /// An event of T, and the least column to which T' goes on before that event.
    ahead: (usize, u32),
    /// The objects by number: all that T' uses, and some that T' does not use.
    seats: Vec<Seat>,
    /// The number of events of T'.
    last: u32,
    /// A non-local read of T that can come next.
    promise: Promise,
}

/// What [`Path::look`] has returned for a non-local read that may be, and mostly is, T's next event.
#[derive(Clone, Copy, Debug)]
struct Promise {
    /// The read's index among T's events.
    event: usize,
    source: u32,
    /// The column at which T does the read: see [`Look::At`].
    column: u32,
    high: u32,
}

impl Default for Promise {
    #[inline]
    fn default() -> Self {
        Self {
            event: usize::MAX,
            source: 0,
            column: 0,
            high: 0,
        }
    }
}

/// The value of [`Path::ahead`] where T' need not go on early.
const NOWHERE: (usize, u32) = (usize::MAX, 0);

/// The bits `from..to`, both below 64.
#[inline(always)]
const fn span(from: u32, to: u32) -> u64 {
    ((1 << to) - 1) & u64::MAX << from
}

impl Path {
    /// Resets the path to no events. `other` says whether T' has another log.
    #[inline]
    fn clear(&mut self, u: &Interference, other: bool) {
        if !other && self.len == 0 && !self.stale && !self.ends && self.ahead == NOWHERE {
            return;
        }
        if other {
            self.on = u.words() == 1;
            // Here, so that events need no new memory: see `Grid`.
            self.held.reserve(ROOM);
            self.last = index(u.len());
            self.seats.clear();
            if self.on {
                self.seats.extend(u.objects().map(|word| Seat {
                    word,
                    places: Places::default(),
                }));
            }
        }
        self.ahead = NOWHERE;
        self.restart();
    }

    #[inline]
    fn restart(&mut self) {
        self.promise = Promise::default();
        self.stale = false;
        self.ends = false;
        self.len = 0;
        self.column = 0;
        self.must = 0;
        self.forbidden = 0;
        self.spoilt = 0;
        self.held.clear();
        for seat in &mut self.seats {
            seat.places = Places::default();
        }
    }

    /// Goes on with T's next event, number `at`.
    #[inline]
    fn push(&mut self, u: &Interference, op: Op, source: Option<u32>, at: usize) {
        if self.on && self.len == at && !self.stale {
            self.step(u, op, source);
        }
    }

    /// Whether the path goes through all of T's log, which has `events` events.
    #[inline]
    const fn is_of(&self, events: usize) -> bool {
        self.len == events && self.on && !self.stale
    }

    /// Takes T's events from this one on back.
    #[inline]
    fn truncate(&mut self, len: usize) {
        self.stale |= len < self.len;
    }

    #[inline]
    fn refresh(&mut self, u: &Interference, log: &[TEvent]) {
        if self.stale {
            if log.len() <= self.ahead.0 {
                self.ahead = NOWHERE;
            }
            self.restart();
            self.follow(u, log);
        }
    }

    /// Goes on with these events of T, as far as the path can.
    #[inline]
    fn follow(&mut self, u: &Interference, events: &[TEvent]) {
        for &event in events {
            if !self.step(u, event.op, event.source) {
                break;
            }
        }
    }

    /// Where else T' could be before T took the first of its locks, if T's next event requires a place that T' can't go
    /// to: past the blocks of the locks that T holds.
    #[inline]
    fn elsewhere(&self, u: &Interference, event: TEvent) -> Option<(usize, u32)> {
        if event.source.is_none() || self.held.is_empty() || self.len > AGAIN {
            return None;
        }
        let (low, high) = self.columns(u, event);
        let column = low + (self.forbidden >> low).trailing_ones();
        let ahead = (self.opened, column);
        (column <= high && self.ahead != ahead).then_some(ahead)
    }

    /// Goes on with one event of T. Returns whether the path goes on.
    #[inline]
    fn step(&mut self, u: &Interference, op: Op, source: Option<u32>) -> bool {
        if source.is_none() && self.ahead.0 != self.len && self.stays(op) {
            self.len += 1;
            return true;
        }
        self.step_slowly(u, op, source)
    }

    #[inline]
    fn step_slowly(&mut self, u: &Interference, op: Op, source: Option<u32>) -> bool {
        let event = TEvent { op, source };
        let Promise {
            event: number,
            source: read,
            column,
            high,
        } = self.promise;
        let look = if number == self.len && source == Some(read) {
            Look::At(column, high)
        } else {
            self.look(u, event)
        };
        match look {
            Look::At(column, high) => {
                self.go_on(event, column, high);
                true
            }
            look => {
                self.ends = look == Look::Impossible;
                false
            }
        }
    }

    /// Does a local event of T where T' is, if that is possible: what [`Self::look`] and [`Self::go_on`] do then.
    #[inline]
    fn stays(&mut self, op: Op) -> bool {
        let (column, must) = (self.column, self.must);
        match op {
            Op::Read(x) => {
                if let Some(seat) = self.seats.get_mut(x as usize) {
                    if seat.word.writes() & span(u32::from(seat.places.at), column) != 0 {
                        return false;
                    }
                    seat.places.at = column as u8;
                }
            }
            Op::Update(x) => {
                if let Some(seat) = self.seats.get_mut(x as usize) {
                    if seat.word.writes() & span(u32::from(seat.places.at), column) != 0 {
                        return false;
                    }
                    self.spoilt |= seat.write(column, must);
                }
            }
            Op::Write(x) => self.write(x, column),
            Op::Acquire(lock, mode) => {
                let inside = self.inside(lock, mode);
                if inside >> column & 1 == 1 {
                    return false;
                }
                self.acquire(lock, mode, inside);
            }
            Op::Release(lock, mode) => self.release(lock, mode),
            Op::TryFail(..) | Op::Join => return false,
        }
        true
    }

    /// The columns at which T may do the event, as far as the event alone decides; empty (`low > high`) where the
    /// event's source can't be its source.
    #[inline]
    fn columns(&self, u: &Interference, event: TEvent) -> (u32, u32) {
        match (event.source, event.op) {
            (None, Op::Join) => (self.last, self.last),
            (None, _) => (0, self.last),
            (Some(source), Op::Read(x) | Op::Update(x)) => {
                let seat = self.seats.get(x as usize);
                let writes = seat.map_or(0, |seat| seat.word.writes());
                if source >= self.last || writes >> source & 1 == 0 {
                    return (1, 0);
                }
                let next = writes & u64::MAX << source << 1;
                (source + 1, next.trailing_zeros().min(self.last))
            }
            (Some(_), _) => columns(u, event),
        }
    }

    /// Whether T' can go on from its column to this one.
    #[inline]
    fn lets_move(&self, column: u32) -> bool {
        let steps = span(self.column, column);
        steps & self.spoilt == 0 && steps << 1 & self.forbidden == 0
    }

    /// The columns, as bits, at which T' is in a block that excludes one of T's blocks.
    #[inline]
    fn inside(&self, lock: Object, mode: LockMode) -> u64 {
        let seat = self.seats.get(lock as usize);
        seat.map_or(0, |seat| seat.word.excluding(mode))
    }

    #[inline]
    fn acquire(&mut self, lock: Object, mode: LockMode, inside: u64) {
        if self.held.is_empty() {
            self.opened = self.len;
        }
        self.held.push((lock, mode));
        self.forbidden |= inside;
    }

    #[inline]
    fn release(&mut self, lock: Object, mode: LockMode) {
        let held = self.held.iter().rposition(|&held| held == (lock, mode));
        if let Some(held) = held {
            self.held.swap_remove(held);
        }
        if self.forbidden != 0 {
            let inside = |&(lock, mode): &(Object, LockMode)| self.inside(lock, mode);
            self.forbidden = self.held.iter().map(inside).fold(0, |all, one| all | one);
        }
    }

    /// T writes an object at this column.
    #[inline]
    fn write(&mut self, x: Object, column: u32) {
        if let Some(seat) = self.seats.get_mut(x as usize) {
            seat.places.fresh = self.last as u8;
            self.spoilt |= seat.write(column, self.must);
        }
    }

    #[inline]
    fn look(&self, u: &Interference, event: TEvent) -> Look {
        let (low, high) = self.columns(u, event);
        if high < low.max(self.must) {
            return Look::Impossible;
        }
        let mut column = self.column.max(low);
        if self.ahead.0 == self.len {
            column = column.max(self.ahead.1);
        }
        match event.op {
            Op::Read(x) | Op::Update(x) => {
                if let Some(Seat { word, places }) = self.seats.get(x as usize) {
                    if let Some(source) = event.source {
                        // T's own write must not fall between the paired write and this read.
                        if u32::from(places.written) > source {
                            return if u32::from(places.after) > source {
                                Look::Impossible
                            } else {
                                Look::Unknown
                            };
                        }
                    } else if word.writes() & span(u32::from(places.at), column) != 0 {
                        // T' has written the object since T's latest access.
                        let unseen = word.writes() & span(u32::from(places.fresh), self.must);
                        return if unseen == 0 {
                            Look::Unknown
                        } else {
                            Look::Impossible
                        };
                    }
                }
            }
            Op::Acquire(lock, mode) => {
                // T waits until T' is past its block.
                column += (self.inside(lock, mode) >> column).trailing_ones();
            }
            Op::Write(_) | Op::Release(..) | Op::TryFail(..) | Op::Join => {}
        }
        if column > high || column > self.column && !self.lets_move(column) {
            return Look::Unknown;
        }
        Look::At(column, high)
    }

    /// Whether a path goes on with this event, as far as the path can decide that.
    #[inline]
    fn look_ahead(&mut self, u: &Interference, event: TEvent) -> Option<bool> {
        match self.look(u, event) {
            Look::At(column, high) => {
                if let Some(source) = event.source {
                    self.promise = Promise {
                        event: self.len,
                        source,
                        column,
                        high,
                    };
                }
                Some(true)
            }
            Look::Impossible => Some(false),
            Look::Unknown => None,
        }
    }

    #[inline]
    fn go_on(&mut self, event: TEvent, column: u32, high: u32) {
        self.column = column;
        if let Some(source) = event.source {
            self.must = self.must.max(source + 1);
        }
        let must = self.must;
        match event.op {
            Op::Read(x) => {
                if let Some(seat) = self.seats.get_mut(x as usize) {
                    seat.places.at = column as u8;
                    if event.source.is_some() {
                        seat.places.fresh = high as u8;
                    }
                }
            }
            Op::Update(x) => {
                if let Some(seat) = self.seats.get_mut(x as usize) {
                    if event.source.is_some() {
                        seat.places.fresh = high as u8;
                    }
                    self.spoilt |= seat.write(column, must);
                }
            }
            Op::Write(x) => self.write(x, column),
            Op::Acquire(lock, mode) => {
                let inside = self.inside(lock, mode);
                self.acquire(lock, mode, inside);
            }
            Op::Release(lock, mode) => self.release(lock, mode),
            Op::Join => self.must = self.last,
            Op::TryFail(..) => {}
        }
        self.len += 1;
    }
}

impl Seat {
    /// T writes the object at this column, which no path does before column `must`. Returns the step of T', as a bit,
    /// that would see this write, if there is one.
    #[inline]
    fn write(&mut self, column: u32, must: u32) -> u64 {
        self.places.after = must as u8;
        (self.places.at, self.places.written) = (column as u8, column as u8);
        if self.word.live() >> column & 1 == 0 {
            return 0;
        }
        // The next operation of T' on the object is this read.
        let reads = self.word.reads() & u64::MAX << column;
        reads & reads.wrapping_neg()
    }
}
