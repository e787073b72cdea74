//! The progress grid: feasibility as reachability, incremental over the events of T.
//!
//! An interleaving of two threads is a monotone path through the grid of (events of T done, events of T' done). Lock
//! exclusion forbids places: those with both threads inside blocks of one lock that exclude each other. What reads see
//! forbids steps: a write of one thread while the other is inside an x-live block, and for a non-local read of T all
//! columns but those from its paired write to the next write of T'. T's own latest write before a non-local read has to
//! be done while T' has not yet made the paired write. Every constraint forbids a place or a step, so a path that
//! avoids them is an interleaving, and the log is feasible when a path leads from the first place to a place where T is
//! at its end and T' at the end of a prefix, which may be chosen.
//!
//! A row of the grid is a bit set, computed from the row above a word at a time. A new event of T mostly adds a row;
//! when an event changes earlier rows (a local read that makes an x-live block longer, a non-local read that holds T's
//! write back), rows are computed again from the first changed row on, and only when a check needs them.

mod reader;

pub use reader::Reader;

use crate::bits::{NONE, first, holds, index};
use crate::interference::Interference;
use crate::lane::{Lane, Scratch};
use crate::log::{Op, TEvent};
use crate::path::Paths;
use crate::runs::Runs;
use crate::track::Track;
use crate::witness::trace_back;
use crate::{Interleaving, Step, Verdict};

/// The most lanes that are kept at once. A log has as many as T' has reads, plus one; most are never needed.
const LANES: usize = 64;
/// The number of 64-bit words in all lanes above which no lane is added: 64 MB.
const LANE_WORDS: usize = 8 << 20;

/// The progress grid of one execution: the log of T', and the events of T so far.
///
/// ```
/// use seqz_feasibility::Grid;
/// use seqz_feasibility::log::{Op, TEvent};
///
/// // T' writes x (0) and then y (1).
/// let mut grid = Grid::new();
/// grid.begin(&[Op::Write(0), Op::Write(1)]);
///
/// // T reads y as T' has written it. So T' has written x before, and a read of x that sees the initial value comes too late.
/// grid.push(TEvent::non_local(Op::Read(1), 1));
/// assert!(grid.feasible());
/// assert!(!grid.would_be_feasible(TEvent::local(Op::Read(0))));
/// assert!(grid.would_be_feasible(TEvent::non_local(Op::Read(0), 0)));
///
/// // An interleaving that shows it: both writes, then the read.
/// let witness = grid.witness().expect("a log that is feasible has a witness");
/// assert_eq!(witness.0.len(), 3);
/// ```
///
/// # Memory
/// A grid keeps its memory from execution to execution. [`Self::push`], which runs at each event of T, takes no memory that is
/// new: it only makes grow what the grid has had since it was made. So does [`Reader::sees_by_path`]. All other functions may
/// take new memory.
#[derive(Clone, Debug)]
pub struct Grid {
    interference: Interference,
    /// The events of T.
    log: Vec<TEvent>,
    /// The paths, which decide most checks by themselves.
    paths: Paths,
    /// The runs, which decide the other checks where the log of T' is long.
    runs: Runs,
    /// Whether the log of T' is long.
    is_long: bool,
    /// The number of words in a row above which a log of T' is long.
    long: usize,
    /// The events of T up to the last row that was needed, without events of objects that T' does not use: such events
    /// change no row.
    track: Track,
    /// The indices in `log` of the track's events.
    kept: Vec<u32>,
    /// The number of T's events that have been put into the track or left out.
    fed: usize,
    /// Whether the track and the lanes are those of this execution.
    ready: bool,
    lanes: Vec<Lane>,
    /// Per number of reads of T', the index of its lane in `lanes`, or [`NONE`].
    places: Vec<u32>,
    /// The number of reads of T' that each of `lanes` is for. Lanes in use come first.
    used: Vec<u32>,
    /// The index of the lane that is given up next when all are in use.
    victim: usize,
    /// Where the latest search for a cut began.
    start: Start,
    scratch: Scratch,
}

/// The number of events of T for which there is room at first: see [`Grid`] on its memory.
const ROOM: usize = 16;

