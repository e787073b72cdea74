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
use crate::event::{Event, Object};
use crate::executor::{Pick, RunEnd, View};
use crate::hash::mix;
use crate::mcm::model::Model;
use crate::mcm::order::OrderSolver;
use crate::mcm::query::{Goal, Query, Sight, Solver, Verdict, cut_of};
use crate::mcr::Executed;
use crate::mcr::classes::Classes;
use crate::mcr::expand::{Effort, Expansion, Paths};
use crate::mcr::frontier::{Purpose, Seed};
use crate::mcr::races::Races;
use crate::mcr::run::Run;
use crate::observation::Test;
use crate::search::Divergence;
use crate::strategy::{Causality, Promise, Strategy};
use pairs::Pairs;

/// The search by matching pairs.
#[derive(Clone, Debug)]
pub struct RvCausal<S = OrderSolver> {
    solver: S,
    classes: Classes,
    /// Schedules of pairs.
    queue: VecDeque<Seed>,
    /// What the seeds fix, as hashes.
    known: HashSet<u64, BuildHasherDefault<Identity>>,
    /// What else has to be covered.
    seeds: Vec<Seed>,
    started: bool,
    over: bool,
    run: Run,
    effort: Effort,
    executed: Executed,
    races: Races,
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
            classes: Classes::default(),
            queue: VecDeque::new(),
            known: HashSet::default(),
            seeds: Vec::new(),
            started: false,
            over: false,
            run: Run::default(),
            effort: Effort::default(),
            executed: Executed::default(),
            races: Races::default(),
        }
    }

    fn next_seed(&mut self) -> Option<Seed> {
        if let Some(seed) = self.queue.pop_front() {
            return Some(seed);
        }
        while let Some(seed) = self.seeds.pop() {
            let known = match seed.purpose {
                Purpose::Class(_) => self.classes.covering(&seed.nodes, true).is_some(),
                Purpose::Ending(key) => self.executed.contains(key),
                Purpose::Pairs | Purpose::Race => false,
            };
            if !known {
                return Some(seed);
            }
        }
        None
    }

    /// Queues a schedule for each read and value that the pairs have one for.
    fn pair_all(&mut self, paths: &Paths) {
        let model = self.run.model();
        for (at, of) in model.lanes().iter().enumerate() {
            let lane = u32::try_from(at).unwrap_or(u32::MAX);
            for &index in of.readers() {
                let read = (lane, index);
                let step = *model.step(read);
                let upper = model.without(read);
                for view in views(model, read, &upper) {
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
                    self.effort.unknown += unknown;
                    let Some(witness) = schedule else { continue };
                    let thread = |lane: u32| model.lane_at(lane).thread;
                    let node =
                        self.classes
                            .child(of.thread, paths.before(lane, index), step.seen(view));
                    let mut nodes = paths.at(model, &cut_of(model, &witness));
                    nodes[at].1 = node;
                    let key = nodes.iter().fold(0_u64, |key, &(thread, node)| {
                        key.wrapping_add(mix(u64::from(thread), u64::from(node)))
                    });
                    if self.known.insert(key) {
                        let lanes = witness.into_iter().chain([lane]);
                        self.queue.push_back(Seed {
                            purpose: Purpose::Pairs,
                            nodes,
                            schedule: lanes.map(thread).collect(),
                        });
                    }
                }
            }
        }
    }
}

/// What the thread could see instead.
fn views(model: &Model, read: (u32, u32), upper: &[u32]) -> Vec<u64> {
    let step = model.step(read);
    let cell = &model.cells()[step.object as usize];
    let writes = cell
        .writes
        .iter()
        .filter(|&&write| write != read && write.1 < upper[write.0 as usize]);
    let left = writes.map(|&write| model.step(write).left);
    let mut views = Vec::new();
    for value in std::iter::once(cell.initial).chain(left) {
        let view = step.view(value);
        if view != step.view(step.found) && !views.contains(&view) {
            views.push(view);
        }
    }
    views
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

    fn learned(&mut self, tests: &[(usize, Test)], plain: &[Object]) {
        self.run.learned(tests, plain);
    }

    fn end(&mut self, end: &RunEnd) {
        let (seed, followed) = self.run.end(end);
        let model = self.run.model();
        let paths = Paths::of(model, &mut self.classes);
        let whole = model.whole();
        let ends = paths.at(model, &whole);
        let key = paths.key(model, &whole);
        let reached = seed
            .as_ref()
            .is_none_or(|seed| self.classes.are_below(&ends, &seed.nodes));
        self.executed.lose(!followed || !reached || model.is_open());
        let new = self.executed.note(key, seed.as_ref());
        let member = match seed.map(|seed| seed.purpose) {
            Some(Purpose::Class(member)) => member,
            Some(Purpose::Ending(planned)) if planned == key => return,
            _ if !new => return,
            _ => self.classes.insert(Vec::new()),
        };
        self.classes.extend(member, ends);
        self.pair_all(&paths);
        let mut expansion = Expansion {
            model: self.run.model(),
            paths: &paths,
            classes: &mut self.classes,
            solver: &mut self.solver,
            seeds: &mut self.seeds,
            effort: &mut self.effort,
        };
        expansion.flip_all();
        let executed = &mut self.executed;
        expansion.block_all(|key| executed.plan(key));
        self.effort.unknown +=
            self.races
                .predict(self.run.model(), &mut self.solver, &mut self.seeds);
    }

    fn causality(&self) -> Option<Causality> {
        let waiting = self.queue.len() + self.seeds.len();
        Some(self.executed.causality(&self.effort, waiting))
    }

    fn promise(&self) -> Promise {
        if self.over && self.executed.lost() == 0 && self.effort.unknown == 0 {
            Promise::Exhausted
        } else {
            Promise::Unfinished
        }
    }
}
