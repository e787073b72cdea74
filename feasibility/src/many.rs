//! Feasibility with more than one interfering thread: reachability in a grid with one axis a thread.
//!
//! A place says how many events each thread has done. All that forbids a step is in the places of the threads, as with two
//! of them:
//! - A lock is taken while no other thread is inside a block of it that excludes this one.
//! - An object is written while T does not *live* on it: T's next access to the object is no local read, which has to find
//!   what T has seen or written before, or the initial value.
//! - From its paired write to a non-local read, an object is written by nobody. So T's own write before the read comes before
//!   the paired write, and so does what other interfering threads write.
//!
//! Each interfering thread sees its own writes and initial values alone. Where its next access to an object is a read, and
//! another thread writes the object, the interfering thread never comes to that read: a place says, too, before which of its
//! events each of them has to stop. (How far an interfering thread goes is open: all of it up to there may be what has happened
//! when T is at its end.)
//!
//! The places that can be reached after each event of T are a row, and a row follows from the row before. An event of T that
//! changes earlier rows (a local read that makes T live longer, a non-local read) has them computed again, from the first one
//! that it changes.
//!
//! Whether T's next read could see a write is asked without that: of the rows that are there, the part is walked through that
//! comes after the write, without further writes of the object.
//!
//! The number of places may be the product of the threads' lengths, and a log with too many is given up. For two threads,
//! [`Grid`](crate::Grid) is much faster.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::log::{LockMode, Object, Op, TEvent};
use crate::{Interleaving, Step};

/// T among several interfering threads: see the [module](self).
///
/// The logs of the interfering threads stand one behind the other in one list, so that [`TEvent::source`] names an event of any
/// of them. A [`Op::Join`] with a source joins the thread with this number; one without joins all.
///
/// ```
/// use seqz_feasibility::Many;
/// use seqz_feasibility::log::{Op, TEvent};
///
/// // One thread writes x (0), the other one writes x and then y (1).
/// let mut many = Many::new(&[&[Op::Write(0)], &[Op::Write(0), Op::Write(1)]]).expect("that is not much");
///
/// // T reads y as it was written, and then x as the first thread has written it: that was later.
/// many.push(TEvent::non_local(Op::Read(1), 2));
/// many.push(TEvent::non_local(Op::Read(0), 0));
/// assert!(many.feasible());
///
/// // The other thread has written x before.
/// assert!(!many.would_be_feasible(TEvent::non_local(Op::Read(0), 1)));
/// ```
#[derive(Clone, Debug)]
pub struct Many {
    threads: Vec<Thread>,
    log: Vec<TEvent>,
    of_t: Accesses,
    /// The locks that T is in after each number of events.
    held: Vec<Vec<Block>>,
    pairs: Vec<Pair>,
    /// The places that can be reached after each number of events of T. The first `ready` are right.
    rows: Vec<Row>,
    ready: usize,
    /// The number of places in all rows.
    places: usize,
    /// The objects that interfering threads write.
    written: BTreeSet<Object>,
    has_given_up: bool,
}

/// The most places in all rows.
const ROOM: usize = 1 << 20;

/// An interfering thread.
#[derive(Clone, Debug)]
struct Thread {
    ops: Vec<Op>,
    /// The index of its first event among those of all interfering threads.
    first: usize,
    /// What one event more adds to a place.
    stride: Place,
    accesses: Accesses,
    held: Vec<Vec<Block>>,
}

/// A lock that a thread is in, how, and the index of the event that took it.
type Block = (Object, LockMode, usize);

/// Per object, the events that access its value: the index, and whether the event has to find what its thread knows.
type Accesses = HashMap<Object, Vec<(usize, bool)>>;

/// A non-local read of T, and its paired write.
#[derive(Clone, Copy, Debug)]
struct Pair {
    read: usize,
    object: Object,
    thread: usize,
    /// The index of the write among the thread's events.
    write: usize,
}

/// For each interfering thread the number of events that it has done, and the index of the event before which it has to stop,
/// all in one number.
type Place = u128;

/// The places that can be reached, each with the place before it and the interfering thread whose step leads from there; `None`
/// for a step of T, from the row before.
type Row = BTreeMap<Place, (Place, Option<usize>)>;

/// The thread's next access to the object from this event on, if it has to find what the thread knows.
fn awaited(accesses: &Accesses, object: Object, at: usize) -> Option<usize> {
    let accesses = accesses.get(&object)?;
    let next = accesses.partition_point(|&(index, _)| index < at);
    let &(index, is_local) = accesses.get(next)?;
    is_local.then_some(index)
}