/// The number of words in a row above which a log is long: runs of columns are quicker than bits then, where threads
/// repeat what they do.
const LONG: usize = 4;

/// Where a search for a cut began. The next search begins at the same place as long as no event requires more of T'.
#[derive(Clone, Copy, Debug)]
struct Start {
    /// The number of events of T' that must have happened; [`NONE`] for no search.
    must: u32,
    /// The index of the lane in `lanes`.
    lane: u32,
    /// The last prefix that matters for the lane: see [`Cuts::highest`].
    highest: u32,
}

impl Start {
    const NOWHERE: Self = Self {
        must: NONE,
        lane: NONE,
        highest: 0,
    };
}

impl Default for Grid {
    fn default() -> Self {
        Self::new()
    }
}

impl Grid {
    /// A grid in which neither thread does anything.
    #[must_use]
    pub fn new() -> Self {
        let mut made = Self {
            interference: Interference::new(&[]),
            log: Vec::with_capacity(ROOM),
            paths: Paths::default(),
            runs: Runs::default(),
            is_long: false,
            long: LONG,
            track: Track::default(),
            kept: Vec::new(),
            fed: 0,
            ready: false,
            lanes: Vec::new(),
            places: Vec::new(),
            used: Vec::new(),
            victim: 0,
            start: Start::NOWHERE,
            scratch: Scratch::default(),
        };
        made.restart(true);
        made
    }

    /// A grid that takes every log for a long one, and decides by runs of columns, with the same results.
    #[must_use]
    pub fn in_runs() -> Self {
        Self::with_long(0)
    }

    /// A grid that takes no log for a long one, and decides by bits.
    #[must_use]
    pub fn in_bits() -> Self {
        Self::with_long(usize::MAX)
    }

    fn with_long(long: usize) -> Self {
        let mut made = Self::new();
        made.long = long;
        made.restart(true);
        made
    }

    /// Starts a new execution with this log of T'. Costs a comparison when the log is that of the execution before.
    /// Returns whether it is another one.
    #[inline]
    pub fn begin(&mut self, interfering: &[Op]) -> bool {
        let other = self.interference.refill(interfering);
        self.restart(other);
        other
    }

    /// Starts a new execution with the same log of T'.
    #[inline]
    pub fn reset(&mut self) {
        self.restart(false);
    }

    #[inline]
    fn restart(&mut self, other: bool) {
        self.log.clear();
        self.paths.clear(&self.interference, other);
        self.ready = false;
        self.runs.restart(other);
        if other {
            self.is_long = self.interference.words() > self.long;
            if self.is_long {
                self.paths.turn_off();
            }
        }
    }

    /// Brings the track up to all events of T.
    #[inline]
    fn feed(&mut self) {
        if !self.ready || self.fed < self.log.len() {
            self.feed_rest();
        }
    }

    fn feed_rest(&mut self) {
        if !self.ready {
            self.ready = true;
            self.track.clear(&self.interference);
            self.kept.clear();
            self.fed = 0;
            for reads in self.used.drain(..) {
                self.places[reads as usize] = NONE;
            }
            if self.places.len() <= self.interference.len() {
                self.places.resize(self.interference.len() + 1, NONE);
            }
            self.victim = 0;
            self.start = Start::NOWHERE;
        }
        for at in self.fed..self.log.len() {
            let event = self.log[at];
            if !self.interference.concerns(event) {
                continue;
            }
            let row = self.track.len();
            self.kept.push(index(at));
            let dirty = self.track.push(&self.interference, event);
            if dirty <= row {
                self.spoil(dirty);
            }
        }
        self.fed = self.log.len();
    }

    /// The log of T'.
    #[must_use]
    pub fn interference(&self) -> &Interference {
        &self.interference
    }

    /// The events of T so far.
    #[inline]
    #[must_use]
    pub fn events(&self) -> &[TEvent] {
        &self.log
    }

