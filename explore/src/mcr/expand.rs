//! What follows from one execution: the seeds of all classes that differ from it in one observation.
//!
//! Source: Huang (PLDI 2015), section 3.4 and Algorithm 2: force a read to return a value that it did not return, with
//! everything before it as it was. What the paper leaves open is which of the other reads a seed keeps. It keeps as many
//! as can be kept, and there is one seed for each maximal choice of them that no known class covers. That is
//! what makes the search complete, and no class be executed twice:
//!
//! *Complete.* Let σ be an execution whose class is not among the executed ones, and σ' the longest prefix of σ
//! that is covered by an executed class C. The next event of σ is one that observes; its observation is not the one that
//! it has in C, or it waits forever in C. So σ' and that event are an answer to one of the queries about C, and
//! an executed class covers them, by construction. But then σ' was not the longest.
//!
//! *No class twice.* A seed is executed only if no executed class covers it. What comes of it covers it, and so is
//! another class than all of those.

use super::classes::{ClassId, Node, Partial, ROOT};
use super::deadlocks;
use super::frontier::{Frontier, Shared};
use crate::event::{Kind, Thread};
use crate::hash::mix;
use crate::mcm::model::{Cut, Model, Step};
use crate::mcm::query::{Goal, Query, Sight, Solver, Verdict};
use crate::mcm::state::State;

/// Counts of what expansions did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Observations that could have been others, as far as a look at the writes tells.
    pub flips: u64,
    /// Of them, those that a known class covers whatever is kept.
    pub covered: u64,
    /// Queries.
    pub queries: u64,
    /// Queries that the solver gave up.
    pub unknown: u64,
}

impl Effort {
    /// Adds up.
    pub const fn add(&mut self, other: Self) {
        self.flips += other.flips;
        self.covered += other.covered;
        self.queries += other.queries;
        self.unknown += other.unknown;
    }
}

/// The nodes of an execution: per lane and index, what its thread has observed before that event.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    nodes: Vec<Vec<Node>>,
}

impl Paths {
    /// Enters an execution's nodes.
    pub fn of(model: &Model, frontier: &mut Frontier) -> Self {
        let nodes = model.lanes().iter().map(|lane| {
            let mut at = ROOT;
            let mut nodes = Vec::with_capacity(lane.steps.len() + 1);
            nodes.push(at);
            for step in &lane.steps {
                if step.observes() {
                    at = frontier.child(lane.thread, at, step.observation());
                }
                nodes.push(at);
            }
            nodes
        });
        Self {
            nodes: nodes.collect(),
        }
    }

    /// Before this event.
    #[must_use]
    pub fn before(&self, lane: u32, index: u32) -> Node {
        self.nodes[lane as usize][index as usize]
    }

    /// At a cut.
    #[must_use]
    pub fn at(&self, model: &Model, cut: &[u32]) -> Partial {
        let lanes = model.lanes().iter().zip(&self.nodes).zip(cut);
        lanes
            .map(|((lane, nodes), &at)| (lane.thread, nodes[at as usize]))
            .collect()
    }

    /// The key of the class of executions that end so.
    #[must_use]
    pub fn key(&self, model: &Model, cut: &[u32]) -> u64 {
        let lanes = model.lanes().iter().zip(&self.nodes).zip(cut);
        lanes.fold(0, |key, ((lane, nodes), &at)| {
            let waits = at < lane.len() || lane.waits.is_some();
            let node = u64::from(nodes[at as usize]);
            let place = if waits { 1 + u64::from(at) } else { 0 };
            key.wrapping_add(mix(mix(u64::from(lane.thread), node), place))
        })
    }
}

/// Expands executions.
#[derive(Debug)]
pub struct Expansion<'a, S> {
    /// The execution's model.
    pub model: &'a Model,
    /// Its nodes.
    pub paths: &'a Paths,
    /// The execution's number.
    pub run: u32,
    /// All that is known. Others may work on it, too: what is not known now may be a little later, and then there are
    /// two seeds of one class. Of these only one is executed, since what comes of it covers the other.
    pub shared: &'a Shared,
    /// Answers.
    pub solver: &'a mut S,
    /// Counts.
    pub effort: Effort,
}

