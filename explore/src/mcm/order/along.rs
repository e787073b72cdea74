//! The trace's own order as a guess.
//!
//! Most of what can be asked of a long trace has an answer that is nearly the trace itself: everything in its order, but
//! for what can't be kept without the event that is asked about. A walk that prefers what is needed may be far from
//! that. So where it gives up, the trace is followed once, which takes as many steps as it has events.

use super::super::model::Model;
use super::super::query::Query;
use super::super::state::State;

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
            state.take(lane, step);
        }
    }
    query.is_met(state, model)
}
