//! `rv-causal`: schedules from read–write matching pairs.
//!
//! Source: Luo, Huang and Roșu, *Systematic Concurrency Testing with Maximal Causality*, sections 3.3 and 4.2. For each
//! read of an execution and each value that it could have returned instead, one schedule that [pairs] the reads
//! before it with writes of the values that they had, and nothing else; schedules wait in a queue, and each is
//! executed unless there was one with the same reads and values.
//!
//! Two things are not the paper's. It says that a new value of a read in each schedule is enough to cover everything. It is
//! not, as a schedule leaves open what the reads do that it does not need, and the combination that matters may never come
//! up; so when the queue is empty, seeds of [`mcr`](crate::mcr) follow for classes that no execution has
//! covered, and what the pairs find is in addition to that. And threads that wait forever are predicted, as there.
//!
//! Executions are counted as redundant if their class had been executed: schedules that need different reads can lead to
//! the same.

pub mod pairs;

use std::collections::{HashSet, VecDeque};
use std::hash::BuildHasherDefault;

use crate::distinct::Identity;
use crate::event::Event;
use crate::executor::{Learned, Pick, RunEnd, View};
use crate::hash::mix;
use crate::mcm::model::Model;
use crate::mcm::order::OrderSolver;
use crate::mcm::query::{Goal, Query, Sight, Solver, Verdict, cut_of};
use crate::mcr::frontier::{Purpose, Seed, Shared};
use crate::mcr::journal::Origin;
use crate::mcr::paths::Paths;
use crate::mcr::run::Run;
use crate::mcr::task::{Memory, Task};
use crate::search::Divergence;
use crate::strategy::{Causality, Promise, Strategy};
use pairs::Pairs;

/// The search by matching pairs.
#[derive(Debug)]
pub struct RvCausal<S = OrderSolver> {
    solver: S,
    shared: Shared,
    /// Schedules of pairs.
    queue: VecDeque<Seed>,
    /// What the seeds fix, as hashes.
    known: HashSet<u64, BuildHasherDefault<Identity>>,
    started: bool,
    over: bool,
    run: Run,
    /// For its memory.
    paths: Paths,
    memory: Memory,
}

impl RvCausal {
    /// With the native solver.
    #[must_use]
    pub fn new() -> Self {
        Self::with(OrderSolver::default())
    }
}

impl Default for RvCausal {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: Solver> RvCausal<S> {
    /// With this solver.
    #[must_use]
    pub fn with(solver: S) -> Self {
        Self {
            solver,
            shared: Shared::default(),
            queue: VecDeque::new(),
            known: HashSet::default(),
            started: false,
            over: false,
            run: Run::default(),
            paths: Paths::default(),
            memory: Memory::default(),
        }
    }

    fn next_seed(&mut self) -> Option<Seed> {
        if let Some(seed) = self.queue.pop_front() {
            return Some(seed);
        }
        self.shared.next_seed()
    }

    /// Queues a schedule for each read and value that the pairs have one for.
    fn pair_all(&mut self, model: &Model, paths: &Paths) {
        for (at, of) in model.lanes().iter().enumerate() {
            let lane = u32::try_from(at).unwrap_or(u32::MAX);
            for &index in of.readers() {
                let read = (lane, index);
                let step = *model.step(read);
                let upper = model.without(read);
                let views = model.views(read, &step, &upper).into_iter();
                for view in views.filter(|&view| view != step.view(step.found)) {
                    let mut unknown = 0;
                    let mut schedule = None;
                    let mut pairs = Pairs::new(model);
                    let solver = &mut self.solver;
                    pairs.construct(read, &step, view, &upper, &mut |needed| {
                        let query = Query {
                            lower: needed,
                            upper: &upper,
                            goal: Goal::Next(lane, Sight::Value(view)),
                        };
                        match solver.solve(model, &query) {
                            Verdict::Feasible(witness) => {
                                schedule = Some(witness);
                                true
                            }
                            Verdict::Infeasible => false,
                            Verdict::Unknown => {
                                unknown += 1;
                                false
                            }
                        }
                    });
                    let mut frontier = self.shared.write();
                    frontier.effort.unknown += unknown;
                    let Some(witness) = schedule else { continue };
                    let thread = |lane: u32| model.lane_at(lane).thread;
                    let node =
                        frontier.child(of.thread, paths.before(lane, index), step.seen(view));
                    let mut nodes = paths.at(model, &cut_of(model, &witness));
                    nodes[at].1 = node;
                    let key = nodes.iter().fold(0_u64, |key, &(thread, node)| {
                        key.wrapping_add(mix(u64::from(thread), u64::from(node)))
                    });
                    if self.known.insert(key) {
                        let lanes = witness.into_iter().chain([lane]);
                        self.queue.push_back(Seed {
                            // These searches have no journal that would call it by a number.
                            origin: Origin::Seed(u32::MAX),
                            purpose: Purpose::Pairs,
                            nodes,
                            schedule: lanes.map(thread).collect(),
                            near: None,
                        });
                    }
                }
            }
        }
    }
}

impl<S: Solver> Strategy for RvCausal<S> {
    fn name(&self) -> &'static str {
        "rv-causal"
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
        let task = Task::new(settled, self.run.take_model());
        let model = task.model(&mut self.memory);
        self.pair_all(model, task.paths());
        task.expand(&self.shared, &mut self.solver, &mut self.memory);
        let (model, paths) = task.take_apart(&mut self.memory);
        self.run.keep_memory(model);
        self.paths = paths;
    }

    fn causality(&self) -> Option<Causality> {
        let mut counts = self.shared.read().causality();
        counts.waiting += self.queue.len() as u64;
        Some(counts)
    }

    fn promise(&self) -> Promise {
        if self.over && self.shared.read().is_sound() {
            Promise::ExhaustedByValues { truncated: false }
        } else {
            Promise::Unfinished
        }
    }
}