/// The locks that a thread is in after one event more.
fn after(held: &[Block], op: Op, at: usize) -> Vec<Block> {
    let mut held = held.to_vec();
    match op {
        Op::Acquire(lock, mode) => held.push((lock, mode, at)),
        Op::Release(lock, mode) => {
            if let Some(at) = held
                .iter()
                .rposition(|&(of, how, _)| (of, how) == (lock, mode))
            {
                held.remove(at);
            }
        }
        _ => {}
    }
    held
}

fn excludes(held: &[Block], lock: Object, mode: LockMode) -> bool {
    held.iter()
        .any(|&(of, how, _)| of == lock && how.excludes(mode))
}

impl Thread {
    fn new(ops: &[Op], first: usize, stride: Place) -> Self {
        let mut accesses = Accesses::new();
        let mut held = vec![Vec::new()];
        for (at, &op) in ops.iter().enumerate() {
            if let Some(object) = op.reads().or(op.writes()) {
                let all = accesses.entry(object).or_default();
                all.push((at, op.reads().is_some()));
            }
            held.push(after(&held[at], op, at));
        }
        Self {
            ops: ops.to_vec(),
            first,
            stride,
            accesses,
            held,
        }
    }

    /// One more than the number of events.
    const fn radix(&self) -> Place {
        self.ops.len() as Place + 1
    }

    /// The number of events that the thread has done at this place.
    #[allow(clippy::cast_possible_truncation)]
    const fn done(&self, place: Place) -> usize {
        (place / self.stride % self.radix()) as usize
    }

    /// The index of the event before which the thread has to stop: one past the last one if it may come to its end.
    #[allow(clippy::cast_possible_truncation)]
    const fn stop(&self, place: Place) -> usize {
        (place / self.stride / self.radix() % self.radix()) as usize
    }

    /// The place after another thread has written this object.
    fn after_write(&self, object: Object, place: Place) -> Place {
        let stop = self.stop(place);
        match awaited(&self.accesses, object, self.done(place)) {
            Some(read) if read < stop => {
                place - (stop - read) as Place * self.stride * self.radix()
            }
            _ => place,
        }
    }
}

impl Many {
    /// T has done nothing yet, beside threads with these logs. `None` if their events are too many for places to be numbered.
    #[must_use]
    pub fn new(interfering: &[&[Op]]) -> Option<Self> {
        let (mut first, mut stride) = (0, 1 as Place);
        let mut threads = Vec::new();
        let mut written = BTreeSet::new();
        for ops in interfering {
            written.extend(ops.iter().filter_map(|op| op.writes()));
            let thread = Thread::new(ops, first, stride);
            first += ops.len();
            stride = stride
                .checked_mul(thread.radix())?
                .checked_mul(thread.radix())?;
            threads.push(thread);
        }
        Some(Self {
            threads,
            log: Vec::new(),
            of_t: Accesses::new(),
            held: vec![Vec::new()],
            pairs: Vec::new(),
            rows: Vec::new(),
            ready: 0,
            places: 0,
            written,
            has_given_up: false,
        })
    }

    /// The events of T so far.
    #[must_use]
    pub fn events(&self) -> &[TEvent] {
        &self.log
    }

    /// Whether there were too many places, so that no answer since the last [`Self::truncate`] to nothing is to be trusted.
    #[must_use]
    pub const fn has_given_up(&self) -> bool {
        self.has_given_up
    }

    /// The interfering thread that this event is of, and the event's index there.
    fn locate(&self, event: u32) -> (usize, usize) {
        let event = event as usize;
        let after = self
            .threads
            .partition_point(|thread| thread.first + thread.ops.len() <= event);
        let thread = after.min(self.threads.len().saturating_sub(1));
        (thread, event - self.threads[thread].first)
    }

    /// T does one more event. Nothing is decided before a check.
    pub fn push(&mut self, event: TEvent) {
        let at = self.log.len();
        let changed = self.changed_by(event, at);
        self.ready = self.ready.min(changed);
        if let Op::Read(object) | Op::Update(object) = event.op
            && let Some(source) = event.source
        {
            let (thread, write) = self.locate(source);
            self.pairs.push(Pair {
                read: at,
                object,
                thread,
                write,
            });
        }
        if let Some(object) = accessed(event.op) {
            let is_local = event.op.reads().is_some() && event.source.is_none();
            self.of_t.entry(object).or_default().push((at, is_local));
        }
        self.held.push(after(&self.held[at], event.op, at));
        self.log.push(event);
    }

