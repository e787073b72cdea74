//! The bit rows of the grid: which columns T' can be at when T has done i events.
//!
//! How far T' goes decides which of its reads T must not disturb, and nothing else. So the prefixes of T' that hold the
//! same reads share their rows: a *lane*. A lane's rows cover columns beyond its own prefixes too. There they are too
//! generous, as later reads of T' are left out; that is of use: a lane whose last row is empty shows that no longer
//! prefix works either.

use super::interference::{Interference, NONE, index, span, up_to};
use super::track::Track;

/// The rows of one number of reads of T', as far as they have been asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Lane {
    /// The reads of T' before this step count.
    reads_below: u32,
    /// Rows below this one are right.
    clean: usize,
    /// Words in a row that are computed; the other columns are of no interest to this lane.
    width: usize,
    /// `[row][word]`, `width` words each.
    rows: Vec<u64>,
}

impl Lane {
    /// Starts over for the prefixes with the reads before step `reads_below`.
    pub(super) fn restart(&mut self, reads_below: u32) {
        self.reads_below = reads_below;
        self.clean = 0;
        self.width = 0;
    }

    /// The reads of T' before this step count.
    pub(super) fn reads_below(&self) -> u32 {
        self.reads_below
    }

    /// Rows from this one on are no longer what they were.
    pub(super) fn spoil(&mut self, row: usize) {
        self.clean = self.clean.min(row);
    }

    /// Sees to it that columns up to `last` are covered.
    pub(super) fn widen(&mut self, last: u32) {
        let width = last as usize / 64 + 1;
        if width > self.width {
            self.width = width;
            self.clean = 0;
        }
    }

    /// Row `row`, computed as far as it is not yet.
    pub(super) fn row(&mut self, u: &Interference, t: &Track, row: usize) -> &[u64] {
        if self.clean <= row {
            self.extend(u, t, row);
        }
        &self.rows[row * self.width..(row + 1) * self.width]
    }

    /// The last row, given that rows from `dirty` on are to be seen without being kept.
    pub(super) fn probe<'a>(
        &mut self,
        u: &Interference,
        t: &Track,
        dirty: usize,
        scratch: &'a mut Scratch,
    ) -> &'a [u64] {
        let width = self.width;
        let last = t.len();
        scratch.even.resize(width, 0);
        scratch.odd.resize(width, 0);
        let mut row = dirty;
        if row == 0 {
            first_row(u, t, &mut scratch.even);
        } else {
            scratch
                .even
                .copy_from_slice(&self.row(u, t, row - 1)[..width]);
            next_row(
                u,
                t,
                self.reads_below,
                row - 1,
                &scratch.even,
                &mut scratch.odd,
            );
            std::mem::swap(&mut scratch.even, &mut scratch.odd);
        }
        while row < last {
            next_row(u, t, self.reads_below, row, &scratch.even, &mut scratch.odd);
            std::mem::swap(&mut scratch.even, &mut scratch.odd);
            row += 1;
        }
        &scratch.even
    }

    fn extend(&mut self, u: &Interference, t: &Track, last: usize) {
        let width = self.width;
        if self.rows.len() < (last + 1) * width {
            self.rows.resize((last + 1) * width, 0);
        }
        if self.clean == 0 {
            first_row(u, t, &mut self.rows[..width]);
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
            );
        }
        self.clean = last + 1;
    }
}

/// Rows that are thrown away.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    even: Vec<u64>,
    odd: Vec<u64>,
}

fn first_row(u: &Interference, t: &Track, row: &mut [u64]) {
    row.fill(0);
    row[0] = 1;
    flood(u, t, 0, row);
}

/// Row `at + 1` from row `at`.
fn next_row(
    u: &Interference,
    t: &Track,
    reads_below: u32,
    at: usize,
    from: &[u64],
    to: &mut [u64],
) {
    let event = t.event(at);
    let (low, high) = (event.low as usize, event.high as usize);
    let words = u.words();
    let forbidden = &t.forbidden()[(at + 1) * words..];
    for (word, to) in to.iter_mut().enumerate() {
        *to = from[word] & span(low, high, word) & !forbidden[word];
    }
    if event.writes != NONE
        && let Some(live) = u.live(event.writes)
        && let Some(last) = last_read(u, event.writes, reads_below)
    {
        for (word, to) in to.iter_mut().enumerate() {
            *to &= !(live[word] & up_to(last as usize, word));
        }
    }
    flood(u, t, at + 1, to);
}

/// The last read of x by T' before a step.
pub(super) fn last_read(u: &Interference, x: u32, below: u32) -> Option<u32> {
    let reads = u.reads(x)?;
    let last = below.checked_sub(1)? as usize;
    (0..=last / 64).rev().find_map(|word| {
        let found = reads[word] & up_to(last, word);
        (found != 0).then(|| index(word * 64) + found.ilog2())
    })
}

/// Lets T' go on in row `at` as far as it can.
///
/// T' may take step j, from column j to column j + 1, when no x-live block of T blocks it and column j + 1 is not
/// forbidden. Let S be those steps and E the columns reached so far (none of them forbidden). In the sum S + (E ∧ S) a
/// carry starts at each reached column that may be left and runs through the steps on its right up to the first one
/// that may not be taken, where it comes to rest; further reached columns on its way change nothing. So the bits that
/// a carry comes into are the columns that T' gets to, and they are S ⊕ (E ∧ S) ⊕ the sum.
fn flood(u: &Interference, t: &Track, at: usize, row: &mut [u64]) {
    let words = u.words();
    let forbidden = &t.forbidden()[at * words..(at + 1) * words];
    let blocked = &t.blocked()[at * words..(at + 1) * words];
    let steps = u.len();
    let mut carry = false;
    for word in 0..row.len() {
        let ahead = forbidden.get(word + 1).copied().unwrap_or(0);
        let stopped = blocked[word] | forbidden[word] >> 1 | ahead << 63;
        let may = match steps.checked_sub(1) {
            Some(last) => up_to(last, word) & !stopped,
            None => 0,
        };
        let leaving = row[word] & may;
        let (sum, over) = may.overflowing_add(leaving);
        let (sum, over_again) = sum.overflowing_add(u64::from(carry));
        row[word] |= sum ^ may ^ leaving;
        carry = over | over_again;
    }
}
