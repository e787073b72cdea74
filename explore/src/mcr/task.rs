//! The expansion of a run, as something that can be put off.

use super::expand::{Expansion, Progress};
use super::frontier::Shared;
use super::paths::Paths;
use super::races::predict;
use crate::mcm::model::Model;
use crate::mcm::query::Solver;
use crate::mcm::state::State;

/// A run to be expanded.
#[derive(Debug)]
pub struct Task {
    run: u32,
    model: Model,
    paths: Paths,
    progress: Progress,
}

impl Task {
    /// The run of this number: what it did, and its nodes.
    #[must_use]
    pub fn new(run: u32, model: Model, paths: Paths) -> Self {
        Self {
            run,
            model,
            paths,
            progress: Progress::default(),
        }
    }

    /// How many events the run had.
    #[must_use]
    pub fn events(&self) -> usize {
        self.model.len()
    }

    /// Plants all that follows from the run. The state is for its memory.
    pub fn expand(&mut self, shared: &Shared, solver: &mut impl Solver, state: &mut State) {
        self.advance(shared, solver, state, u64::MAX);
    }

    /// Plants what follows from the run, and leaves the rest for later after so much work, in queries times events. Whether
    /// that was all.
    pub fn advance(
        &mut self,
        shared: &Shared,
        solver: &mut impl Solver,
        state: &mut State,
        work: u64,
    ) -> bool {
        let queries = (work / self.model.len().max(1) as u64).max(1);
        let progress = std::mem::take(&mut self.progress);
        let (model, paths) = (&self.model, &self.paths);
        let mut expansion = Expansion::new(model, paths, self.run, shared, solver, state, progress);
        if !expansion.flip_all(queries) {
            self.progress = expansion.pause();
            return false;
        }
        expansion.block_all();
        let mut effort = expansion.effort();
        effort.unknown += predict(model, self.run, solver, shared);
        let mut frontier = shared.write();
        frontier.expanded(self.run, effort);
        frontier.flush();
        true
    }

    /// The model, for its memory.
    #[must_use]
    pub fn into_model(self) -> Model {
        self.model
    }
}
