//! What is asked of a maximal causal model, and the seam to whoever answers.

use super::model::{Cut, Model, Step};
use super::state::State;

/// What has to be true where the execution ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Nothing beyond the bounds on how far the threads have come.
    Reached,
    /// The next event of this lane, which has come to its upper bound, can be next and would observe this.
    Next(u32, Sight),
    /// These lanes have come to their upper bounds, and the next event of either can be next.
    Both(u32, u32),
    /// Nobody can go on: every thread has ended or waits.
    Stuck,
}

/// What an event would observe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// A value of which the thread learns this (see [`Step::view`]). For a lock: it is free, and that is its content.
    Value(u64),
    /// A lock that can't be had at once.
    Refused,
    /// That it has been notified, or that it has not.
    Notified(bool),
    /// What comes of an attempt that depends on how the object stands: see [`Transition`](crate::Transition).
    Outcome(u64),
}

impl Sight {
    /// Whether that is what the step would observe in this state, and it is enabled.
    #[must_use]
    pub fn holds(self, state: &State, model: &Model, lane: u32, step: &Step) -> bool {
        if self != Self::Notified(false) && !state.is_enabled(model, lane, step) {
            return false;
        }
        match self {
            Self::Value(view) => {
                (!step.tries() || state.may_try(step))
                    && step.view(state.value(step.object)) == view
            }
            Self::Refused => !state.may_try(step),
            Self::Outcome(outcome) => state.comes(model, step) == Some(outcome),
            Self::Notified(notified) => state.has_permit(step.object, lane) == notified,
        }
    }
}

/// Asks for an execution of a model.
#[derive(Clone, Debug)]
pub struct Query<'a> {
    /// At least so many events of each thread.
    pub lower: &'a [u32],
    /// At most so many.
    pub upper: &'a [u32],
    /// What has to be true at its end.
    pub goal: Goal,
}

impl Query<'_> {
    /// Whether an execution that stands so is an answer.
    #[must_use]
    pub fn is_met(&self, state: &State, model: &Model) -> bool {
        let within = |(&at, &bound): (&u32, &u32)| at >= bound;
        if !state.cut().iter().zip(self.lower).all(within) {
            return false;
        }
        match self.goal {
            Goal::Reached => true,
            Goal::Next(lane, sight) => {
                self.is_at_bound(state, lane)
                    && next_or_wait(state, model, lane)
                        .is_some_and(|step| sight.holds(state, model, lane, step))
            }
            Goal::Both(one, other) => [one, other].into_iter().all(|lane| {
                self.is_at_bound(state, lane)
                    && next_or_wait(state, model, lane)
                        .is_some_and(|step| state.is_enabled(model, lane, step))
            }),
            Goal::Stuck => (0..model.lanes().len()).all(|lane| {
                let lane = u32::try_from(lane).unwrap_or(u32::MAX);
                next_or_wait(state, model, lane)
                    .is_none_or(|step| !state.is_enabled(model, lane, step))
            }),
        }
    }

    fn is_at_bound(&self, state: &State, lane: u32) -> bool {
        state.cut()[lane as usize] == self.upper[lane as usize]
    }
}

/// What a thread does next, be it that the trace ends before.
pub(crate) fn next_or_wait<'m>(state: &State, model: &'m Model, lane: u32) -> Option<&'m Step> {
    state
        .next(model, lane)
        .or_else(|| model.lane_at(lane).waits.as_ref())
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// There is one: the lane of each of its events, in order.
    Feasible(Vec<u32>),
    /// There is none.
    Infeasible,
    /// The solver gave up. That says nothing of whether there is one.
    Unknown,
}

/// Answers queries.
pub trait Solver {
    /// Finds an execution of the model.
    fn solve(&mut self, model: &Model, query: &Query<'_>) -> Verdict;
}

impl<S: Solver + ?Sized> Solver for Box<S> {
    fn solve(&mut self, model: &Model, query: &Query<'_>) -> Verdict {
        (**self).solve(model, query)
    }
}

/// Runs a witness step by step; how the execution stands at its end, if it is an answer to the query.
#[must_use]
pub fn validate(model: &Model, query: &Query<'_>, witness: &[u32]) -> Option<State> {
    let mut state = State::default();
    state.begin(model);
    for &lane in witness {
        let step = *state.next(model, lane)?;
        if state.cut()[lane as usize] >= query.upper[lane as usize]
            || !state.keeps(model, lane, &step)
        {
            return None;
        }
        state.take(model, lane, &step);
    }
    query.is_met(&state, model).then_some(state)
}

/// How far each thread comes in a witness.
#[must_use]
pub fn cut_of(model: &Model, witness: &[u32]) -> Cut {
    let mut cut = vec![0; model.lanes().len()];
    for &lane in witness {
        cut[lane as usize] += 1;
    }
    cut
}