    /// The number of events of T so far.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.log.len()
    }

    /// Whether T has done nothing yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// T does one more event. Nothing is decided before a check.
    #[inline(always)]
    pub fn push(&mut self, event: TEvent) {
        self.append(event.op, event.source);
    }

    /// Does what [`Self::push`] does, with the event in two parts, each of which fits into a register. As one value,
    /// the event would be passed in memory, and processors are slow at reading as one what has just been written in
    /// parts.
    #[inline]
    fn append(&mut self, op: Op, source: Option<u32>) {
        let at = self.log.len();
        self.log.push(TEvent { op, source });
        self.paths.push(&self.interference, op, source, at);
    }

    /// Takes T's last event back.
    #[inline]
    pub fn pop(&mut self) {
        self.truncate(self.len().saturating_sub(1));
    }

    /// Takes back all events of T but the first `len`.
    #[inline]
    pub fn truncate(&mut self, len: usize) {
        self.log.truncate(len);
        self.paths.truncate(len);
        self.fed = self.fed.min(len);
        if self.is_long {
            self.runs.truncate(len);
        }
        while self.ready
            && self.kept.last().is_some_and(|&last| last as usize >= len)
            && let Some(dirty) = self.track.pop(&self.interference)
        {
            self.kept.pop();
            self.spoil(dirty);
        }
    }

    /// Whether the log is known to be feasible without a check; `false` says nothing.
    #[inline]
    #[must_use]
    pub fn goes_on(&self) -> bool {
        self.paths.is_of(self.log.len())
    }

    /// Whether the log is feasible.
    #[inline]
    #[must_use]
    pub fn feasible(&mut self) -> bool {
        match self.paths.decide(&self.interference, &self.log) {
            Some(feasible) => feasible,
            None => self.feasible_by_rows(),
        }
    }

    fn feasible_by_rows(&mut self) -> bool {
        if self.asks_runs() {
            return self.in_long_log().feasible();
        }
        self.feed();
        let must = self.track.must();
        if must == self.start.must && must != NONE {
            self.track.settle(&self.interference);
            let lane = &mut self.lanes[self.start.lane as usize];
            let row = lane.row(&self.interference, &self.track, self.track.len());
            match first(row, 0) {
                None => return false,
                Some(lowest) if lowest <= self.start.highest => return true,
                // No prefix of this lane works.
                Some(_) => {}
            }
        }
        self.cut(None).is_some()
    }

    /// Whether runs of columns decide. Where runs turn out to cost more than bits, bits decide until T' has another
    /// log.
    #[inline]
    fn asks_runs(&mut self) -> bool {
        if self.is_long && self.long > 0 && self.runs.is_losing() {
            self.is_long = false;
        }
        self.is_long
    }

    /// The runs, with all events of T.
    #[inline]
    fn in_long_log(&mut self) -> &mut Runs {
        self.runs.feed(&self.interference, &self.log);
        &mut self.runs
    }

    /// Whether the log would be feasible if T's next event were this one.
    #[inline]
    #[must_use]
    pub fn would_be_feasible(&mut self, event: TEvent) -> bool {
        let (u, log) = (&self.interference, &self.log);
        if let Some(feasible) = self.paths.would(u, log, event) {
            return feasible;
        }
        if self.asks_runs() {
            self.runs.feed(&self.interference, &self.log);
            return self.runs.would_be_feasible(&self.interference, event);
        }
        self.feed();
        if !self.interference.concerns(event) {
            // The event would change no row, and the track knows nothing of its lock.
            return self.cut(None).is_some();
        }
        let dirty = self.track.push(&self.interference, event);
        let feasible = self.cut(Some(dirty)).is_some();
        self.track.pop(&self.interference);
        feasible
    }

    /// Finds the events of T' that T's next event, this read or failed attempt to take a lock, could be paired with:
    /// those for which [`Grid::would_be_feasible`] holds, in order. Faster than a call for each.
    pub fn sources(&mut self, op: Op, found: &mut Vec<u32>) {
        found.clear();
        match op {
            Op::Read(x) | Op::Update(x) => {
                let update = op.writes().is_some();
                let mut reader = self.reader(x);
                let mut from = 0;
                while let Some(step) = reader.next_write(from) {
                    from = step + 1;
                    if reader.could_see(step, update) {
                        found.push(step);
                    }
                }
            }
            Op::TryFail(x, _) => {
                for step in 0..self.interference.len() {
                    let event = TEvent::non_local(op, index(step));
                    let acquires =
                        matches!(self.interference.ops()[step], Op::Acquire(y, _) if x == y);
                    if acquires && self.would_be_feasible(event) {
                        found.push(index(step));
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether T' can come to its end after what T has done, once T has given back all locks that it holds.
    ///
    /// What T does later can only make this false. From any place that the prefix of T' with all its reads allows, T'
    /// can run on: T is in no x-live block any more, and what T wrote has come before no read of T' that must not see
    /// it.
    #[must_use]
    pub fn lets_other_end(&mut self) -> bool {
        if self.asks_runs() {
            return self.in_long_log().lets_other_end();
        }
        self.feed();
        if self.track.must() == NONE {
            return false;
        }
        let all = index(self.interference.len());
        self.track.settle(&self.interference);
        let lane = self.lane(all, all);
        let row = self.lanes[lane].row(&self.interference, &self.track, self.track.len());
        first(row, 0).is_some()
    }

    /// Whether T can be at its end when T' has done exactly its first `cut` events.
    #[inline]
    #[must_use]
    pub fn reachable_at(&mut self, cut: usize) -> bool {
        if cut > self.interference.len() {
            return false;
        }
        let (u, log) = (&self.interference, &self.log);
        self.paths.reaches(u, log, index(cut)) || self.reachable_by_rows(cut)
    }

    /// Whether T can be at its end when T' has done exactly its first `cut` events, and still has its other events to do, which
    /// see nothing of T. T holds no lock that they take. In long logs, the events to come are left out of account.
    #[must_use]
    pub fn reachable_on_the_way(&mut self, cut: usize) -> bool {
        if self.asks_runs() {
            return self.in_long_log().reachable_at(index(cut));
        }
        self.feed();
        if cut > self.interference.len() || index(cut) < self.track.must() {
            return false;
        }
        let all = index(self.interference.len());
        self.track.settle(&self.interference);
        let lane = self.lane(all, all);
        let row = self.lanes[lane].row(&self.interference, &self.track, self.track.len());
        holds(row, cut)
    }

    fn reachable_by_rows(&mut self, cut: usize) -> bool {
        if self.asks_runs() {
            return self.in_long_log().reachable_at(index(cut));
        }
        self.feed();
        // Must is NONE, the largest number, when an event has no column at all.
        if cut > self.interference.len() || index(cut) < self.track.must() {
            return false;
        }
        self.track.settle(&self.interference);
        let lane = self.lane(index(cut), index(cut));
        let row = self.lanes[lane].row(&self.interference, &self.track, self.track.len());
        holds(row, cut)
    }

    /// An interleaving, if the log is feasible.
    #[must_use]
    pub fn witness(&mut self) -> Option<Interleaving> {
        let cut = if self.asks_runs() {
            self.in_long_log().cut()?
        } else {
            self.cut(None)?
        };
        self.witness_at(cut as usize)
    }

    /// An interleaving at whose end T' has done exactly its first `cut` events, if there is one.
    #[must_use]
    pub fn witness_at(&mut self, cut: usize) -> Option<Interleaving> {
        if self.asks_runs() {
            let kept = self.in_long_log().trace_back(index(cut))?;
            return Some(self.complete(kept, self.runs.kept()));
        }
        if !self.reachable_by_rows(cut) {
            return None;
        }
        let lane = self.lane(index(cut), index(cut));
        let (u, lane) = (&self.interference, &mut self.lanes[lane]);
        let Interleaving(kept) = trace_back(u, &self.track, lane, cut);
        Some(self.complete(kept, &self.kept))
    }

    /// The same interleaving with all of T's events: events that were left out come right before the next one that was
    /// kept.
    fn complete(&self, steps_kept: Vec<Step>, kept: &[u32]) -> Interleaving {
        let events = index(self.log.len());
        let mut steps = Vec::with_capacity(steps_kept.len() + self.log.len() - kept.len());
        let mut next = 0;
        for step in steps_kept {
            if let Step::UnderTest(row) = step {
                let event = kept[row as usize];
                steps.extend((next..=event).map(Step::UnderTest));
                next = event + 1;
            } else {
                steps.push(step);
            }
        }
        steps.extend((next..events).map(Step::UnderTest));
        Interleaving(steps)
    }

    /// [`Grid::feasible`] with its witness.
    #[must_use]
    pub fn verdict(&mut self) -> Verdict {
        match self.witness() {
            Some(interleaving) => Verdict::Feasible(interleaving),
            None => Verdict::Infeasible,
        }
    }

    /// The number of events that T' does in some interleaving; [`Grid::reachable_at`] holds for it. With `probe`, rows
    /// from that number on are not kept.
    fn cut(&mut self, probe: Option<usize>) -> Option<u32> {
        if probe.is_none() {
            self.feed();
        }
        let must = self.track.must();
        if must == NONE {
            return None;
        }
        if must == 0 {
            // T runs alone: its local reads see its own writes or initial values.
            return Some(0);
        }
        self.track.settle(&self.interference);
        let mut cuts = Cuts::from(&self.interference, must);
        let mut place = self.lane(cuts.now, cuts.limit);
        if probe.is_none() {
            self.start = Start {
                must,
                lane: index(place),
                highest: cuts.highest(&self.lanes[place]),
            };
        }
        loop {
            let lane = &mut self.lanes[place];
            let row = match probe {
                None => lane.row(&self.interference, &self.track, self.track.len()),
                Some(dirty) => {
                    lane.probe(&self.interference, &self.track, dirty, &mut self.scratch)
                }
            };
            // Past the last event with a source, T' has done all that must have happened, so that no column is too low.
            // An empty row stays empty when T' has more reads to do.
            let lowest = first(row, 0)?;
            if lowest <= cuts.highest(lane) {
                return Some(lowest);
            }
            cuts.advance(&self.interference, lane)?;
            place = self.lane(cuts.now, cuts.limit);
        }
    }

    /// The index of the lane for a prefix of T', covering columns up to `last`.
    #[inline]
    fn lane(&mut self, cut: u32, last: u32) -> usize {
        let reads = self.interference.reads_done(cut);
        let place = match self.places[reads as usize] {
            NONE => self.take_lane(reads, cut),
            place => place as usize,
        };
        self.lanes[place].widen(last);
        place
    }

    fn take_lane(&mut self, reads: u32, cut: u32) -> usize {
        let place = if self.used.is_empty() || self.has_room() {
            self.used.push(reads);
            self.used.len() - 1
        } else {
            let place = self.victim;
            self.start = Start::NOWHERE;
            self.victim = (place + 1) % self.used.len();
            self.places[self.used[place] as usize] = NONE;
            self.used[place] = reads;
            place
        };
        if place == self.lanes.len() {
            self.lanes.push(Lane::default());
        }
        self.places[reads as usize] = index(place);
        self.lanes[place].restart(self.interference.before_next_read(cut));
        place
    }

    /// Whether one more lane may be kept.
    fn has_room(&self) -> bool {
        if self.used.len() >= LANES {
            return false;
        }
        let taken = || self.lanes[..self.used.len()].iter().map(Lane::size);
        self.interference.words() == 1 || taken().sum::<usize>() < LANE_WORDS
    }

    fn spoil(&mut self, row: usize) {
        for lane in &mut self.lanes[..self.used.len()] {
            lane.spoil(row);
        }
    }
}

/// The prefixes of T' that matter (see [`crate`]), one per lane.
struct Cuts {
    now: u32,
    /// The last prefix that matters: the first one after which T' holds no lock.
    limit: u32,
}

impl Cuts {
    fn from(u: &Interference, must: u32) -> Self {
        Self {
            now: must,
            limit: u.lock_free(must),
        }
    }

    /// The last prefix that matters among the lane's prefixes.
    fn highest(&self, lane: &Lane) -> u32 {
        lane.reads_below().min(self.limit)
    }

    /// Goes on to the next lane with a prefix that matters.
    fn advance(&mut self, u: &Interference, lane: &Lane) -> Option<()> {
        if self.limit <= lane.reads_below() {
            return None;
        }
        self.now = u.released(lane.reads_below() + 1)?;
        Some(())
    }
}
