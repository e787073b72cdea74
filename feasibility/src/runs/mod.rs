//! The grid in runs of columns, for logs of T' of any length.
//!
//! A row says of each column whether T' can be there, and how far T' can come from there: where T has written an object
//! that T' is still to read as T' wrote it, T' stops before that read. Of several ways to a column, the way from which
//! T' comes further is always the better one. So there is one grid for all prefixes of T', and the log is feasible when
//! the last row has any column.
//!
//! Threads that run for long mostly do the same again and again, and then rows do not change any more, or alternate. So
//! each row is kept once and has a number, and the row that follows from a row and an event is remembered: an event
//! costs the same, however long the log is. With a bit per column, a row would cost T an operation for each 64 events
//! of T'.

mod interned;
mod other;
mod row;
mod states;

use crate::Step;
use crate::bits::{NONE, holds, index};
use crate::interference::Interference;
use crate::log::{LockMode, Object, Op, TEvent};
use crate::witness::walk_back;
use interned::{Interned, Map};
use other::{Other, Span};
use row::{Making, Run};
use states::{FEW, Inside, States, Toggles};

/// The most runs and words that are kept. Beyond, all are forgotten.
const MOST: usize = 16 << 20;

/// The cost of a row that has not come up before, beside its runs, each of which costs 1.
const NEW: usize = 32;
/// The cost of a row of bits, beside its words, of which [`WORDS`] cost 1.
const BITS: usize = 8;
const WORDS: usize = 4;
/// The cost that may be spent on a log of T' before the runs pay off; [`EACH`] is the cost that may be spent for each
/// event of that log.
const FIRST: usize = 1_000;
const EACH: usize = 64;

/// One event of T.
#[derive(Clone, Copy, Debug)]
struct Done {
    event: TEvent,
    /// The columns at which T may do the event: `low..=high`.
    low: u32,
    high: u32,
    /// The number of the set of locks that T holds at the event.
    held: u32,
    /// What was known of the object before.
    before: Access,
    /// The `high` of T's latest write to the object before, where this event may have lowered it.
    high_before: u32,
}

/// What T did last with an object.
#[derive(Clone, Copy, Debug, Default)]
struct Access {
    /// The row right after T's latest access.
    next: u32,
    /// The row right after T's latest own write, 0 if there is none.
    written: u32,
    /// Whether the value that T found or left there is one that T' wrote.
    foreign: bool,
}

/// What becomes of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Change {
    row: u32,
    low: u32,
    high: u32,
    what: What,
    stops: u32,
}

/// What T does, as far as columns depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum What {
    Nothing,
    Writes(Object),
    Takes(Object, bool),
}

/// What becomes of the columns at which an object has a value that T' wrote after T.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Foreign {
    /// T's event, which is none right after T's access.
    change: Change,
    /// The number of the whole row.
    all: u32,
    x: Object,
}

/// What the rows of one log of T' have in common, whatever T does.
#[derive(Clone, Debug, Default)]
struct Known {
    other: Other,
    states: States,
    rows: Interned<Run>,
    changes: Map<Change, u32>,
    foreign: Map<Foreign, u32>,
    /// The cost so far of rows that had not come up before; `allowed` is the cost that may be spent on such rows.
    spent: usize,
    allowed: usize,
}

/// The grid.
#[derive(Clone, Debug, Default)]
pub(super) struct Runs {
    known: Known,
    /// Whether T' has another log than the known one.
    other_log: bool,
    /// Whether the fields below are those of this execution.
    ready: bool,
    /// The number of T's events that have been put in or left out.
    fed: usize,
    /// The indices of T's events that are here. The other events are of objects that T' does not use, and change no
    /// row.
    kept: Vec<u32>,
    done: Vec<Done>,
    access: Vec<Access>,
    toggles: Toggles,
    /// Per row: the blocks that T is inside of, and the number of its stops. Entries below `settled` are up to date.
    inside: Vec<(Inside, u32)>,
    settled: usize,
    /// The numbers of the rows. Entries below `clean` are up to date.
    rows: Vec<u32>,
    clean: usize,
}

