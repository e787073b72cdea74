//! The trace's own order as a guess.
//!
//! What is closed under happens-before in the trace is an execution, in the order of the trace. If all that has to be in
//! an answer, and a write of what is to be seen, are closed so without the event that is asked about, that is
//! an answer, and mostly there is one of that kind: so that is looked at before anything else.
//!
//! Most of what can be asked of a long trace has an answer that is nearly the trace itself: everything in its order, but
//! for what can't be kept without the event that is asked about. A walk that prefers what is needed may be far from
//! that. So where that gives up, the trace is followed once, which takes as many steps as it has events.

use super::super::model::{Block, Model, Step};
use super::super::query::{Goal, Query, Sight};
use super::super::state::State;

/// The number of writes that are tried as the source of the wanted value.
const WRITES: usize = 8;

/// Looks for an answer that is closed under happens-before. Returns whether there is one; the state is then at its end.
pub(super) fn guess(
    model: &Model,
    query: &Query<'_>,
    cut: &mut Vec<u32>,
    state: &mut State,
) -> bool {
    let Goal::Next(lane, Sight::Value(view)) = query.goal else {
        return false;
    };
    let of = model.lane_at(lane);
    let index = query.upper[lane as usize];
    let Some(step) = of.steps.get(index as usize).or(of.waits.as_ref()) else {
        return false;
    };
    let cell = &model.cells()[step.object as usize];
    cut.clear();
    cut.extend_from_slice(query.lower);
    for other in 0..cut.len() {
        if let Some(last) = cut[other].checked_sub(1) {
            add(model, cut, (u32::try_from(other).unwrap_or(u32::MAX), last));
        }
    }
    let is_open = |cut: &mut [u32]| {
        let within = |cut: &[u32]| cut.iter().zip(query.upper).all(|(at, upper)| at <= upper);
        within(cut) && finish_blocks(model, step, cut) && within(cut)
    };
    // The last write of an execution in the order of the trace.
    let sees = |cut: &[u32]| {
        let mut writes = cell.writes.iter().rev();
        let last = writes.find(|write| write.1 < cut[write.0 as usize]);
        step.view(last.map_or(cell.initial, |&write| model.step(write).left)) == view
    };
    if !is_open(cut) {
        return false;
    }
    let base = cut.len();
    if !sees(cut) {
        cut.extend_from_within(..);
        let fitting = cell.writes.iter().filter(|&&write| {
            write.1 >= cut[write.0 as usize]
                && write.1 < query.upper[write.0 as usize]
                && step.view(model.step(write).left) == view
        });
        let fitting: Vec<_> = fitting.take(WRITES).copied().collect();
        let found = fitting.into_iter().any(|write| {
            cut.copy_within(..base, base);
            add(model, &mut cut[base..], write);
            is_open(&mut cut[base..]) && sees(&cut[base..])
        });
        if !found {
            return false;
        }
        cut.drain(..base);
    }
    follow(model, query, cut, state)
}

/// Adds the rest of blocks that others come after, be it the event that is asked about. False: they have none.
fn finish_blocks(model: &Model, next: &Step, cut: &mut [u32]) -> bool {
    loop {
        let mut open = None;
        for (object, cell) in model.cells().iter().enumerate() {
            let begun = |block: &&Block| block.start < cut[block.lane as usize];
            let asked = next.kind.acquires() && next.object as usize == object;
            // Blocks are in the order of the trace.
            let mut later = asked;
            for block in cell.blocks.iter().rev().filter(begun) {
                if later && block.end >= cut[block.lane as usize] {
                    open = Some(block);
                }
                later = true;
            }
        }
        match open {
            None => return true,
            Some(block) if block.end == u32::MAX => return false,
            Some(block) => add(model, cut, (block.lane, block.end)),
        }
    }
}

/// Adds an event and what happened before it.
fn add(model: &Model, cut: &mut [u32], (lane, index): (u32, u32)) {
    let row = model.row((lane, index)) * cut.len();
    let before = &model.happened()[row..row + cut.len()];
    for (at, &before) in cut.iter_mut().zip(before) {
        *at = (*at).max(before);
    }
    cut[lane as usize] = cut[lane as usize].max(index + 1);
}

/// Takes the events within a cut in the order of the trace, as far as each can be kept, until that is an answer.
/// Whether it is.
pub(super) fn follow(model: &Model, query: &Query<'_>, cut: &[u32], state: &mut State) -> bool {
    state.begin(model);
    for &(lane, index) in model.order() {
        if query.is_met(state, model) {
            return true;
        }
        let at = lane as usize;
        let step = model.step((lane, index));
        if state.cut()[at] == index
            && index < cut[at].min(query.upper[at])
            && state.keeps(model, lane, step)
        {
            state.take(model, lane, step);
        }
    }
    query.is_met(state, model)
}
