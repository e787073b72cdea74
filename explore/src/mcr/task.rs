//! The expansion of a run, as something that can be put off and shared out.

use std::sync::{Mutex, OnceLock, PoisonError};

use super::expand::{Effort, Expansion, Questions};
use super::frontier::Shared;
use super::paths::Paths;
use super::races::predict;
use super::settle::Settled;
use crate::mcm::clocks::Clocks;
use crate::mcm::model::Model;
use crate::mcm::query::Solver;
use crate::mcm::state::State;

/// How much has to be left of a run for others to take part in it, in events times events that are asked about: some ten
/// microseconds of work.
const SHARED: usize = 1 << 11;

/// What a thread that expands keeps from one run to the next, for its memory: what it writes anew for each of them is
/// best not in another core's cache.
#[derive(Debug, Default)]
pub struct Memory {
    /// Of executions of models.
    pub state: State,
    clocks: Option<Clocks>,
}

/// A run to be expanded.
#[derive(Debug)]
pub struct Task {
    settled: Settled,
    /// How many events it had.
    events: usize,
    /// What it did, until somebody takes it up.
    trace: Mutex<Option<Box<Model>>>,
    /// From then on.
    model: OnceLock<Box<Model>>,
    /// From its beginning on.
    questions: OnceLock<Questions>,
    effort: Mutex<Effort>,
}

impl Task {
    /// A run that has been taken in, and what it did.
    #[must_use]
    pub fn new(settled: Settled, trace: Box<Model>) -> Self {
        Self {
            settled,
            events: trace.len(),
            trace: Mutex::new(Some(trace)),
            model: OnceLock::new(),
            questions: OnceLock::new(),
            effort: Mutex::default(),
        }
    }

    /// How many events the run had.
    #[must_use]
    pub const fn events(&self) -> usize {
        self.events
    }

    /// Whether it has begun, and more threads than one are of use.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        let questions = self.questions.get();
        questions.is_some_and(|questions| questions.left() * self.events >= SHARED)
    }

    /// The model of the run, which who comes first completes.
    ///
    /// # Panics
    /// When that one has panicked.
    pub fn model(&self, memory: &mut Memory) -> &Model {
        self.model.get_or_init(|| {
            let mut trace = self.trace.lock().unwrap_or_else(PoisonError::into_inner);
            let mut model = trace.take().expect("only one thread completes a model");
            if let Some(clocks) = memory.clocks.take() {
                model.use_memory(clocks);
            }
            model.seal();
            model
        })
    }

    /// The way of the run among the classes.
    #[must_use]
    pub const fn paths(&self) -> &Paths {
        &self.settled.paths
    }

    /// It has begun from now on.
    pub fn begin(&self, shared: &Shared, memory: &mut Memory) -> &Questions {
        let model = self.model(memory);
        self.questions
            .get_or_init(|| Questions::begin(&self.settled, model, shared))
    }

    /// Takes part: plants what follows from events that nobody has taken, until there has been so much work, in queries
    /// times events, or there is a reason to stop. Whether none are left.
    pub fn flip(
        &self,
        shared: &Shared,
        solver: &mut impl Solver,
        memory: &mut Memory,
        work: u64,
        stop: impl Fn() -> bool,
    ) -> bool {
        let questions = self.begin(shared, memory);
        let (settled, model) = (&self.settled, self.model(memory));
        let state = &mut memory.state;
        let mut expansion = Expansion::new(settled, model, shared, solver, state, questions);
        let queries = (work / self.events.max(1) as u64).max(1);
        let all = expansion.flip_all(queries, stop);
        self.add(expansion.effort());
        all
    }

    /// Plants what else follows from the run, when all have done their parts.
    pub fn finish(&self, shared: &Shared, solver: &mut impl Solver, memory: &mut Memory) {
        let questions = self.begin(shared, memory);
        let (settled, model) = (&self.settled, self.model(memory));
        let state = &mut memory.state;
        let mut expansion = Expansion::new(settled, model, shared, solver, state, questions);
        expansion.block_all();
        self.add(expansion.effort());
        let unknown = predict(model, solver, shared);
        self.add(Effort {
            unknown,
            ..Effort::default()
        });
        let mut frontier = shared.write();
        frontier.expanded(self.settled.run, self.effort());
        frontier.flush();
    }

    /// All of it.
    pub fn expand(&self, shared: &Shared, solver: &mut impl Solver, memory: &mut Memory) {
        self.flip(shared, solver, memory, u64::MAX, || false);
        self.finish(shared, solver, memory);
    }

    fn effort(&self) -> Effort {
        *self.effort.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, effort: Effort) {
        let mut all = self.effort.lock().unwrap_or_else(PoisonError::into_inner);
        all.add(effort);
    }

    /// What it was made of, for its memory: part of it for whoever expanded it last, and the rest for another run.
    pub fn take_apart(self, memory: &mut Memory) -> (Box<Model>, Paths) {
        let trace = self.trace.into_inner();
        let trace = trace.unwrap_or_else(PoisonError::into_inner);
        let mut model = self.model.into_inner().or(trace).unwrap_or_default();
        let clocks = model.give_memory();
        memory.clocks.get_or_insert(clocks);
        (model, self.settled.paths)
    }
}