/// The number of the empty row.
const EMPTY: u32 = 0;

impl Known {
    fn new(ops: &[Op]) -> Self {
        let other = Other::new(ops);
        let mut rows = Interned::default();
        rows.number(&[]);
        Self {
            states: States::new(other.last),
            other,
            rows,
            changes: Map::default(),
            foreign: Map::default(),
            spent: 0,
            allowed: FIRST + EACH * ops.len(),
        }
    }

    fn size(&self) -> usize {
        self.rows.size() + self.states.size() + self.changes.len() + self.foreign.len()
    }

    /// The columns of a row at which T can do its event.
    fn entry(&self, change: Change) -> Making {
        let mut some = Making::default();
        row::within(
            self.rows.get(change.row),
            (change.low, change.high),
            &mut some,
        );
        let mut out = Making::default();
        match change.what {
            What::Nothing => return some,
            What::Writes(x) => row::written(&some.0, &self.other.of(x).live, &mut out),
            What::Takes(lock, exclusive) => {
                let mode = if exclusive {
                    LockMode::Exclusive
                } else {
                    LockMode::Shared
                };
                row::outside(&some.0, self.other.of(lock).excluding(mode), &mut out);
            }
        }
        out
    }

    fn flooded(&mut self, columns: &[Run], stops: u32) -> u32 {
        let mut out = Making::default();
        row::flood(columns, self.states.bits(stops), &mut out);
        self.spent += NEW + columns.len() + out.0.len();
        self.rows.number(&out.0)
    }

    fn change(&mut self, change: Change) -> u32 {
        // Twice what bits would have cost.
        self.allowed += 2 * (BITS + self.other.last as usize / 64 / WORDS);
        if let Some(&known) = self.changes.get(&change) {
            return known;
        }
        let entry = self.entry(change);
        let row = self.flooded(&entry.0, change.stops);
        self.changes.insert(change, row);
        row
    }

    fn change_foreign(&mut self, foreign: Foreign) -> u32 {
        if let Some(&known) = self.foreign.get(&foreign) {
            return known;
        }
        let entry = self.entry(foreign.change);
        let stops = foreign.change.stops;
        let (uses, bits) = (self.other.of(foreign.x), self.states.bits(stops));
        let entering = row::entering(self.rows.get(foreign.all), uses, bits);
        let row = self.flooded(&row::with(&entry.0, &entering), stops);
        self.foreign.insert(foreign, row);
        row
    }

    /// The columns at which T may see what T' writes at this step, none (`low > high`) if the step writes no value that
    /// T may see.
    fn window(&self, x: Object, step: u32) -> Span {
        let writes = &self.other.of(x).writes;
        match writes.binary_search(&step) {
            Ok(at) => (
                step + 1,
                writes.get(at + 1).copied().unwrap_or(self.other.last),
            ),
            Err(_) => (1, 0),
        }
    }

    fn holds(&self, row: u32, (low, high): Span) -> bool {
        let runs = self.rows.get(row);
        let at = runs.partition_point(|run| run.high < low);
        low <= high && runs.get(at).is_some_and(|run| run.low <= high)
    }
}

impl Runs {
    /// Starts a new execution. `other` says whether T' has another log. Costs nothing before a check.
    pub(super) const fn restart(&mut self, other: bool) {
        self.other_log |= other;
        self.ready = false;
    }

    /// Takes in all events of T.
    #[inline]
    pub(super) fn feed(&mut self, u: &Interference, log: &[TEvent]) {
        if !self.ready || self.fed < log.len() {
            self.feed_rest(u, log);
        }
    }

