//! Walks all states, without any thought.

use std::collections::HashSet;

use seqz_explore::mcm::{Model, Query, State};

/// Whether an execution of the model is an answer. `None`: there are too many states.
pub(crate) fn answer(model: &Model, query: &Query<'_>, states: usize) -> Option<bool> {
    let mut seen = HashSet::new();
    let mut open = vec![Vec::new()];
    while let Some(path) = open.pop() {
        let mut state = State::default();
        state.begin(model);
        for &lane in &path {
            let step = *state.next(model, lane).expect("it was there");
            state.take(model, lane, &step);
        }
        if !seen.insert(state.hash()) {
            continue;
        }
        if query.is_met(&state, model) {
            return Some(true);
        }
        if seen.len() > states {
            return None;
        }
        for lane in 0..model.lanes().len() as u32 {
            if state.cut()[lane as usize] < query.upper[lane as usize]
                && let Some(step) = state.next(model, lane)
                && state.keeps(model, lane, step)
            {
                let mut longer = path.clone();
                longer.push(lane);
                open.push(longer);
            }
        }
    }
    Some(false)
}

/// Whether an execution of a small model is an answer.
pub(crate) fn has_answer(model: &Model, query: &Query<'_>) -> bool {
    answer(model, query, usize::MAX).expect("there is no bound")
}