    /// The first row that T's event with this index changes, given the accesses before it; the row after it if none.
    fn changed_by(&self, event: TEvent, at: usize) -> usize {
        match (event.op, event.source) {
            (Op::Read(_) | Op::Update(_), Some(_)) => 0,
            (Op::Read(object) | Op::Update(object), None) if self.written.contains(&object) => {
                let before = self.of_t.get(&object).and_then(|all| all.last());
                before.map_or(0, |&(before, _)| before + 1)
            }
            _ => at + 1,
        }
    }

    /// Takes back all events of T but the first `len`.
    pub fn truncate(&mut self, len: usize) {
        self.has_given_up &= len > 0;
        while self.log.len() > len
            && let Some(event) = self.log.pop()
        {
            let at = self.log.len();
            self.held.pop();
            if let Some(all) = accessed(event.op).and_then(|object| self.of_t.get_mut(&object)) {
                all.pop();
            }
            if self.pairs.last().is_some_and(|pair| pair.read == at) {
                self.pairs.pop();
            }
            self.ready = self.ready.min(self.changed_by(event, at));
        }
    }

    /// The place after this thread's next event, if that can come here, after the first `at` events of T.
    fn after(&self, thread: usize, at: usize, place: Place) -> Option<Place> {
        let this = &self.threads[thread];
        let done = this.done(place);
        if done == this.stop(place) {
            return None;
        }
        let others = || {
            let all = self.threads.iter().enumerate();
            all.filter_map(move |(other, it)| (other != thread).then_some(it))
        };
        let next = place + this.stride;
        match this.ops[done] {
            Op::Acquire(lock, mode) => {
                let is_free = !excludes(&self.held[at], lock, mode)
                    && others().all(|it| !excludes(&it.held[it.done(place)], lock, mode));
                is_free.then_some(next)
            }
            Op::Write(object) | Op::Update(object) => {
                let may =
                    awaited(&self.of_t, object, at).is_none() && !self.is_kept(object, at, place);
                may.then(|| others().fold(next, |place, it| it.after_write(object, place)))
            }
            _ => Some(next),
        }
    }

    /// Whether a read of T from this event on has its paired write of the object behind it, and nobody may write meanwhile.
    fn is_kept(&self, object: Object, from: usize, place: Place) -> bool {
        self.pairs.iter().any(|pair| {
            pair.object == object
                && pair.read >= from
                && self.threads[pair.thread].done(place) > pair.write
        })
    }

    /// The place after T's event with this index, if that can come here.
    fn after_t(&self, at: usize, place: Place) -> Option<Place> {
        let TEvent { op, source } = self.log[at];
        let is_at_end = |thread: &Thread| thread.done(place) == thread.ops.len();
        let sees = match (op, source) {
            (Op::Read(_) | Op::Update(_), Some(source)) => {
                let (thread, write) = self.locate(source);
                self.threads[thread].done(place) > write
            }
            (Op::TryFail(lock, mode), Some(source)) => {
                let (thread, acquire) = self.locate(source);
                let thread = &self.threads[thread];
                let mut held = thread.held[thread.done(place)].iter();
                held.any(|&(of, how, by)| (of, by) == (lock, acquire) && how.excludes(mode))
            }
            (Op::Acquire(lock, mode), _) => self
                .threads
                .iter()
                .all(|it| !excludes(&it.held[it.done(place)], lock, mode)),
            (Op::Join, Some(thread)) => self.threads.get(thread as usize).is_some_and(is_at_end),
            (Op::Join, None) => self.threads.iter().all(is_at_end),
            _ => true,
        };
        match op.writes() {
            _ if !sees => None,
            None => Some(place),
            Some(object) if self.is_kept(object, at + 1, place) => None,
            Some(object) => {
                let threads = self.threads.iter();
                Some(threads.fold(place, |place, it| it.after_write(object, place)))
            }
        }
    }

    /// Brings the rows up to all events of T.
    fn settle(&mut self) {
        if self.rows.len() > self.ready {
            self.rows.truncate(self.ready);
            self.places = self.rows.iter().map(Row::len).sum();
        }
        for at in self.rows.len()..=self.log.len() {
            let mut row = Row::new();
            match at.checked_sub(1) {
                None => {
                    let ends = self.threads.iter();
                    let start = ends
                        .map(|it| it.ops.len() as Place * it.stride * it.radix())
                        .sum();
                    row.insert(start, (start, None));
                }
                Some(before) => {
                    for &place in self.rows[before].keys() {
                        if let Some(next) = self.after_t(before, place) {
                            row.entry(next).or_insert((place, None));
                        }
                    }
                }
            }
            let mut open: Vec<Place> = row.keys().copied().collect();
            while let Some(place) = open.pop() {
                if self.places + row.len() > ROOM {
                    self.has_given_up = true;
                    row.clear();
                    break;
                }
                for thread in 0..self.threads.len() {
                    if let Some(next) = self.after(thread, at, place)
                        && !row.contains_key(&next)
                    {
                        row.insert(next, (place, Some(thread)));
                        open.push(next);
                    }
                }
            }
            self.places += row.len();
            self.rows.push(row);
        }
        self.ready = self.rows.len();
    }

