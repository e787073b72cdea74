//! The expansion of a run, as something that can be put off and shared out.

use std::sync::{Mutex, OnceLock, PoisonError};

use super::expand::{Effort, Expansion, Questions};
use super::frontier::Shared;
use super::races::predict;
use super::settle::Settled;
use crate::mcm::model::Model;
use crate::mcm::query::Solver;
use crate::mcm::state::State;

/// How much has to be left of a run for others to take part in it, in events times events that are asked about: some ten
/// microseconds of work.
const SHARED: usize = 1 << 11;

/// A run to be expanded.
#[derive(Debug)]
pub struct Task {
    settled: Settled,
    model: Model,
    /// From its beginning on.
    questions: OnceLock<Questions>,
    effort: Mutex<Effort>,
}

impl Task {
    /// A run that has been taken in, and what it did.
    #[must_use]
    pub fn new(settled: Settled, model: Model) -> Self {
        Self {
            settled,
            model,
            questions: OnceLock::new(),
            effort: Mutex::default(),
        }
    }

    /// How many events the run had.
    #[must_use]
    pub fn events(&self) -> usize {
        self.model.len()
    }

    /// Whether it has begun, and more threads than one are of use.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        let questions = self.questions.get();
        questions.is_some_and(|questions| questions.left() * self.model.len() >= SHARED)
    }

    /// It has begun from now on.
    pub fn begin(&self, shared: &Shared) -> &Questions {
        self.questions
            .get_or_init(|| Questions::begin(&self.settled, &self.model, shared))
    }

    /// Takes part: plants what follows from events that nobody has taken, until there has been so much work, in queries
    /// times events, or there is a reason to stop. Whether none are left.
    pub fn flip(
        &self,
        shared: &Shared,
        solver: &mut impl Solver,
        state: &mut State,
        work: u64,
        stop: impl Fn() -> bool,
    ) -> bool {
        let (settled, model) = (&self.settled, &self.model);
        let questions = self.begin(shared);
        let mut expansion = Expansion::new(settled, model, shared, solver, state, questions);
        let queries = (work / model.len().max(1) as u64).max(1);
        let all = expansion.flip_all(queries, stop);
        self.add(expansion.effort());
        all
    }

    /// Plants what else follows from the run, when all have done their parts.
    pub fn finish(&self, shared: &Shared, solver: &mut impl Solver, state: &mut State) {
        let (settled, model) = (&self.settled, &self.model);
        if let Some(questions) = self.questions.get() {
            let mut expansion = Expansion::new(settled, model, shared, solver, state, questions);
            expansion.block_all();
            self.add(expansion.effort());
        }
        let unknown = predict(model, solver, shared);
        self.add(Effort {
            unknown,
            ..Effort::default()
        });
        let mut frontier = shared.write();
        frontier.expanded(self.settled.run, self.effort());
        frontier.flush();
    }

    /// All of it. The state is for its memory.
    pub fn expand(&self, shared: &Shared, solver: &mut impl Solver, state: &mut State) {
        self.flip(shared, solver, state, u64::MAX, || false);
        self.finish(shared, solver, state);
    }

    fn effort(&self) -> Effort {
        *self.effort.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, effort: Effort) {
        let mut all = self.effort.lock().unwrap_or_else(PoisonError::into_inner);
        all.add(effort);
    }

    /// The model, for its memory.
    #[must_use]
    pub fn into_model(self) -> Model {
        self.model
    }
}
