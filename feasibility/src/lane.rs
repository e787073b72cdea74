//! The bit rows of the grid: which columns T' can be at when T has done i events.
//!
//! How far T' goes decides only which of its reads T must not disturb. So the prefixes of T' that hold the same reads
//! share their rows: a *lane*. A lane's rows cover columns beyond the lane's own prefixes, too. There the rows allow
//! too much, as later reads of T' are left out. So a lane whose last row is empty shows that no longer prefix works
//! either.

use crate::bits::{below, by_width, first, flood, holds, index, span};
use crate::interference::{Interference, Slot};
use crate::track::Track;

/// The rows for one number of reads of T', as far as they have been needed.
#[derive(Clone, Debug, Default)]
pub(super) struct Lane {
    /// The step of T' before which its reads are in the lane's prefixes.
    reads_below: u32,
    /// The number of rows that are up to date.
    clean: usize,
    /// The number of words in a row that are computed; this lane does not need the other columns.
    width: usize,
    /// `[row][word]`, `width` words each.
    rows: Vec<u64>,
}

/// Rows that are not kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    row: Vec<u64>,
    next: Vec<u64>,
}

impl Scratch {
    pub(super) fn row(&self) -> &[u64] {
        &self.row
    }

    pub(super) fn row_mut(&mut self) -> &mut [u64] {
        &mut self.row
    }

    pub(super) fn keep(&mut self, row: &[u64]) {
        self.row.clear();
        self.row.extend_from_slice(row);
    }
}

impl Lane {
    /// Starts over for the prefixes with the reads before step `reads_below`.
    pub(super) fn restart(&mut self, reads_below: u32) {
        self.reads_below = reads_below;
        self.clean = 0;
        self.width = 0;
    }

    /// The step of T' before which its reads are in the lane's prefixes.
    pub(super) fn reads_below(&self) -> u32 {
        self.reads_below
    }

    /// Notes that rows from this one on are out of date.
    pub(super) fn spoil(&mut self, row: usize) {
        self.clean = self.clean.min(row);
    }

    /// The number of words that the lane takes up.
    pub(super) fn size(&self) -> usize {
        self.rows.len()
    }

    /// Widens the rows to cover columns up to `last`.
    pub(super) fn widen(&mut self, last: u32) {
        let width = last as usize / 64 + 1;
        if width > self.width {
            self.width = width;
            self.clean = 0;
        }
    }

    /// Row `row`, computed if it is out of date.
    #[inline]
    pub(super) fn row(&mut self, u: &Interference, t: &Track, row: usize) -> &[u64] {
        if self.clean <= row {
            self.compute(u, t, row);
        }
        &self.rows[row * self.width..(row + 1) * self.width]
    }

    fn compute(&mut self, u: &Interference, t: &Track, row: usize) {
        if u.words() == 1 {
            self.extend_one(u, t, row);
        } else {
            by_width!(self.width, |width| self.extend(u, t, row, width));
        }
    }