    /// A place that can be reached at T's end, and at which `wanted` is true.
    fn end(&mut self, wanted: impl Fn(&Self, Place) -> bool) -> Option<Place> {
        self.settle();
        let mut row = self.rows[self.log.len()].keys();
        row.find(|&&place| wanted(self, place)).copied()
    }

    /// Whether the log is feasible.
    pub fn feasible(&mut self) -> bool {
        self.end(|_, _| true).is_some()
    }

    /// Whether the log would be feasible if T's next event were this one.
    pub fn would_be_feasible(&mut self, event: TEvent) -> bool {
        if let (Op::Read(object) | Op::Update(object), Some(source)) = (event.op, event.source) {
            return self.could_see(object, source);
        }
        self.push(event);
        let feasible = self.feasible();
        self.truncate(self.log.len() - 1);
        feasible
    }

    /// Whether T's next event could see this write of the object.
    fn could_see(&mut self, object: Object, source: u32) -> bool {
        self.settle();
        let (writer, write) = self.locate(source);
        let writes = |op: Op| op.writes() == Some(object);
        // The places that can be reached after the write, while nobody has written the object since.
        let mut since: BTreeSet<Place> = BTreeSet::new();
        for at in 0..=self.log.len() {
            let before = std::mem::take(&mut since);
            if let Some(event) = at
                .checked_sub(1)
                .filter(|&event| !writes(self.log[event].op))
            {
                let steps = before.iter();
                since.extend(steps.filter_map(|&place| self.after_t(event, place)));
            }
            let places = self.rows[at].keys();
            let about_to = places.filter(|&&it| self.threads[writer].done(it) == write);
            since.extend(about_to.filter_map(|&place| self.after(writer, at, place)));
            let mut open: Vec<Place> = since.iter().copied().collect();
            while let Some(place) = open.pop() {
                for (number, thread) in self.threads.iter().enumerate() {
                    let next = thread.ops.get(thread.done(place));
                    if next.is_some_and(|&op| !writes(op))
                        && let Some(next) = self.after(number, at, place)
                        && since.insert(next)
                    {
                        open.push(next);
                    }
                }
            }
        }
        !since.is_empty()
    }

    /// Whether the interfering threads have done exactly as many events as this says, each that is named.
    fn is_at(&self, cuts: &[(usize, usize)], place: Place) -> bool {
        let mut cuts = cuts.iter();
        cuts.all(|&(thread, cut)| self.threads[thread].done(place) == cut)
    }

    /// Whether T can be at its end when each of these interfering threads has done exactly so many of its events.
    pub fn reachable_at(&mut self, cuts: &[(usize, usize)]) -> bool {
        self.end(|this, place| this.is_at(cuts, place)).is_some()
    }

    /// An interleaving, if the log is feasible.
    pub fn witness(&mut self) -> Option<Interleaving> {
        let end = self.end(|_, _| true)?;
        Some(self.way_to(end))
    }

    /// An interleaving at whose end each of these interfering threads has done exactly so many of its events, if there is one.
    pub fn witness_at(&mut self, cuts: &[(usize, usize)]) -> Option<Interleaving> {
        let end = self.end(|this, place| this.is_at(cuts, place))?;
        Some(self.way_to(end))
    }

    /// A way to a place that can be reached at T's end.
    fn way_to(&self, mut place: Place) -> Interleaving {
        let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let mut at = self.log.len();
        let mut steps = Vec::new();
        while let Some(&(before, by)) = self.rows[at].get(&place) {
            match by {
                Some(thread) => {
                    let thread = &self.threads[thread];
                    let event = thread.first + thread.done(before);
                    steps.push(Step::Interfering(number(event)));
                }
                None if at == 0 => break,
                None => {
                    at -= 1;
                    steps.push(Step::UnderTest(number(at)));
                }
            }
            place = before;
        }
        steps.reverse();
        Interleaving(steps)
    }
}

/// The object whose value the event accesses.
fn accessed(op: Op) -> Option<Object> {
    match op {
        Op::Read(object) | Op::Write(object) | Op::Update(object) => Some(object),
        Op::Acquire(..) | Op::Release(..) | Op::TryFail(..) | Op::Join => None,
    }
}
