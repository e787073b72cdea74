//! Which writes of T' a read of T could see.

use super::{Cuts, Grid};
use crate::bits::{NONE, first};
use crate::interference::Slot;
use crate::log::{Object, Op, TEvent};

impl Grid {
    /// A [`Reader`], which tells the writes of T' to the object that T's next event could read.
    #[inline]
    pub fn reader(&mut self, x: Object) -> Reader<'_> {
        let slot = self.interference.slot(x);
        Reader {
            grid: self,
            must: None,
            x,
            slot,
            shown: None,
            foreign: None,
        }
    }

    /// Where the log of T' is long: the number that identifies the set of columns at which T may find a value of the
    /// object that T' wrote. Two reads of the object with the same number can see the same writes, except for writes
    /// that T has seen.
    #[inline]
    pub fn foreign(&mut self, x: Object) -> Option<u32> {
        self.asks_runs().then(|| self.in_long_log().foreign(x))
    }

    /// The latest write of T' to the object before this event that T's next event could read, given what
    /// [`Self::foreign`] has returned.
    pub fn latest_seen(&self, foreign: u32, x: Object, before: u32) -> Option<u32> {
        self.runs.latest_seen(foreign, x, before)
    }

    /// The events of T' that write the object, where the log of T' is long.
    pub fn writes_of(&self, x: Object) -> &[u32] {
        self.runs.writes_of(x)
    }

    /// Puts into the scratch row the columns at which T may read a value that T' wrote.
    #[inline]
    fn show_foreign(&mut self, lane: usize, slot: Slot, update: bool) {
        let lane = &mut self.lanes[lane];
        let written = self.track.written(slot);
        if written == 0 {
            let row = lane.row(&self.interference, &self.track, self.track.len());
            self.scratch.keep(row);
        } else {
            let (u, t) = (&self.interference, &self.track);
            lane.foreign(u, t, slot, written, &mut self.scratch);
        }
        if update {
            lane.keep_writable(&self.interference, slot, self.scratch.row_mut());
        }
    }
}

/// Finds, for one object, the writes of T' that T's next event could read. T may find the values that T' wrote after
/// T's own latest write to the object. Each value is there in columns that belong to it alone, so these columns are
/// found once for all writes.
#[derive(Debug)]
pub struct Reader<'g> {
    grid: &'g mut Grid,
    /// The number of events of T' that must have happened, once the grid has returned it.
    must: Option<u32>,
    x: Object,
    slot: Slot,
    /// What the scratch row holds: its lane, up to which word it is computed, and whether it is for an update.
    shown: Option<(u32, u32, bool)>,
    /// What [`Grid::foreign`] has returned, once it was called.
    foreign: Option<u32>,
}

impl Reader<'_> {
    /// The first write of T' to the object from this event on.
    pub(super) fn next_write(&self, from: u32) -> Option<u32> {
        first(self.grid.interference.writes(self.slot), from)
    }

    /// [`Grid::would_be_feasible`] for a read, or an update, that sees this write of T' to the object.
    #[inline]
    #[must_use]
    pub fn could_see(&mut self, step: u32, update: bool) -> bool {
        self.sees_by_path(step, update)
            .unwrap_or_else(|| self.sees_by_rows(step, update))
    }

    /// [`Self::could_see`], as far as the one interleaving tells that is kept as T goes on; `None` where it does not tell.
    /// Takes no new memory, as [`Grid::push`].
    #[inline]
    #[must_use]
    pub fn sees_by_path(&mut self, step: u32, update: bool) -> Option<bool> {
        if self.must.is_some() {
            return None;
        }
        let op = if update {
            Op::Update(self.x)
        } else {
            Op::Read(self.x)
        };
        let grid = &mut *self.grid;
        let (u, log) = (&grid.interference, &grid.log);
        grid.paths.would(u, log, TEvent::non_local(op, step))
    }

    fn foreign_columns(&mut self) -> Option<u32> {
        if self.foreign.is_none() {
            self.foreign = self.grid.foreign(self.x);
        }
        self.foreign
    }

    /// [`Self::could_see`], by the rows of the grid.
    #[must_use]
    pub fn sees_by_rows(&mut self, step: u32, update: bool) -> bool {
        if let Some(foreign) = self.foreign_columns() {
            return self.grid.runs.could_see(foreign, self.x, step);
        }
        let grid = &mut *self.grid;
        let must = *self.must.get_or_insert_with(|| {
            grid.feed();
            let must = grid.track.must();
            if must != NONE {
                grid.track.settle(&grid.interference);
            }
            must
        });
        if must == NONE {
            return false;
        }
        let last = grid.interference.overwritten(self.slot, step);
        if last < must {
            return false;
        }
        let mut cuts = Cuts::from(&grid.interference, must.max(step + 1));
        loop {
            let lane = grid.lane(cuts.now, cuts.limit);
            let show = Some((grid.lanes[lane].reads_below(), cuts.limit / 64, update));
            if self.shown != show {
                self.shown = show;
                grid.show_foreign(lane, self.slot, update);
            }
            let lane = &grid.lanes[lane];
            let lowest = first(grid.scratch.row(), step + 1).filter(|&lowest| lowest <= last);
            match lowest {
                None => return false,
                // What T' does after the read does not matter: T' may stay where it is.
                Some(lowest) if lowest <= cuts.highest(lane) => return true,
                Some(_) => {}
            }
            if cuts.advance(&grid.interference, lane).is_none() {
                return false;
            }
        }
    }
}