    /// The last row, with rows from `dirty` on seen but not kept.
    pub(super) fn probe<'a>(
        &mut self,
        u: &Interference,
        t: &Track,
        dirty: usize,
        scratch: &'a mut Scratch,
    ) -> &'a [u64] {
        let width = self.width;
        if u.words() == 1 {
            let (from, mut reached) = match dirty {
                0 => (1, one::first_row(u, t)),
                dirty => (dirty, self.row(u, t, dirty - 1)[0]),
            };
            let next = one::Next::new(u, self.reads_below);
            for (event, forbidden, blocked) in t.one(from, t.len()) {
                reached = next.row(event, forbidden, blocked, reached);
            }
            scratch.row.clear();
            scratch.row.push(reached);
            return &scratch.row;
        }
        scratch.row.resize(width, 0);
        scratch.next.resize(width, 0);
        if dirty > 0 {
            scratch.row.copy_from_slice(self.row(u, t, dirty - 1));
        }
        let below = self.reads_below;
        by_width!(width, |width| {
            if dirty == 0 {
                first_row(u, t, &mut scratch.row[..width], width);
            }
            for row in dirty.max(1)..=t.len() {
                next_row(
                    u,
                    t,
                    below,
                    row - 1,
                    &scratch.row[..width],
                    &mut scratch.next[..width],
                    width,
                );
                std::mem::swap(&mut scratch.row, &mut scratch.next);
            }
        });
        &scratch.row
    }

    /// The columns of the last row at which the object has a value that T' wrote after T's own latest write, which
    /// leads to row `written`.
    ///
    /// A path gets there by the step of T' that writes the value, in a row from `written` on, and by no further write
    /// to the object.
    pub(super) fn foreign<'a>(
        &mut self,
        u: &Interference,
        t: &Track,
        slot: Slot,
        written: usize,
        scratch: &'a mut Scratch,
    ) -> &'a [u64] {
        let (width, words) = (self.width, u.words());
        let last = t.len();
        self.row(u, t, last);
        scratch.row.clear();
        scratch.row.resize(width, 0);
        scratch.next.resize(width, 0);
        let writes = u.writes(slot);
        by_width!(width, |width| {
            for row in written..=last {
                if row > written {
                    let (from, to) = (&scratch.row[..width], &mut scratch.next[..width]);
                    next_entries(u, t, self.reads_below, row - 1, from, to, width);
                    std::mem::swap(&mut scratch.row, &mut scratch.next);
                }
                let all = &self.rows[row * width..][..width];
                let (forbidden, blocked) = (t.forbidden(row, words), t.blocked(row, words));
                let (mut carry, mut entered_before) = (false, 0);
                for word in 0..width {
                    let may = steps(u, word, forbidden, blocked);
                    let entering = all[word] & may & writes[word];
                    let reached = scratch.row[word] | entering << 1 | entered_before;
                    entered_before = entering >> 63;
                    scratch.row[word] = flood(reached, may & !writes[word], &mut carry);
                }
            }
        });
        &scratch.row
    }

    /// Takes from a row the columns at which T must not write the object.
    pub(super) fn keep_writable(&self, u: &Interference, slot: Slot, row: &mut [u64]) {
        keep_writable(u, slot, self.reads_below, row);
    }

    /// [`Self::extend`] for rows of one word.
    #[inline(always)]
    fn extend_one(&mut self, u: &Interference, t: &Track, last: usize) {
        if self.rows.len() <= last {
            self.rows.resize(2 * (last + 1), 0);
        }
        if self.clean == 0 {
            self.rows[0] = one::first_row(u, t);
            self.clean = 1;
        }
        let (done, rows) = self.rows.split_at_mut(self.clean);
        let mut reached = done[self.clean - 1];
        let next = one::Next::new(u, self.reads_below);
        for (row, (event, forbidden, blocked)) in rows.iter_mut().zip(t.one(self.clean, last)) {
            reached = next.row(event, forbidden, blocked, reached);
            *row = reached;
        }
        self.clean = last + 1;
    }

    #[inline(always)]
    fn extend(&mut self, u: &Interference, t: &Track, last: usize, width: usize) {
        if self.rows.len() < (last + 1) * width {
            self.rows.resize(2 * (last + 1) * width, 0);
        }
        if self.clean == 0 {
            first_row(u, t, &mut self.rows[..width], width);
            self.clean = 1;
        }
        for row in self.clean..=last {
            let (done, next) = self.rows.split_at_mut(row * width);
            next_row(
                u,
                t,
                self.reads_below,
                row - 1,
                &done[(row - 1) * width..],
                &mut next[..width],
                width,
            );
        }
        self.clean = last + 1;
    }
}

#[inline(always)]
fn first_row(u: &Interference, t: &Track, row: &mut [u64], width: usize) {
    row.fill(0);
    row[0] = 1;
    go_on(u, t, 0, row, width);
}

/// Row `at + 1` from row `at`.
#[inline(always)]
fn next_row(
    u: &Interference,
    t: &Track,
    reads_below: u32,
    at: usize,
    from: &[u64],
    to: &mut [u64],
    width: usize,
) {
    next_entries(u, t, reads_below, at, from, to, width);
    go_on(u, t, at + 1, to, width);
}