    fn feed_rest(&mut self, u: &Interference, log: &[TEvent]) {
        if !self.ready {
            if self.other_log || self.known.size() > MOST {
                self.known = Known::new(u.ops());
                self.other_log = false;
            }
            self.ready = true;
            self.fed = 0;
            self.kept.clear();
            self.done.clear();
            self.access.clear();
            self.toggles.clear();
            self.settled = 0;
            self.clean = 0;
        }
        for (at, &event) in (index(self.fed)..).zip(&log[self.fed..]) {
            if u.concerns(event) {
                self.kept.push(at);
                self.append(u, event);
            }
        }
        self.fed = log.len();
    }

    /// Takes T's events from this one on back.
    pub(super) fn truncate(&mut self, len: usize) {
        self.fed = self.fed.min(len);
        while self.ready && self.kept.last().is_some_and(|&last| last as usize >= len) {
            self.kept.pop();
            self.take_back();
        }
    }

    /// Whether bits would have cost less, as where the threads hardly ever repeat what they did.
    #[inline]
    pub(super) const fn is_losing(&self) -> bool {
        !self.other_log && self.known.spent > self.known.allowed
    }

    /// The indices of T's events that are here.
    pub(super) fn kept(&self) -> &[u32] {
        &self.kept
    }

    fn access(&mut self, x: Object) -> &mut Access {
        let x = x as usize;
        if x >= self.access.len() {
            self.access.resize(x + 1, Access::default());
        }
        &mut self.access[x]
    }

    fn append(&mut self, u: &Interference, event: TEvent) {
        let at = self.done.len();
        self.toggles.resize(at + 2);
        let (low, high) = self.columns(u, event);
        let mut done = Done {
            event,
            low,
            high,
            held: self.done.last().map_or(0, |last| last.held),
            before: Access::default(),
            high_before: NONE,
        };
        let next = index(at + 1);
        match event.op {
            Op::Read(x) | Op::Update(x) => {
                done.before = *self.access(x);
                self.read(x, at, &mut done);
                let writes = event.op.writes().is_some();
                *self.access(x) = Access {
                    next,
                    written: if writes { next } else { done.before.written },
                    foreign: !writes && (event.source.is_some() || done.before.foreign),
                };
            }
            Op::Write(x) => {
                done.before = *self.access(x);
                *self.access(x) = Access {
                    next,
                    written: next,
                    foreign: false,
                };
            }
            Op::Acquire(lock, mode) => done.held = self.known.states.take(done.held, lock, mode),
            Op::Release(lock, mode) => {
                done.held = self.known.states.give_back(done.held, lock, mode);
            }
            Op::TryFail(..) | Op::Join => {}
        }
        self.done.push(done);
        self.settled = self.settled.min(at + 1);
        self.clean = self.clean.min(at + 1);
    }

    fn read(&mut self, x: Object, at: usize, done: &mut Done) {
        if done.event.source.is_none() {
            self.flip(x, done.before.next as usize, at);
        } else if done.before.written > 0 {
            // T's own write must not fall between the paired write and this read.
            let written = done.before.written as usize;
            let write = &mut self.done[written - 1];
            done.high_before = write.high;
            write.high = write.high.min(done.low - 1);
            self.clean = self.clean.min(written);
        }
    }

    /// Puts the rows `first..=last` into an x-live block of T on the object, or takes them out of one.
    fn flip(&mut self, x: Object, first: usize, last: usize) {
        if self.known.other.of(x).writes.is_empty() {
            return;
        }
        self.toggles.add(first, x);
        self.toggles.add(last + 1, x);
        self.settled = self.settled.min(first);
        self.clean = self.clean.min(first);
    }

    /// Takes the last event back.
    fn take_back(&mut self) {
        let Some(done) = self.done.pop() else { return };
        let at = self.done.len();
        match done.event.op {
            Op::Read(x) | Op::Update(x) => {
                if done.event.source.is_none() {
                    self.flip(x, done.before.next as usize, at);
                } else if done.high_before != NONE {
                    let written = done.before.written as usize;
                    self.done[written - 1].high = done.high_before;
                    self.clean = self.clean.min(written);
                }
                *self.access(x) = done.before;
            }
            Op::Write(x) => *self.access(x) = done.before,
            Op::Acquire(..) | Op::Release(..) | Op::TryFail(..) | Op::Join => {}
        }
        self.toggles.resize(at + 1);
        self.settled = self.settled.min(at + 1);
        self.clean = self.clean.min(at + 1);
    }

