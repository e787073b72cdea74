//! Queries about a maximal causal model, and the trait of the solvers that answer these queries.

use super::model::{Cut, Model, Step};
use super::state::State;

/// What has to hold at the end of the execution that a query asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Nothing beyond the query's bounds.
    Reached,
    /// This lane has come to its upper bound, and the lane's next event can be next and would observe this sight.
    Next(u32, Sight),
    /// These lanes have come to their upper bounds, and the next event of either can be next.
    Both(u32, u32),
    /// No thread can go on: every thread has ended or waits.
    Stuck,
}

/// What an event would observe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// A value of which the thread learns this (see [`Step::view`]). For a lock: the lock is free, and the value is the
    /// value that it protects.
    Value(u64),
    /// A lock that can't be had at once.
    Refused,
    /// For a wake: whether the thread has been notified.
    Notified(bool),
    /// The outcome of an attempt that depends on the object's standing: see [`Transition`](crate::Transition).
    Outcome(u64),
}

impl Sight {
    /// Whether the step is enabled in this state and would observe this sight.
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
    /// Per lane: the least number of events that an answer has.
    pub lower: &'a [u32],
    /// Per lane: the greatest number of events that an answer has.
    pub upper: &'a [u32],
    /// What has to hold at the end of the execution.
    pub goal: Goal,
}

impl Query<'_> {
    /// Whether an execution that ends in this state is an answer.
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

/// Returns the next step of a thread. After the thread's last event in the trace, that is the operation that the thread
/// waits for at the end of the trace, if any.
pub(crate) fn next_or_wait<'m>(state: &State, model: &'m Model, lane: u32) -> Option<&'m Step> {
    state
        .next(model, lane)
        .or_else(|| model.lane_at(lane).waits.as_ref())
}

/// A solver's verdict on a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// There is such an execution: the lane of each of its events, in order.
    Feasible(Vec<u32>),
    /// There is no such execution.
    Infeasible,
    /// The solver gave up, so it is not known whether there is such an execution.
    Unknown,
}

/// Answers queries.
pub trait Solver {
    /// Finds an execution of the model that the query asks for.
    fn solve(&mut self, model: &Model, query: &Query<'_>) -> Verdict;
}

impl<S: Solver + ?Sized> Solver for Box<S> {
    fn solve(&mut self, model: &Model, query: &Query<'_>) -> Verdict {
        (**self).solve(model, query)
    }
}

/// Runs a witness step by step. Returns the state at its end if the witness is an answer to the query.
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

/// Returns the cut of a witness: per lane, the number of its events.
#[must_use]
pub fn cut_of(model: &Model, witness: &[u32]) -> Cut {
    let mut cut = vec![0; model.lanes().len()];
    for &lane in witness {
        cut[lane as usize] += 1;
    }
    cut
}
