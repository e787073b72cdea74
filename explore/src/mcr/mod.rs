//! `mcr`: one execution of every class, in which all threads observe the same values.
//!
//! Source: Huang, *Stateless Model Checking Concurrent Programs with Maximal Causality Reduction* (PLDI 2015), Algorithms
//! 1 and 2. Each execution is taken as a [maximal causal model](crate::mcm), and what differs from it in one observation
//! becomes a seed, the beginning of an execution to come.

pub(crate) mod causal;
pub mod checkpoint;
pub(crate) mod classes;
pub(crate) mod deadlocks;
pub(crate) mod expand;
pub(crate) mod frontier;
#[cfg(test)]
mod going_on;
pub(crate) mod journal;
pub(crate) mod late;
pub(crate) mod next;
pub(crate) mod paths;
pub(crate) mod pool;
pub(crate) mod races;
pub(crate) mod restore;
pub(crate) mod run;
pub(crate) mod schedule;
pub(crate) mod settle;
pub(crate) mod task;

use std::collections::VecDeque;
use std::sync::Arc;

use crate::mcm::model::Model;
use crate::mcm::order::OrderSolver;
use crate::mcm::query::Solver;
use causal::{Causal, Seeds};
use checkpoint::{Knowledge, Log, Written};
use expand::Effort;
use frontier::{Frontier, Seed, Shared};
use journal::Journal;
use late::Late;
use paths::Paths;
use pool::Pool;
use task::{Memory, Task};

/// The default of [`Mcr::pausing_after`], in queries times events: about a second.
const PAUSE: u64 = 1 << 20;

/// The number of events that the models of waiting expansions may have together before further traces are [let go](late).
/// An event takes about a kilobyte where there are twenty threads.
const HELD: usize = 1 << 17;

/// The number of runs per expanding thread that may wait before the executing thread expands runs as well: enough for the
/// expanding threads never to wait. With more waiting runs, many classes would be known by then whose seeds could have
/// been left to expansions that had begun.
const AHEAD: usize = 2;

/// Maximal causality reduction.
pub type Mcr<S = OrderSolver> = Causal<Expanding<S>>;

/// Seeds of what follows from runs: each run is expanded at once, or by other threads.
#[derive(Debug)]
pub struct Expanding<S> {
    solver: S,
    shared: Arc<Shared>,
    pool: Pool,
    /// See [`Mcr::pausing_after`].
    pause: u64,
    /// See [`Mcr::holding`].
    held: usize,
    /// Runs whose traces have been let go.
    late: VecDeque<Late>,
    memory: Memory,
}

impl Mcr {
    /// A search with the native solver.
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
    /// Has `helpers` OS threads take part in expanding runs. The order in which classes are executed then depends on
    /// timing, but not the set of classes.
    ///
    /// # Errors
    /// When the system has no threads.
    pub fn with_helpers(mut self, helpers: usize) -> std::io::Result<Self> {
        let Expanding { shared, solver, .. } = &self.seeds;
        self.seeds.pool = Pool::new(helpers, shared, solver)?;
        Ok(self)
    }
}

impl<S: Solver> Mcr<S> {
    /// A search with this solver.
    #[must_use]
    pub fn with(solver: S) -> Self {
        Self::beginning(Frontier::default(), solver)
    }

    /// Has the search go on from this knowledge of an earlier search.
    #[must_use]
    pub fn from(known: Knowledge, solver: S) -> Self {
        Self::beginning(known.frontier, solver)
    }

    fn beginning(frontier: Frontier, solver: S) -> Self {
        Self::of(Expanding {
            solver,
            shared: Arc::new(Shared::new(frontier)),
            pool: Pool::default(),
            pause: PAUSE,
            held: HELD,
            late: VecDeque::new(),
            memory: Memory::default(),
        })
    }

    /// Has an expansion pause after `work`, in queries times events, for one of its seeds to be executed: the expansion of
    /// a long execution may take long, and one of its first seeds may show a failure. The rest of the expansion comes
    /// before the expansion of the seed's run, which has less to find then.
    #[must_use]
    pub const fn pausing_after(mut self, work: u64) -> Self {
        self.seeds.pause = work;
        self
    }

    /// Keeps runs that wait to be expanded up to `events` events in all. Further runs are made again when their turn
    /// comes.
    #[must_use]
    pub const fn holding(mut self, events: usize) -> Self {
        self.seeds.held = events;
        self
    }

    /// Has the search write its knowledge from now on to this log, if there is one.
    #[must_use]
    pub fn keeping(self, log: Option<Box<dyn Log>>) -> Self {
        match log {
            Some(log) => self.noting(Box::new(Written(log))),
            None => self,
        }
    }

    fn noting(self, journal: Box<dyn Journal>) -> Self {
        self.seeds.shared.write().keep(journal);
        self
    }

    /// The counts of all expansions.
    #[must_use]
    pub fn effort(&self) -> Effort {
        self.seeds.shared.read().effort
    }

    /// The solver of the thread that executes.
    #[must_use]
    pub const fn solver(&self) -> &S {
        &self.seeds.solver
    }
}

impl<S: Solver> Expanding<S> {
    /// Takes part in an expansion, up to its next pause. Returns false if there is none.
    fn advance(&mut self, stop: impl Fn(&Shared, &Pool) -> bool) -> bool {
        let (shared, solver, memory) = (&*self.shared, &mut self.solver, &mut self.memory);
        let stop = || stop(shared, &self.pool);
        self.pool.advance(shared, solver, memory, self.pause, stop)
    }

    /// Expands the runs that the helpers have no time for. Without helpers: all runs but one, which may wait after a
    /// pause.
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
}

impl<S: Solver> Seeds for Expanding<S> {
    fn shared(&self) -> &Shared {
        &self.shared
    }

    /// One that no executed class covers, once there is one.
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

    fn expand(&mut self, task: Task) -> (Box<Model>, Paths) {
        self.pool.push(task);
        self.keep_up();
        self.pool.spare()
    }

    fn has_enough(&self) -> bool {
        self.pool.held() >= self.held
    }

    fn put_off(&mut self, late: Late) {
        self.late.push_back(late);
        self.keep_up();
    }

    fn is_time_for_late(&self) -> bool {
        let threads = self.pool.threads();
        threads > 0 && self.pool.waiting() < threads && !self.late.is_empty()
    }

    fn next_late(&mut self) -> Option<Late> {
        self.late.pop_front()
    }
}
