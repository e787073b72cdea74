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
pub mod settle;

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
use pool::{Pool, Task};
use run::Run;

/// Maximal causality reduction.
#[derive(Debug)]
pub struct Mcr<S = OrderSolver> {
    solver: S,
    shared: Arc<Shared>,
    pool: Option<Pool>,
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
    /// The same search, with so many OS threads that expand runs beside the one that executes them. In which order classes
    /// are executed then depends on time, but not which ones.
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
            over: false,
            run: Run::default(),
            state: State::default(),
        }
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

    /// The next seed that no executed class covers, once there is one. `None`: there will be none.
    fn next_seed(&mut self) -> Option<Seed> {
        loop {
            if let Some(task) = self.pool.as_ref().and_then(|pool| pool.take(false)) {
                task.expand(&self.shared, &mut self.solver, &mut self.state);
                continue;
            }
            // In this order: a task that is done by now has planted its seeds.
            let busy = self.pool.as_ref().filter(|pool| pool.is_busy());
            if let Some(seed) = self.shared.write().next_seed() {
                return Some(seed);
            }
            let pool = busy?;
            match pool.take(true) {
                Some(task) => task.expand(&self.shared, &mut self.solver, &mut self.state),
                None => pool.wait(),
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
        let mut task = Task {
            run: settled.run,
            model: self.run.change_model(Default::default()),
            paths: settled.paths,
        };
        let spare = match &self.pool {
            Some(pool) => pool.give(task),
            None => {
                task.expand(&self.shared, &mut self.solver, &mut self.state);
                std::mem::take(&mut task.model)
            }
        };
        self.run.change_model(spare);
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