impl<S: Solver> Expansion<'_, S> {
    /// Finds the seeds of all classes that differ in one observation.
    pub fn flip_all(&mut self) {
        for lane in 0..self.model.lanes().len() {
            let number = u32::try_from(lane).unwrap_or(u32::MAX);
            let of = &self.model.lanes()[lane];
            for index in 0..of.len() {
                let step = of.steps[index as usize];
                if step.observes() {
                    self.flip(number, index, &step);
                }
            }
            if let Some(step) = of.waits {
                self.flip(number, of.len(), &step);
            }
        }
    }

    /// All that the event could observe instead, as far as the trace tells.
    fn sights(&self, lane: u32, index: u32, step: &Step, upper: &[u32]) -> Vec<Sight> {
        let happened = step.at != u32::MAX;
        let mut sights = Vec::new();
        let values = |sights: &mut Vec<Sight>, except: Option<u64>| {
            let views = self.model.views((lane, index), step, upper).into_iter();
            let others = views.filter(|&view| except != Some(view));
            sights.extend(others.map(Sight::Value));
        };
        match step.kind {
            Kind::Read
            | Kind::Update
            | Kind::FailedUpdate
            | Kind::CompareExchange
            | Kind::Lock
            | Kind::LockShared => {
                values(&mut sights, happened.then(|| step.view(step.found)));
            }
            Kind::TryLock | Kind::TryLockShared => {
                sights.push(Sight::Refused);
                values(&mut sights, happened.then(|| step.view(step.found)));
            }
            Kind::TryLockFailed | Kind::TryLockSharedFailed => values(&mut sights, None),
            Kind::Wake if !happened => sights.push(Sight::Notified(true)),
            Kind::Wake if step.timed => {
                sights.push(Sight::Notified(step.found != Step::NOTIFIED));
            }
            _ => {}
        }
        sights
    }

    fn flip(&mut self, lane: u32, index: u32, step: &Step) {
        let upper = self.model.without((lane, index));
        let mut lower = vec![0; upper.len()];
        lower[lane as usize] = index;
        for sight in self.sights(lane, index, step, &upper) {
            self.effort.flips += 1;
            self.see(lane, index, step, sight, &lower, &upper);
        }
    }

    /// Finds the seeds in which an event observes this.
    fn see(
        &mut self,
        lane: u32,
        index: u32,
        step: &Step,
        sight: Sight,
        lower: &[u32],
        upper: &[u32],
    ) {
        let thread = self.model.lane_at(lane).thread;
        let before = self.paths.before(lane, index);
        let observation = observation(step, sight);
        if self
            .known(thread, before, observation, upper, lane)
            .is_some()
        {
            self.effort.covered += 1;
            return;
        }
        let mut open = vec![lower.to_vec()];
        let mut closed: Vec<Cut> = Vec::new();
        let mut asked: Vec<Cut> = Vec::new();
        while let Some(lower) = open.pop() {
            // Several ways lead to the same bounds.
            if asked.contains(&lower) {
                continue;
            }
            asked.push(lower.clone());
            if closed
                .iter()
                .any(|closed| closed.iter().zip(&lower).all(|(closed, at)| closed <= at))
            {
                continue;
            }
            self.effort.queries += 1;
            let query = Query {
                lower: &lower,
                upper,
                goal: Goal::Next(lane, sight),
            };
            let witness = match self.solver.solve(self.model, &query) {
                Verdict::Feasible(witness) => witness,
                Verdict::Infeasible => {
                    closed.push(lower);
                    continue;
                }
                Verdict::Unknown => {
                    self.effort.unknown += 1;
                    continue;
                }
            };
            let (cut, schedule) = self.grow(&witness, lane, step, sight, upper);
            let known = self.known(thread, before, observation, &cut, lane);
            let member = known.unwrap_or_else(|| {
                let mut frontier = self.shared.write();
                let node = frontier.child(thread, before, observation);
                frontier.plant_class(self.run, self.nodes(&cut, lane, node), schedule)
            });
            // What else there can be has an observation in which it differs from this member.
            let frontier = self.shared.read();
            for other in 0..self.model.lanes().len() {
                if other == lane as usize {
                    continue;
                }
                if let Some(at) = self.parting(&frontier, member, other, upper[other]) {
                    let mut more = lower.clone();
                    more[other] = more[other].max(at);
                    open.push(more);
                }
            }
        }
    }

    /// A member that covers a cut and the event after it that observes this.
    fn known(
        &self,
        thread: Thread,
        before: Node,
        observation: u64,
        cut: &[u32],
        lane: u32,
    ) -> Option<ClassId> {
        let frontier = self.shared.read();
        let node = frontier.classes.known_child(thread, before, observation)?;
        frontier
            .classes
            .covering(&self.nodes(cut, lane, node), false)
    }

    /// How many events of a thread it takes for the execution to differ from a member, if it does within the bound.
    fn parting(
        &self,
        frontier: &Frontier,
        member: ClassId,
        lane: usize,
        upper: u32,
    ) -> Option<u32> {
        let thread = self.model.lanes()[lane].thread;
        let nodes = &self.paths.nodes[lane][..=upper as usize];
        let common =
            nodes.partition_point(|&node| frontier.classes.is_through(member, thread, node));
        (common < nodes.len()).then(|| u32::try_from(common).unwrap_or(u32::MAX))
    }

    /// The nodes of a cut, except for one thread.
    fn nodes(&self, cut: &[u32], lane: u32, node: Node) -> Partial {
        let lanes = self.model.lanes().iter().enumerate();
        lanes
            .map(|(at, of)| {
                if at == lane as usize {
                    (of.thread, node)
                } else {
                    (of.thread, self.paths.nodes[at][cut[at] as usize])
                }
            })
            .collect()
    }

    /// Adds the event to an answer, and as much of the rest of the trace as still observes what it did.
    fn grow(
        &self,
        witness: &[u32],
        lane: u32,
        step: &Step,
        sight: Sight,
        upper: &[u32],
    ) -> (Cut, Vec<Thread>) {
        let mut state = State::default();
        state.begin(self.model);
        let thread = |lane: u32| self.model.lane_at(lane).thread;
        let mut schedule: Vec<Thread> = witness.iter().map(|&lane| thread(lane)).collect();
        for &lane in witness {
            let step = *self.model.step((lane, state.cut()[lane as usize]));
            state.take(lane, &step);
        }
        // A compare-exchange that failed may succeed now, and nobody knows what it writes.
        let pure = step.kind == Kind::Read || sight == Sight::Refused;
        for late in [false, true] {
            loop {
                let next = (0..self.model.lanes().len())
                    .filter_map(|at| {
                        let other = u32::try_from(at).ok()?;
                        if state.cut()[at] >= upper[at] || other == lane {
                            return None;
                        }
                        let next = state.next(self.model, other)?;
                        let same = next.kind.class() != crate::event::Class::None
                            && next.object == step.object;
                        let harmless = !same
                            || (late && pure)
                            || (!late && matches!(next.kind, Kind::Read | Kind::FailedUpdate));
                        (harmless && state.keeps(self.model, other, next))
                            .then_some((next.at, other))
                    })
                    .min();
                let Some((_, other)) = next else { break };
                let next = *self.model.step((other, state.cut()[other as usize]));
                state.take(other, &next);
                schedule.push(thread(other));
            }
            if !late {
                schedule.push(thread(lane));
            }
        }
        (state.cut().to_vec(), schedule)
    }

    /// Finds the seeds of all executions that end with threads that wait forever.
    pub fn block_all(&mut self) {
        let mut cores = Vec::new();
        let complete = deadlocks::cores(self.model, &mut cores);
        self.effort.unknown += u64::from(!complete);
        for core in &cores {
            let (model, paths, shared, run) = (self.model, self.paths, self.shared, self.run);
            self.effort.unknown += deadlocks::endings(model, core, self.solver, |ending| {
                let key = paths.key(model, &ending.cut);
                let nodes = paths.at(model, &ending.cut);
                shared
                    .write()
                    .plant_ending(run, key, nodes, ending.schedule);
            });
        }
    }
}

/// The hash of an observation that is not the trace's: see [`Step::observation`].
const fn observation(step: &Step, sight: Sight) -> u64 {
    match sight {
        Sight::Value(view) => step.seen(view),
        Sight::Refused => Step::REFUSED,
        Sight::Notified(notified) => Step::notified(notified),
    }
}
