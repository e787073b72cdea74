//! `mcr`: every class of executions in which all threads observe the same, once.
//!
//! Source: Huang, *Stateless Model Checking Concurrent Programs with Maximal Causality Reduction* (PLDI 2015), Algorithms
//! 1 and 2. Each execution is taken as a [maximal causal model](crate::mcm), and what differs from it in one observation
//! becomes a seed, the beginning of an execution to come.

pub mod classes;
pub mod deadlocks;
pub mod expand;
pub mod frontier;
pub mod journal;
pub mod next;
pub mod paths;
pub mod pool;
pub mod races;
pub mod restore;
pub mod run;
pub mod schedule;
pub mod settle;
pub mod task;

use std::num::NonZero;
use std::sync::Arc;

use crate::event::{Event, Object};
use crate::executor::{Pick, RunEnd, View};
use crate::mcm::order::OrderSolver;
use crate::mcm::query::Solver;
use crate::mcm::state::State;
use crate::observation::Test;
use crate::search::Divergence;
use crate::strategy::{Causality, Promise, Strategy};
use expand::Effort;
use frontier::{Frontier, Seed, Shared};
use journal::Journal;
use pool::Pool;
use run::Run;
use task::Task;

/// See [`Mcr::pausing_after`]: about a second.
const PAUSE: u64 = 1 << 20;

/// How many events the models of expansions that are to follow may have together before the one that has begun pauses no
/// more. An event takes about a kilobyte where there are twenty threads.
const HELD: usize = 1 << 17;

/// Maximal causality reduction.
#[derive(Debug)]
pub struct Mcr<S = OrderSolver> {
    solver: S,
    shared: Arc<Shared>,
    pool: Option<Pool>,
    /// The expansion that has begun, and those that are to follow, the last one first.
    tasks: Vec<Task>,
    current: Option<Task>,
    /// See [`Self::pausing_after`].
    pause: u64,
    started: bool,
    over: bool,
    run: Run,
    /// For its memory.
    state: State,
}

impl Mcr {
    /// With the native solver.
    #[must_use]
    pub fn new() -> Self {
        Self::with(OrderSolver::default())
    }
}

impl Default for Mcr {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: Solver + Clone + Send + 'static> Mcr<S> {
    /// The same search, with so many OS threads that take part in expanding runs. In which order classes are executed then
    /// depends on time, but not which ones.
    ///
    /// # Errors
    /// When the system has no threads.
    pub fn with_helpers(mut self, helpers: usize) -> std::io::Result<Self> {
        self.pool = match NonZero::new(helpers) {
            Some(threads) => Some(Pool::new(threads, &self.shared, &self.solver)?),
            None => None,
        };
        Ok(self)
    }
}

impl<S: Solver> Mcr<S> {
    /// With this solver.
    #[must_use]
    pub fn with(solver: S) -> Self {
        Self::from(Frontier::default(), solver)
    }

    /// Goes on from here.
    #[must_use]
    pub fn from(frontier: Frontier, solver: S) -> Self {
        Self {
            solver,
            started: frontier.runs() > 0,
            shared: Arc::new(Shared::new(frontier)),
            pool: None,
            tasks: Vec::new(),
            current: None,
            pause: PAUSE,
            over: false,
            run: Run::default(),
            state: State::default(),
        }
    }

    /// An expansion pauses after so much work, in queries times events, for one of its seeds to be executed: what follows
    /// from a long execution may take long to find, and a failure may be in the first of it. All of it is found before
    /// what follows from the seed, which is less then.
    #[must_use]
    pub const fn pausing_after(mut self, work: u64) -> Self {
        self.pause = work;
        self
    }

    /// Takes down all that the search comes to know from now on.
    pub fn keep(&mut self, journal: Box<dyn Journal>) {
        self.shared.write().keep(journal);
    }

    /// What expansions have done.
    #[must_use]
    pub fn effort(&self) -> Effort {
        self.shared.read().effort
    }

    /// The solver of the thread that executes.
    #[must_use]
    pub const fn solver(&self) -> &S {
        &self.solver
    }

    /// Goes on with an expansion, up to its next pause. False: there is none.
    fn advance(&mut self) -> bool {
        let Some(mut task) = self.current.take().or_else(|| self.tasks.pop()) else {
            return false;
        };
        let held: usize = self.tasks.iter().map(Task::events).sum();
        let work = if held < HELD { self.pause } else { u64::MAX };
        let (shared, solver, state) = (&self.shared, &mut self.solver, &mut self.state);
        if task.advance(shared, solver, state, self.pool.as_ref(), work) {
            self.run.keep_memory(task.into_model());
        } else {
            self.current = Some(task);
        }
        true
    }

    /// The next seed that no executed class covers, once there is one. `None`: there will be none.
    fn next_seed(&mut self) -> Option<Seed> {
        loop {
            // One expansion at a time may wait, so that the others know what it found.
            while self.current.is_none() && self.advance() {}
            let seed = self.shared.write().next_seed();
            if seed.is_some() || !self.advance() {
                return seed;
            }
        }
    }
}

impl<S: Solver> Strategy for Mcr<S> {
    fn name(&self) -> &'static str {
        "mcr"
    }

    fn begin(&mut self) -> bool {
        let seed = if self.started {
            let seed = self.next_seed();
            if seed.is_none() {
                self.over = true;
                return false;
            }
            seed
        } else {
            None
        };
        self.started = true;
        self.run.begin(seed);
        true
    }

    fn pick(&mut self, view: &View<'_>) -> Result<Pick, Divergence> {
        Ok(Pick::Run(self.run.pick(view)))
    }

    fn ran(&mut self, event: &Event) -> Result<(), Divergence> {
        self.run.ran(event);
        Ok(())
    }

    fn blocked(&mut self, view: &View<'_>) {
        self.run.blocked(view);
    }

    fn learned(&mut self, tests: &[(usize, Test)], plain: &[Object]) {
        self.run.learned(tests, plain);
    }

    fn end(&mut self, end: &RunEnd) {
        let (seed, followed) = self.run.end(end);
        let settled = self
            .shared
            .settle(self.run.model(), seed.as_ref(), followed);
        if !settled.leads_on {
            return;
        }
        let task = Task::new(settled.run, self.run.take_model(), settled.paths);
        self.tasks.push(task);
        self.advance();
    }

    fn causality(&self) -> Option<Causality> {
        Some(self.shared.read().causality())
    }

    fn promise(&self) -> Promise {
        if self.over && self.shared.read().is_sound() {
            Promise::ExhaustedByValues { truncated: false }
        } else {
            Promise::Unfinished
        }
    }
}
