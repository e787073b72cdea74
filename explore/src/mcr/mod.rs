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

use std::sync::Arc;

use crate::event::Event;
use crate::executor::{Learned, Pick, RunEnd, View};
use crate::mcm::order::OrderSolver;
use crate::mcm::query::Solver;
use crate::search::Divergence;
use crate::strategy::{Causality, Promise, Strategy};
use expand::Effort;
use frontier::{Frontier, Seed, Shared};
use journal::Journal;
use paths::Paths;
use pool::Pool;
use run::Run;
use task::{Memory, Task};

/// See [`Mcr::pausing_after`]: about a second.
const PAUSE: u64 = 1 << 20;

/// How many events the models of expansions that are to follow may have together before the one that has begun pauses no
/// more. An event takes about a kilobyte where there are twenty threads.
const HELD: usize = 1 << 17;

/// How many runs may wait for each thread that expands, before the one that executes expands runs as well: enough for the
/// others never to wait. If they were more, much would be known by then that could have been left to those that began.
const AHEAD: usize = 2;

/// Maximal causality reduction.
#[derive(Debug)]
pub struct Mcr<S = OrderSolver> {
    solver: S,
    shared: Arc<Shared>,
    pool: Pool,
    /// See [`Self::pausing_after`].
    pause: u64,
    started: bool,
    over: bool,
    run: Run,
    /// For its memory.
    paths: Paths,
    memory: Memory,
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
        self.pool = Pool::new(helpers, &self.shared, &self.solver)?;
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
            pool: Pool::default(),
            pause: PAUSE,
            over: false,
            run: Run::default(),
            paths: Paths::default(),
            memory: Memory::default(),
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

    /// Takes down all that the search comes to know from now on, if there is where.
    #[must_use]
    pub fn keeping(self, journal: Option<Box<dyn Journal>>) -> Self {
        if let Some(journal) = journal {
            self.shared.write().keep(journal);
        }
        self
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

    /// Takes part in an expansion, up to its next pause. False: there is none.
    fn advance(&mut self, stop: impl Fn(&Shared, &Pool) -> bool) -> bool {
        let work = if self.pool.held() < HELD {
            self.pause
        } else {
            u64::MAX
        };
        let (shared, solver, memory) = (&*self.shared, &mut self.solver, &mut self.memory);
        let stop = || stop(shared, &self.pool);
        self.pool.advance(shared, solver, memory, work, stop)
    }

    /// Expands what others have no time for. Alone, that is all but one, which may wait after a pause.
    fn keep_up(&mut self) {
        let threads = self.pool.threads();
        loop {
            let waiting = self.pool.waiting();
            let more = if threads == 0 {
                waiting > 0 && self.pool.is_idle()
            } else {
                waiting > AHEAD * threads
            };
            // Until there is nothing for the others to do.
            let stop = |shared: &Shared, pool: &Pool| {
                threads > 0 && pool.waiting() == 0 && shared.waiting() > 0
            };
            if !more || !self.advance(stop) {
                return;
            }
        }
    }

    /// The next seed that no executed class covers, once there is one. `None`: there will be none.
    fn next_seed(&mut self) -> Option<Seed> {
        loop {
            self.keep_up();
            // What has been planted since, too: so this comes before.
            let done = self.pool.is_done();
            let seed = self.shared.next_seed();
            if seed.is_some() || done {
                return seed;
            }
            let alone = self.pool.threads() == 0;
            if !self.advance(|shared, _| !alone && shared.waiting() > 0) {
                self.pool.wait(&self.shared);
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

    fn learned(&mut self, learned: &Learned<'_>) {
        self.run.learned(learned);
    }

    fn end(&mut self, end: &RunEnd) {
        let (seed, followed) = self.run.end(end);
        let paths = std::mem::take(&mut self.paths);
        let settled = self
            .shared
            .settle(self.run.model(), seed.as_ref(), followed, paths);
        if !settled.leads_on {
            self.paths = settled.paths;
            return;
        }
        let trace = self.run.take_model();
        self.pool.push(Task::new(settled, trace));
        self.keep_up();
        let (model, paths) = self.pool.spare();
        self.run.keep_memory(model);
        self.paths = paths;
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
