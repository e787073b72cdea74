//! The expansion of a run as a task, which can be put off and shared among threads.

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

/// The work that has to be left of a run for other threads to take part in it, in events of the run times events to ask
/// about: some ten microseconds.
const SHARED: usize = 1 << 11;

/// The memory that an expanding thread keeps from one run to the next: memory written anew for each run should not come
/// from another core's cache.
#[derive(Debug, Default)]
pub struct Memory {
    /// The state of executions of models.
    pub state: State,
    clocks: Option<Clocks>,
}

/// A run to be expanded.
#[derive(Debug)]
pub struct Task {
    settled: Settled,
    /// The number of events of the run.
    events: usize,
    /// The trace of the run, until a thread completes the model.
    trace: Mutex<Option<Box<Model>>>,
    /// The model of the run, once a thread has completed it.
    model: OnceLock<Box<Model>>,
    /// The questions about the run, once the expansion has begun.
    questions: OnceLock<Questions>,
    effort: Mutex<Effort>,
}

impl Task {
    /// The expansion of a settled run with this trace.
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

    /// The number of events of the run.
    #[must_use]
    pub const fn events(&self) -> usize {
        self.events
    }

    /// Whether the expansion has begun, and has enough work left for more than one thread.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        let questions = self.questions.get();
        questions.is_some_and(|questions| questions.left() * self.events >= SHARED)
    }

    /// The model of the run. The first thread to call this function completes the model.
    ///
    /// # Panics
    /// When the thread that was to complete the model has panicked.
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

    /// The run's paths in the trees of the classes.
    #[must_use]
    pub const fn paths(&self) -> &Paths {
        &self.settled.paths
    }

    /// Begins the expansion, unless it has begun.
    pub fn begin(&self, shared: &Shared, memory: &mut Memory) -> &Questions {
        let model = self.model(memory);
        self.questions
            .get_or_init(|| Questions::begin(&self.settled, model, shared))
    }

    /// Takes part: plants the seeds that follow from events that no thread has taken, up to `work`, in queries times
    /// events, or until `stop` returns true. Returns whether no event is left.
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

    /// Plants the other seeds that follow from the run, when all threads have done their parts.
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

    /// Makes the whole expansion.
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

    /// The model and the paths of an expanded run, of which there is more to be asked.
    pub(crate) fn into_model(self, memory: &mut Memory) -> (Box<Model>, Paths) {
        self.model(memory);
        (
            self.model.into_inner().unwrap_or_default(),
            self.settled.paths,
        )
    }

    /// Takes the task apart for its memory: the clocks go to the thread that expanded the run last, and the model and the
    /// paths are returned, for another run.
    pub fn take_apart(self, memory: &mut Memory) -> (Box<Model>, Paths) {
        let trace = self.trace.into_inner();
        let trace = trace.unwrap_or_else(PoisonError::into_inner);
        let mut model = self.model.into_inner().or(trace).unwrap_or_default();
        let clocks = model.give_memory();
        memory.clocks.get_or_insert(clocks);
        (model, self.settled.paths)
    }
}