    /// The columns at which T may do an event, as far as the event alone decides.
    fn columns(&self, u: &Interference, event: TEvent) -> Span {
        match (event.source, event.op) {
            (Some(source), Op::Read(x) | Op::Update(x)) => self.known.window(x, source),
            (None, Op::Join) | (Some(_), _) => super::track::columns(u, event),
            (None, _) => (0, self.known.other.last),
        }
    }

    /// Sees to it that all rows say what T is inside of.
    fn settle(&mut self) {
        let rows = self.done.len() + 1;
        self.inside.truncate(self.settled);
        for row in self.settled..rows {
            let before = row.checked_sub(1).map(|above| self.inside[above]);
            let mut live = before.map_or(0, |(inside, _)| inside.live);
            let (known, toggles) = (&mut self.known, &self.toggles);
            if toggles.of(row).nth(FEW).is_some() {
                live = known.states.toggle_all(live, toggles.of(row), &known.other);
            } else {
                for x in toggles.of(row) {
                    live = known.states.toggle(live, x, known.other.of(x));
                }
            }
            let held = row.checked_sub(1).map_or(0, |event| self.done[event].held);
            let inside = Inside { live, held };
            let stops = match before {
                Some((same, stops)) if same == inside => stops,
                _ => known.states.stops(inside, &known.other),
            };
            self.inside.push((inside, stops));
        }
        self.settled = rows;
    }

    /// What T's event makes of a row, or of some of its columns.
    fn change_by(&self, event: usize, row: u32) -> Change {
        let done = self.done[event];
        let what = match done.event.op {
            Op::Write(x) | Op::Update(x) => What::Writes(x),
            Op::Acquire(lock, mode) => What::Takes(lock, mode == LockMode::Exclusive),
            _ => What::Nothing,
        };
        Change {
            row,
            low: done.low,
            high: done.high,
            what,
            stops: self.inside[event + 1].1,
        }
    }

    /// The number of the last row.
    fn last_row(&mut self) -> u32 {
        let rows = self.done.len() + 1;
        if self.clean < rows || self.settled < rows {
            self.compute();
        }
        self.rows[rows - 1]
    }

    fn compute(&mut self) {
        self.settle();
        let rows = self.done.len() + 1;
        self.rows.truncate(self.clean);
        for row in self.clean..rows {
            let number = match row.checked_sub(1) {
                None => {
                    let first = Run {
                        low: 0,
                        high: 0,
                        top: self.known.other.last,
                    };
                    self.known.flooded(&[first], self.inside[0].1)
                }
                Some(above) => {
                    let change = self.change_by(above, self.rows[above]);
                    self.known.change(change)
                }
            };
            self.rows.push(number);
        }
        self.clean = rows;
    }

    /// The number of the columns of the last row at which T may find a value of the object that T' wrote.
    pub(super) fn foreign(&mut self, x: Object) -> u32 {
        let last = self.last_row();
        let Access {
            next,
            written,
            foreign,
        } = self.access.get(x as usize).copied().unwrap_or_default();
        if written == 0 {
            return last;
        }
        self.foreign_since(x, next as usize, foreign)
    }

    fn foreign_since(&mut self, x: Object, first: usize, foreign: bool) -> u32 {
        let all = self.rows[first];
        let mut row = if foreign {
            all
        } else {
            let change = Change {
                row: EMPTY,
                low: 0,
                high: 0,
                what: What::Nothing,
                stops: self.inside[first].1,
            };
            self.known.change_foreign(Foreign { change, all, x })
        };
        for event in first..self.done.len() {
            let change = self.change_by(event, row);
            let all = self.rows[event + 1];
            row = self.known.change_foreign(Foreign { change, all, x });
        }
        row
    }

    /// Whether T's log is feasible.
    pub(super) fn feasible(&mut self) -> bool {
        self.last_row() != EMPTY
    }

