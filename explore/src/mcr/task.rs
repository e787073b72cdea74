//! The expansion of a run, as something that can be put off and shared out.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use super::expand::{Effort, Expansion, Questions};
use super::frontier::Shared;
use super::paths::Paths;
use super::pool::Pool;
use super::races::predict;
use crate::mcm::model::Model;
use crate::mcm::query::Solver;
use crate::mcm::state::State;

/// A run to be expanded, as all who take part in it see it.
#[derive(Debug)]
pub struct Subject {
    run: u32,
    model: Model,
    paths: Paths,
    questions: OnceLock<Questions>,
}

impl Subject {
    fn questions(&self, shared: &Shared) -> &Questions {
        self.questions
            .get_or_init(|| Questions::of(&self.model, &self.paths, shared))
    }

    /// Takes part. What that took, and whether no event is left for others.
    pub fn flip(
        &self,
        shared: &Shared,
        solver: &mut impl Solver,
        state: &mut State,
        queries: u64,
        stop: &AtomicBool,
    ) -> (Effort, bool) {
        let (model, paths, questions) = (&self.model, &self.paths, self.questions(shared));
        let mut expansion = Expansion::new(model, paths, shared, solver, state, questions);
        let all = expansion.flip_all(queries, stop);
        (expansion.effort(), all)
    }
}

/// How much a run has to be for it to be shared out, in events times events that are asked about: some ten microseconds of
/// work.
const SHARED: usize = 1 << 11;

/// A run to be expanded.
#[derive(Debug)]
pub struct Task {
    subject: Arc<Subject>,
    effort: Effort,
}

impl Task {
    /// The run of this number: what it did, and its nodes.
    #[must_use]
    pub fn new(run: u32, model: Model, paths: Paths) -> Self {
        let subject = Subject {
            run,
            model,
            paths,
            questions: OnceLock::new(),
        };
        Self {
            subject: Arc::new(subject),
            effort: Effort::default(),
        }
    }

    /// How many events the run had.
    #[must_use]
    pub fn events(&self) -> usize {
        self.subject.model.len()
    }

    /// Plants all that follows from the run. The state is for its memory.
    pub fn expand(&mut self, shared: &Shared, solver: &mut impl Solver, state: &mut State) {
        self.advance(shared, solver, state, None, u64::MAX);
    }

    /// Plants what follows from the run, with the help of a pool if there is one, and leaves the rest for later after so
    /// much work, in queries times events. Whether that was all.
    pub fn advance(
        &mut self,
        shared: &Shared,
        solver: &mut impl Solver,
        state: &mut State,
        pool: Option<&Pool>,
        work: u64,
    ) -> bool {
        let subject = &self.subject;
        let events = subject.model.len().max(1);
        let queries = (work / events as u64).max(1);
        let size = subject.questions(shared).len() * events;
        let helping = pool.filter(|_| size >= SHARED);
        let helping = helping.map(|pool| pool.share(Arc::clone(subject)));
        let (effort, all) = subject.flip(shared, solver, state, queries, &AtomicBool::new(false));
        self.effort.add(effort);
        if let Some(helping) = helping {
            self.effort.add(helping.end());
        }
        if !all {
            return false;
        }
        let Subject {
            run,
            model,
            paths,
            questions,
        } = &**subject;
        if let Some(questions) = questions.get() {
            let mut expansion = Expansion::new(model, paths, shared, solver, state, questions);
            expansion.block_all();
            self.effort.add(expansion.effort());
        }
        self.effort.unknown += predict(model, solver, shared);
        let mut frontier = shared.write();
        frontier.expanded(*run, self.effort);
        frontier.flush();
        true
    }

    /// The model, for its memory.
    #[must_use]
    pub fn into_model(self) -> Model {
        let subject = Arc::try_unwrap(self.subject);
        subject.map(|subject| subject.model).unwrap_or_default()
    }
}
