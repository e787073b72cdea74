//! The progress grid: feasibility as reachability, incremental over the events of T.
//!
//! An interleaving of two threads is a monotone path through the grid of (events of T done, events of T' done). Lock
//! exclusion forbids places: both threads inside blocks of one lock that exclude each other. What reads see forbids
//! steps: a write of one thread while the other is inside an x-live block, and for a non-local read of T all columns
//! but those from its paired write to the next write of T'. T's own latest write before a non-local read has to be done
//! while T' has not yet made the paired write. Every constraint is one on a place or a step, so a path that avoids them
//! is an interleaving, and the log is feasible when one leads from the first place to one where T is at its end and T'
//! at the end of a prefix that may be chosen.
//!
//! A row of the grid is a bit set, computed from the row above a word at a time. A new event of T mostly adds a row;
//! when it changes rows before it (a local read that makes an x-live block longer, a non-local one that holds T's
//! write back), rows are computed again from there, and only when somebody asks.

use super::interference::{Interference, NONE, index, up_to};
use super::lane::{Lane, Scratch};
use super::track::Track;
use super::witness::trace_back;
use super::{Interleaving, Verdict};
use crate::log::{Op, TEvent};

/// Lanes that are kept at once. A log has as many as T' has reads, plus one; most are never asked for.
const LANES: usize = 64;

/// The progress grid of one execution: the log of T', and the events of T so far.
#[derive(Clone, Debug)]
pub struct Grid {
    interference: Interference,
    track: Track,
    lanes: Vec<Lane>,
    /// Per number of reads of T': its place in `lanes`, `NONE` if it has none.
    slots: Vec<u32>,
    /// Which number of reads each of `lanes` is for. Those in use come first.
    used: Vec<u32>,
    /// The next lane to be given up when all are in use.
    victim: usize,
    scratch: Scratch,
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
            track: Track::default(),
            lanes: Vec::new(),
            slots: Vec::new(),
            used: Vec::new(),
            victim: 0,
            scratch: Scratch::default(),
        };
        made.reset();
        made
    }

    /// Starts a new execution with this log of T'. Costs a comparison when it is the log of the execution before.
    pub fn begin(&mut self, interfering: &[Op]) {
        if self.interference.refill(interfering) {
            self.slots.clear();
            self.used.clear();
        }
        self.reset();
    }

    /// Starts a new execution with the same log of T'.
    pub fn reset(&mut self) {
        self.track.clear(self.interference.words());
        for lane in self.used.drain(..) {
            self.slots[lane as usize] = NONE;
        }
        self.slots.resize(self.interference.lanes(), NONE);
        self.victim = 0;
    }

    /// The log of T'.
    #[must_use]
    pub fn interference(&self) -> &Interference {
        &self.interference
    }

    /// The number of events of T so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.track.len()
    }

    /// Whether T has done nothing yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// T does one more event. Nothing is decided before it is asked for.
    pub fn push(&mut self, event: TEvent) {
        let dirty = self.track.push(&self.interference, event);
        self.spoil(dirty);
    }

    /// Takes T's last event back.
    pub fn pop(&mut self) {
        if let Some(dirty) = self.track.pop(&self.interference) {
            self.spoil(dirty);
        }
    }

    /// Takes back all events of T but the first `len`.
    pub fn truncate(&mut self, len: usize) {
        while self.track.len() > len {
            self.pop();
        }
    }

    /// Whether the log is feasible.
    #[must_use]
    pub fn feasible(&mut self) -> bool {
        self.cut(None).is_some()
    }

    /// Whether the log would be feasible if T's next event were this one.
    #[must_use]
    pub fn would_be_feasible(&mut self, event: TEvent) -> bool {
        let dirty = self.track.push(&self.interference, event);
        let feasible = self.cut(Some(dirty)).is_some();
        self.track.pop(&self.interference);
        feasible
    }

    /// Whether T can be at its end when T' has done exactly its first `cut` events.
    #[must_use]
    pub fn reachable_at(&mut self, cut: usize) -> bool {
        if self.track.impossible()
            || cut > self.interference.len()
            || index(cut) < self.track.must()
        {
            return false;
        }
        let slot = self.lane(self.interference.lane_of(index(cut)), index(cut));
        let row = self.lanes[slot].row(&self.interference, &self.track, self.track.len());
        row[cut / 64] >> (cut % 64) & 1 == 1
    }

    /// An interleaving, if the log is feasible.
    #[must_use]
    pub fn witness(&mut self) -> Option<Interleaving> {
        let cut = self.cut(None)?;
        self.witness_at(cut as usize)
    }

    /// An interleaving at whose end T' has done exactly its first `cut` events, if there is one.
    #[must_use]
    pub fn witness_at(&mut self, cut: usize) -> Option<Interleaving> {
        if !self.reachable_at(cut) {
            return None;
        }
        let slot = self.lane(self.interference.lane_of(index(cut)), index(cut));
        Some(trace_back(
            &self.interference,
            &self.track,
            &mut self.lanes[slot],
            cut,
        ))
    }

    /// [`Grid::feasible`] with its witness.
    #[must_use]
    pub fn verdict(&mut self) -> Verdict {
        match self.witness() {
            Some(interleaving) => Verdict::Feasible(interleaving),
            None => Verdict::Infeasible,
        }
    }

    /// How far T' goes in some interleaving; the place is one that [`Grid::reachable_at`] agrees with. With `probe`,
    /// rows from there on are not kept.
    fn cut(&mut self, probe: Option<usize>) -> Option<u32> {
        if self.track.impossible() {
            return None;
        }
        let mut cut = self.track.must();
        if cut == 0 {
            // T alone: its local reads see its own writes or initial values.
            return Some(0);
        }
        let limit = self.interference.lock_free(cut);
        loop {
            let lane = self.interference.lane_of(cut);
            let high = self.interference.lane_high(lane).min(limit);
            let slot = self.lane(lane, limit);
            let row = match probe {
                None => self.lanes[slot].row(&self.interference, &self.track, self.track.len()),
                Some(dirty) => self.lanes[slot].probe(
                    &self.interference,
                    &self.track,
                    dirty,
                    &mut self.scratch,
                ),
            };
            // Past the last event with a source, T' has done what must have happened: no column of the row is too low.
            let first = row.iter().enumerate().find(|&(_, &word)| word != 0);
            let (word, bits) = first?;
            if bits & up_to(high as usize, word) != 0 {
                return Some(index(word * 64) + bits.trailing_zeros());
            }
            if limit <= high {
                return None;
            }
            cut = self.interference.released(high + 1)?;
        }
    }

    /// The lane for a number of reads of T', covering columns up to `last`.
    fn lane(&mut self, lane: u32, last: u32) -> usize {
        let slot = match self.slots[lane as usize] {
            NONE => self.take_lane(lane),
            slot => slot as usize,
        };
        self.lanes[slot].widen(last);
        slot
    }

    fn take_lane(&mut self, lane: u32) -> usize {
        let slot = if self.used.len() < LANES {
            self.used.push(lane);
            self.used.len() - 1
        } else {
            let slot = self.victim;
            self.victim = (slot + 1) % LANES;
            self.slots[self.used[slot] as usize] = NONE;
            self.used[slot] = lane;
            slot
        };
        if slot == self.lanes.len() {
            self.lanes.push(Lane::default());
        }
        self.slots[lane as usize] = index(slot);
        let below = self.interference.lane_high(lane);
        self.lanes[slot].restart(below);
        slot
    }

    fn spoil(&mut self, row: usize) {
        for lane in &mut self.lanes[..self.used.len()] {
            lane.spoil(row);
        }
    }
}
