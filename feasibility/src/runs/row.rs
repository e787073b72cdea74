//! A row of the grid as runs of columns, and the rows that follow from it as either thread goes on.

use super::other::{Span, Uses};
use crate::bits::first;

/// Columns that T' can be at, and how far T' can still come from there: to column `top` and no further. On the way to
/// these columns, T has written what step `top` reads, and must not see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Run {
    pub(super) low: u32,
    pub(super) high: u32,
    pub(super) top: u32,
}

/// Makes a row, from left to right, of runs that are as long as they can be.
#[derive(Debug, Default)]
pub(super) struct Making(pub(super) Vec<Run>);

impl Making {
    fn add(&mut self, low: u32, high: u32, top: u32) {
        if low > high {
            return;
        }
        match self.0.last_mut() {
            Some(last) if last.high + 1 == low && last.top == top => last.high = high,
            _ => self.0.push(Run { low, high, top }),
        }
    }
}

/// Keeps the columns that lie in a span.
pub(super) fn within(row: &[Run], (low, high): Span, out: &mut Making) {
    let first = row.partition_point(|run| run.high < low);
    for run in &row[first..] {
        if run.low > high {
            break;
        }
        out.add(run.low.max(low), run.high.min(high), run.top);
    }
}

/// Keeps the columns that lie in none of these spans.
pub(super) fn outside(row: &[Run], spans: &[Span], out: &mut Making) {
    let mut at = 0;
    for run in row {
        at += spans[at..].partition_point(|span| span.1 < run.low);
        let mut low = run.low;
        for &(from, to) in &spans[at..] {
            if from > run.high {
                break;
            }
            if from > low {
                out.add(low, from - 1, run.top);
            }
            low = to + 1;
        }
        out.add(low, run.high, run.top);
    }
}

/// The row after T writes an object that is live in these spans: T' comes no further than to the read.
pub(super) fn written(row: &[Run], live: &[Span], out: &mut Making) {
    let mut at = 0;
    for run in row {
        at += live[at..].partition_point(|span| span.1 < run.low);
        let mut low = run.low;
        for &(from, to) in &live[at..] {
            if from > run.high {
                break;
            }
            if from > low {
                out.add(low, from - 1, run.top);
                low = from;
            }
            let high = run.high.min(to);
            out.add(low, high, run.top.min(to));
            low = high + 1;
        }
        out.add(low, run.high, run.top);
    }
}

/// Lets T' go on from these columns as far as no stop is in the way: steps that it must not take.
pub(super) fn flood(row: &[Run], stops: &[u64], out: &mut Making) {
    // The column to which T' comes from the columns before, and how far T' could come from there. Several ways to go on
    // end at the same stop: the way that can come further is the better one.
    let mut flow: Option<(u32, u32)> = None;
    let mut next = 0;
    for run in row {
        let mut low = run.low;
        if let Some((end, top)) = flow {
            out.add(next, end.min(run.low - 1), top);
            if top > run.top && end >= run.low {
                out.add(low, end.min(run.high), top);
                low = end.min(run.high) + 1;
            }
        }
        out.add(low, run.high, run.top);
        next = run.high + 1;
        let goes_on = flow.is_some_and(|(end, top)| end > run.high && top > run.top);
        if !goes_on {
            let stop = first(stops, run.high).unwrap_or(u32::MAX);
            flow = Some((stop.min(run.top), run.top));
        }
    }
    if let Some((end, top)) = flow {
        out.add(next, end, top);
    }
}

/// Where T' comes by writing the object, from these columns: the first such step of each way without a stop.
pub(super) fn entering(row: &[Run], uses: &Uses, stops: &[u64]) -> Vec<(u32, u32)> {
    let mut found = Vec::new();
    for run in row {
        let mut from = run.low;
        while let Some(step) = uses.next_write(from).filter(|&step| step <= run.high) {
            let stop = first(stops, step).unwrap_or(u32::MAX);
            from = step + 1;
            if stop > step {
                if run.top > step {
                    found.push((step + 1, run.top));
                }
                from = stop.saturating_add(1);
            }
        }
    }
    found
}

/// A row with some further columns.
pub(super) fn with(row: &[Run], columns: &[(u32, u32)]) -> Vec<Run> {
    let mut all = Making::default();
    let mut columns = columns.iter().copied().peekable();
    for run in row {
        let mut low = run.low;
        while let Some(&(column, top)) = columns.peek()
            && column <= run.high
        {
            columns.next();
            if column < low {
                // The column is before the run: columns in the run have been handled in their order.
                all.add(column, column, top);
            } else if top > run.top {
                if column > low {
                    all.add(low, column - 1, run.top);
                }
                all.add(column, column, top);
                low = column + 1;
            }
        }
        all.add(low, run.high, run.top);
    }
    for (column, top) in columns {
        all.add(column, column, top);
    }
    all.0
}