    /// Whether it would be with one more event.
    pub(super) fn would_be_feasible(&mut self, u: &Interference, event: TEvent) -> bool {
        if event.source.is_some() {
            return self.would_see(u, event);
        }
        if !u.concerns(event) {
            // It would change no row.
            return self.feasible();
        }
        self.append(u, event);
        let feasible = self.feasible();
        self.take_back();
        feasible
    }

    /// Whether the log would be feasible with an event that reads what T' wrote, or fails to take a lock.
    fn would_see(&mut self, u: &Interference, event: TEvent) -> bool {
        let columns = self.columns(u, event);
        let row = match event.op {
            Op::Read(x) | Op::Update(x) => self.foreign(x),
            _ => self.last_row(),
        };
        self.known.holds(row, columns)
    }

    /// Whether T can see this write of T' to the object, given what [`Self::foreign`] has returned.
    pub(super) fn could_see(&self, row: u32, x: Object, step: u32) -> bool {
        self.known.holds(row, self.known.window(x, step))
    }

    /// The latest of the writes of T' before this step that T can see, given what [`Self::foreign`] has returned.
    pub(super) fn latest_seen(&self, row: u32, x: Object, before: u32) -> Option<u32> {
        let runs = self.known.rows.get(row);
        let writes = &self.known.other.of(x).writes;
        let mut at = writes.partition_point(|&step| step < before);
        while at > 0 {
            let step = writes[at - 1];
            let high = writes.get(at).copied().unwrap_or(self.known.other.last);
            // The last run that begins in the write's columns or before them.
            let run = runs.partition_point(|run| run.low <= high).checked_sub(1)?;
            if runs[run].high > step {
                return Some(step);
            }
            // No run has a column up to that write, except columns up to this run's end.
            let high = runs[run].high;
            at = writes.partition_point(|&step| step < high);
        }
        None
    }

    /// The events of T' that write the object.
    pub(super) fn writes_of(&self, x: Object) -> &[u32] {
        &self.known.other.of(x).writes
    }

    /// Whether T can be at its end when T' has done exactly `cut` events.
    pub(super) fn reachable_at(&mut self, cut: u32) -> bool {
        let row = self.last_row();
        self.known.holds(row, (cut, cut))
    }

    /// Whether T' can come to its end from the last row.
    pub(super) fn lets_other_end(&mut self) -> bool {
        let (row, last) = (self.last_row(), self.known.other.last);
        self.known.rows.get(row).iter().any(|run| run.top == last)
    }

    /// The number of events that T' does in some interleaving, if there is one.
    pub(super) fn cut(&mut self) -> Option<u32> {
        let row = self.last_row();
        self.known.rows.get(row).first().map(|run| run.low)
    }

    /// The interleaving that ends with T' having done `cut` events, if there is one.
    pub(super) fn trace_back(&mut self, cut: u32) -> Option<Vec<Step>> {
        if !self.reachable_at(cut) {
            return None;
        }
        Some(walk_back(self.done.len(), cut as usize, |row, column| {
            let column = index(column);
            [
                row > 0 && self.comes_from_above(row, column, cut),
                column > 0 && self.comes_from_left(row, column, cut),
            ]
        }))
    }

    fn comes_from_above(&self, row: usize, column: u32, cut: u32) -> bool {
        let mut change = self.change_by(row - 1, self.rows[row - 1]);
        change.low = change.low.max(column);
        change.high = change.high.min(column);
        self.known.entry(change).0.iter().any(|run| run.top >= cut)
    }

    fn comes_from_left(&self, row: usize, column: u32, cut: u32) -> bool {
        let runs = self.known.rows.get(self.rows[row]);
        let at = runs.partition_point(|run| run.high < column - 1);
        let run = runs.get(at);
        let stops = self.known.states.bits(self.inside[row].1);
        run.is_some_and(|run| run.low < column && run.top >= cut)
            && !holds(stops, column as usize - 1)
    }
}