/// The columns of row `at + 1` that T's step leads to.
#[inline(always)]
fn next_entries(
    u: &Interference,
    t: &Track,
    reads_below: u32,
    at: usize,
    from: &[u64],
    to: &mut [u64],
    width: usize,
) {
    let event = t.event(at);
    let (low, high) = (event.low as usize, event.high as usize);
    let forbidden = t.forbidden(at + 1, u.words());
    for word in 0..width {
        to[word] = from[word] & span(low, high, word) & !forbidden[word];
    }
    if event.writes != 0 {
        keep_writable(u, event.writes, reads_below, &mut to[..width]);
    }
}

/// Takes from a row the columns inside x-live blocks of T', as far as their reads are before step `reads_below`.
#[inline(always)]
fn keep_writable(u: &Interference, slot: Slot, reads_below: u32, row: &mut [u64]) {
    let (live, reads) = (u.live(slot), u.reads(slot));
    // Up to the last of those reads.
    let mut later = false;
    for word in (0..row.len()).rev() {
        let counted = reads[word] & below(reads_below as usize, word);
        let reach = if later {
            u64::MAX
        } else {
            u64::MAX.checked_shr(counted.leading_zeros()).unwrap_or(0)
        };
        later |= counted != 0;
        row[word] &= !(live[word] & reach);
    }
}

/// Lets T' go on in a row of the grid as far as it can.
#[inline(always)]
fn go_on(u: &Interference, t: &Track, at: usize, row: &mut [u64], width: usize) {
    let (forbidden, blocked) = (t.forbidden(at, u.words()), t.blocked(at, u.words()));
    let mut carry = false;
    for (word, reached) in row[..width].iter_mut().enumerate() {
        *reached = flood(*reached, steps(u, word, forbidden, blocked), &mut carry);
    }
}

/// The steps that T' may take in a row of the grid: those that no x-live block of T blocks and that lead to no column
/// that is forbidden.
#[inline(always)]
fn steps(u: &Interference, word: usize, forbidden: &[u64], blocked: &[u64]) -> u64 {
    let ahead = forbidden.get(word + 1).map_or(0, |next| next << 63);
    let stopped = blocked[word] | forbidden[word] >> 1 | ahead;
    below(u.len(), word) & !stopped
}

/// Whether T, at this column, may write the object.
pub(super) fn may_write(u: &Interference, slot: Slot, reads_below: u32, column: usize) -> bool {
    let waits = holds(u.live(slot), column);
    let read = first(u.reads(slot), index(column));
    !(waits && read.is_some_and(|read| read < reads_below))
}

/// The lane for rows of one word, which P̂ₖ runs on for any log of T' under 64 events.
mod one {
    use super::{Interference, Track};
    use crate::bits::{below, flood};
    use crate::track::Event;

    /// What the computation of all rows shares.
    pub(super) struct Next<'a> {
        u: &'a Interference,
        steps: u64,
        counted: u64,
    }

    impl<'a> Next<'a> {
        #[inline(always)]
        pub(super) fn new(u: &'a Interference, reads_below: u32) -> Self {
            Self {
                u,
                steps: below(u.len(), 0),
                counted: below(reads_below as usize, 0),
            }
        }

        /// A row from the one above and the event between them.
        #[inline(always)]
        pub(super) fn row(&self, event: &Event, forbidden: u64, blocked: u64, above: u64) -> u64 {
            // An event that no column allows has low 1 and high 0.
            let allowed = u64::MAX << (event.low & 63) & u64::MAX >> (63 - (event.high & 63));
            let mut reached = above & allowed & !forbidden;
            if event.writes != 0 {
                let (reads, live) = self.u.reads_and_live(event.writes);
                let last = (reads & self.counted).leading_zeros();
                reached &= !(live & u64::MAX.checked_shr(last).unwrap_or(0));
            }
            let may = self.steps & !(blocked | forbidden >> 1);
            flood(reached, may, &mut false)
        }
    }

    /// The first row.
    pub(super) fn first_row(u: &Interference, t: &Track) -> u64 {
        let may = below(u.len(), 0) & !t.blocked(0, 1)[0];
        flood(1, may, &mut false)
    }
}
