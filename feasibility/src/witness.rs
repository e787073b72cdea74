//! Reads an interleaving off the rows of the grid, backwards from its end.

use crate::bits::{holds, index};
use crate::interference::Interference;
use crate::lane::{Lane, may_write};
use crate::track::Track;
use crate::{Interleaving, Step};

/// The interleaving that ends with T' having done `cut` events. The last row of the lane must have that column.
pub(super) fn trace_back(u: &Interference, t: &Track, lane: &mut Lane, cut: usize) -> Interleaving {
    let steps = walk_back(t.len(), cut, |row, column| {
        let from_above = row > 0
            && holds(lane.row(u, t, row - 1), column)
            && t_may_step(u, t, lane.reads_below(), row - 1, column);
        let from_left = column > 0
            && holds(lane.row(u, t, row), column - 1)
            && !holds(t.blocked(row, u.words()), column - 1);
        [from_above, from_left]
    });
    Interleaving(steps)
}

/// The way to this place of the grid, where `ways` says whether a place is reached from above, by a step of T, and
/// whether from the left, by a step of T'. Of two ways back, the way that stays in the same thread is taken, so that
/// the interleaving switches threads rarely.
pub(super) fn walk_back(
    row: usize,
    column: usize,
    mut ways: impl FnMut(usize, usize) -> [bool; 2],
) -> Vec<Step> {
    let (mut row, mut column) = (row, column);
    let mut steps = Vec::with_capacity(row + column);
    let mut in_t = true;
    while (row, column) != (0, 0) {
        let [from_above, from_left] = ways(row, column);
        debug_assert!(
            from_above || from_left,
            "no way back from ({row}, {column})"
        );
        in_t = if in_t { from_above } else { !from_left };
        if in_t {
            row -= 1;
            steps.push(Step::UnderTest(index(row)));
        } else {
            column -= 1;
            steps.push(Step::Interfering(index(column)));
        }
    }
    steps.reverse();
    steps
}

/// Whether T may take step `at` while T' is at the column.
fn t_may_step(u: &Interference, t: &Track, reads_below: u32, at: usize, column: usize) -> bool {
    let event = t.event(at);
    (event.low as usize..=event.high as usize).contains(&column)
        && (event.writes == 0 || may_write(u, event.writes, reads_below, column))
}
