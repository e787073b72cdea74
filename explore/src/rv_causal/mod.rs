//! `rv-causal`: schedules from read–write matching pairs.
//!
//! Source: Luo, Huang and Roșu, *Systematic Concurrency Testing with Maximal Causality*, sections 3.3 and 4.2. For each
//! read of an execution and each value that it could have returned instead, one schedule that [pairs] the reads
//! before it with writes of the values that they had, and nothing else; schedules wait in a queue, and each is
//! executed unless there was one with the same reads and values.
//!
//! Two things are not the paper's. The paper says that a new value of a read in each schedule is enough to cover
//! everything. A new value is not enough, as a schedule leaves the other reads open, and the combination that matters may
//! never come up; so when the queue is empty, seeds of [`mcr`](crate::mcr) follow for classes that no execution has
//! covered, in addition to the schedules of the pairs. And threads that wait forever are predicted, as in
//! [`mcr`](crate::mcr).
//!
//! Executions are counted as redundant if their class had been executed: schedules that need different reads can lead to
//! the same class.

pub mod pairs;

use std::collections::{HashSet, VecDeque};
use std::hash::BuildHasherDefault;

use crate::distinct::Identity;
use crate::hash::mix;
use crate::mcm::model::Model;
use crate::mcm::order::OrderSolver;
use crate::mcm::query::{Goal, Query, Sight, Solver, Verdict, cut_of};
use crate::mcr::causal::{Causal, Seeds};
use crate::mcr::frontier::{Purpose, Seed, Shared};
use crate::mcr::journal::Origin;
use crate::mcr::paths::Paths;
use crate::mcr::task::{Memory, Task};
use pairs::Pairs;

/// The search by matching pairs.
pub type RvCausal<S = OrderSolver> = Causal<Matching<S>>;

/// Seeds of schedules in which pairs match, and then of classes that no run has covered.
#[derive(Debug)]
pub struct Matching<S> {
    solver: S,
    /// See [`RvCausal::with_work_at_once`].
    at_once: u64,
    shared: Shared,
    /// Schedules of pairs.
    queue: VecDeque<Seed>,
    /// The runs with reads that are not paired yet, in their order.
    runs: VecDeque<Pairing>,
    /// The hashes of the reads and values that the seeds so far fix.
    known: HashSet<u64, BuildHasherDefault<Identity>>,
    memory: Memory,
}

impl RvCausal {
    /// A search with the native solver.
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
    /// A search with this solver.
    #[must_use]
    pub fn with(solver: S) -> Self {
        Self::with_work_at_once(solver, AT_ONCE)
    }

    /// The same, with so much work on the pairs of a run that is done at the run's end, in choices of pairs times events.
    #[must_use]
    pub fn with_work_at_once(solver: S, at_once: u64) -> Self {
        Self::of(Matching {
            solver,
            at_once,
            shared: Shared::default(),
            queue: VecDeque::new(),
            runs: VecDeque::new(),
            known: HashSet::default(),
            memory: Memory::default(),
        })
    }
}

/// A run whose reads are being paired.
#[derive(Debug)]
struct Pairing {
    model: Box<Model>,
    paths: Paths,
    /// The reads that are left, the next one last.
    reads: Vec<(u32, u32)>,
}

/// The work on the pairs of a run that is done at the run's end, in choices of pairs times events. The rest is done when no other
/// schedule waits: a search that is over by then has no use for it.
const AT_ONCE: u64 = 1 << 18;

/// The reads of a run, the last one first.
fn reads(model: &Model) -> Vec<(u32, u32)> {
    let lanes = (0..).zip(model.lanes());
    let reads = lanes.flat_map(|(lane, of)| of.readers().iter().map(move |&index| (lane, index)));
    let mut reads: Vec<_> = reads.collect();
    reads.reverse();
    reads
}

impl<S: Solver> Matching<S> {
    /// Queues a schedule for each value of the next of these reads that the pairs have one for, until there has been so much `work`.
    fn pair_at_once(
        &mut self,
        model: &Model,
        paths: &Paths,
        reads: &mut Vec<(u32, u32)>,
        work: u64,
    ) {
        let mut left = work;
        while left > 0
            && let Some(read) = reads.pop()
        {
            let tried = self.pair_one(model, paths, read);
            left = left.saturating_sub(tried * model.len() as u64);
        }
    }

    /// Queues a schedule for each value of a read that the pairs have one for. Returns the number of choices of pairs.
    fn pair_one(&mut self, model: &Model, paths: &Paths, read: (u32, u32)) -> u64 {
        let (lane, index) = read;
        let at = lane as usize;
        let step = *model.step(read);
        let upper = model.without(read);
        let views = model.views(read, &step, &upper).into_iter();
        let mut tried = 0;
        for view in views.filter(|&view| view != step.view(step.found)) {
            let mut unknown = 0;
            let mut schedule = None;
            let mut pairs = Pairs::new(model);
            let solver = &mut self.solver;
            pairs.construct(read, &step, view, &upper, &mut |needed| {
                tried += 1;
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
            let node = frontier.child(thread(lane), paths.before(lane, index), step.seen(view));
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
        tried
    }
}

impl<S: Solver> Seeds for Matching<S> {
    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn next_seed(&mut self) -> Option<Seed> {
        while self.queue.is_empty()
            && let Some(mut run) = self.runs.pop_front()
        {
            if let Some(read) = run.reads.pop() {
                self.pair_one(&run.model, &run.paths, read);
                self.runs.push_front(run);
            }
        }
        let seed = self.queue.pop_front();
        seed.or_else(|| self.shared.next_seed())
    }

    fn expand(&mut self, task: Task) -> (Box<Model>, Paths) {
        let mut memory = std::mem::take(&mut self.memory);
        let model = task.model(&mut memory);
        let mut reads = reads(model);
        // Schedules of the runs before this one come first.
        if self.runs.is_empty() {
            self.pair_at_once(model, task.paths(), &mut reads, self.at_once);
        }
        task.expand(&self.shared, &mut self.solver, &mut memory);
        let parts = if reads.is_empty() {
            task.take_apart(&mut memory)
        } else {
            let (model, paths) = task.into_model(&mut memory);
            self.runs.push_back(Pairing {
                model,
                paths,
                reads,
            });
            (Box::default(), Paths::default())
        };
        self.memory = memory;
        parts
    }

    fn own_waiting(&self) -> u64 {
        (self.queue.len() + self.runs.len()) as u64
    }
}
