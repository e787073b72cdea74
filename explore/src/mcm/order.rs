//! The order solver: finds an execution of a maximal causal model, or shows that there is none.
//!
//! The formulas of Huang (PLDI 2015, section 3.2) are about the order of events, and an execution is a path through
//! the lattice of cuts. The solver first tries executions close to the trace itself ([`along`]). If none of them answers
//! the query, the solver walks the lattice depth first. Three rules keep the solver from walking all of the lattice:
//! - an event that can be next, and that takes no possibility away from any other thread, is taken at once and for good: a
//!   read that sees what it has to see, a release, an access to an object that no other thread will touch;
//! - the needs of every answer are computed first ([`closure`]): which events are needed, and which of them must come
//!   before which. If the needs contradict each other, there is no answer; if not, needed events go first, in an order
//!   that respects the needs;
//! - states that led nowhere are not entered again.
//!
//! Two states with the same cut and the same values are one state, by whichever path the walk came there, so the many
//! orders of writes that no event reads lead to one state.

use std::collections::HashSet;
use std::hash::BuildHasherDefault;

use super::model::{Cut, Model, Step};
use super::query::{Goal, Query, Sight, Solver, Verdict};
use super::state::State;
use crate::distinct::Identity;
use crate::event::{Class, Kind};

mod along;
pub mod closure;

use closure::{Closure, Need};

/// One state of the walk, with the threads that are still to be tried in it.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// The state's hash.
    hash: u64,
    /// The number of steps that lead to the state.
    steps: u32,
    /// The first of the state's moves that has not been tried, and the end of its moves.
    moves: (u32, u32),
}

/// Counts of a solver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// The number of queries.
    pub queries: u64,
    /// The number of queries that the order of the trace answered.
    pub guessed: u64,
    /// The number of queries that the closure decided.
    pub closed: u64,
    /// The number of states in which there was a choice.
    pub states: u64,
    /// The number of queries given up.
    pub unknown: u64,
}

/// The native solver.
#[derive(Clone, Debug)]
pub struct OrderSolver {
    bound: u32,
    state: State,
    cut: Cut,
    closure: Closure,
    frames: Vec<Frame>,
    moves: Vec<u32>,
    dead: HashSet<u64, BuildHasherDefault<Identity>>,
    effort: Effort,
}

impl Default for OrderSolver {
    fn default() -> Self {
        Self::new(1 << 17)
    }
}

impl OrderSolver {
    /// A solver that gives a query up after `bound` states in which there was a choice.
    #[must_use]
    pub fn new(bound: u32) -> Self {
        Self {
            bound,
            state: State::default(),
            cut: Cut::new(),
            closure: Closure::default(),
            frames: Vec::new(),
            moves: Vec::new(),
            dead: HashSet::default(),
            effort: Effort::default(),
        }
    }

    /// The counts of the solver so far.
    #[must_use]
    pub const fn effort(&self) -> Effort {
        self.effort
    }
}

impl Solver for OrderSolver {
    fn solve(&mut self, model: &Model, query: &Query<'_>) -> Verdict {
        self.effort.queries += 1;
        if along::guess(model, query, &mut self.cut, &mut self.state) {
            self.effort.guessed += 1;
            return Verdict::Feasible(self.state.lanes().collect());
        }
        if self.closure.close(model, query) == Need::Contradiction {
            self.effort.closed += 1;
            return Verdict::Infeasible;
        }
        let mut walk = Walk {
            model,
            query,
            closure: &self.closure,
            state: &mut self.state,
            frames: &mut self.frames,
            moves: &mut self.moves,
            dead: &mut self.dead,
        };
        let (mut verdict, states) = walk.run(self.bound);
        if verdict == Verdict::Unknown {
            let cuts = [query.upper, self.closure.lower()];
            if cuts
                .iter()
                .any(|cut| along::follow(model, query, cut, &mut self.state))
            {
                verdict = Verdict::Feasible(self.state.lanes().collect());
            }
        }
        self.effort.states += u64::from(states);
        self.effort.unknown += u64::from(verdict == Verdict::Unknown);
        verdict
    }
}

struct Walk<'a> {
    model: &'a Model,
    query: &'a Query<'a>,
    closure: &'a Closure,
    state: &'a mut State,
    frames: &'a mut Vec<Frame>,
    moves: &'a mut Vec<u32>,
    dead: &'a mut HashSet<u64, BuildHasherDefault<Identity>>,
}

impl Walk<'_> {
    fn run(&mut self, bound: u32) -> (Verdict, u32) {
        self.state.begin(self.model);
        self.frames.clear();
        self.moves.clear();
        self.dead.clear();
        let mut states = 0;
        loop {
            self.take_free();
            if self.query.is_met(self.state, self.model) {
                return (Verdict::Feasible(self.state.lanes().collect()), states);
            }
            let hash = self.state.hash();
            if !self.dead.contains(&hash) && !self.is_hopeless() {
                states += 1;
                if states > bound {
                    return (Verdict::Unknown, states);
                }
                self.enter(hash);
            }
            if !self.advance() {
                return (Verdict::Infeasible, states);
            }
        }
    }

    /// Takes what can be taken without losing anything.
    fn take_free(&mut self) {
        let lanes = self.query.upper.len();
        let (mut lane, mut idle) = (0, 0);
        while idle < lanes {
            let mut taken = false;
            while let Some(step) = self.possible(lane)
                && self.is_free(lane, &step)
            {
                self.state.take(self.model, lane, &step);
                taken = true;
            }
            idle = if taken { 0 } else { idle + 1 };
            lane += 1;
            if lane as usize == lanes {
                lane = 0;
            }
        }
    }

    /// The next event of a thread, if it may be next.
    #[inline]
    fn possible(&self, lane: u32) -> Option<Step> {
        let at = self.state.cut()[lane as usize];
        if at >= self.query.upper[lane as usize] {
            return None;
        }
        let step = *self.model.step((lane, at));
        (self
            .closure
            .allows(self.model, (lane, at), self.state.cut())
            && self.state.keeps(self.model, lane, &step))
        .then_some(step)
    }

    /// Whether this event, which can be next, takes no possibility away from any other thread.
    #[inline]
    fn is_free(&self, lane: u32, step: &Step) -> bool {
        match step.kind {
            Kind::Read | Kind::FailedUpdate => !self.may_be_too_early(lane),
            // It may be wanted while another block is open.
            Kind::TryLockFailed | Kind::TryLockSharedFailed => !self.model.refuses(),
            kind if kind.class() == Class::None => true,
            Kind::Update if step.found == step.left && !self.model.parks() => {
                !self.may_be_too_early(lane)
            }
            Kind::Lock | Kind::LockShared if self.only_looks(lane, step) => true,
            Kind::Unlock | Kind::UnlockShared => {
                !(self.model.cells()[step.object as usize].watched
                    || self.closure.wants_refusal(step.object))
                    || self.is_private(lane, step.object)
            }
            _ => self.is_private(lane, step.object),
        }
    }

    /// Whether a lock is given back at once, with what was found in it: as good as a read of it. Unless it is to be seen
    /// whether the thread has to wait for it.
    fn only_looks(&self, lane: u32, step: &Step) -> bool {
        let at = self.state.cut()[lane as usize] + 1;
        self.query.goal != Goal::Stuck
            && at < self.query.upper[lane as usize]
            && !self.model.cells()[step.object as usize].watched
            && !self.closure.wants_refusal(step.object)
            && {
                let next = self.model.step((lane, at));
                next.object == step.object
                    && matches!(next.kind, Kind::Unlock | Kind::UnlockShared)
                    && !next.leaves_value()
            }
    }

    /// Whether the thread's next read may come too early: where it is to be left waiting for a change after it, all
    /// changes have to come before.
    fn may_be_too_early(&self, lane: u32) -> bool {
        if self.query.goal != Goal::Stuck || !self.model.parks() {
            return false;
        }
        let of = self.model.lane_at(lane);
        let next = self.state.cut()[lane as usize] as usize + 1;
        let after = of.steps.get(next).or(of.waits.as_ref());
        after.is_some_and(|step| step.parked)
    }

    /// Whether no other thread will touch the object.
    fn is_private(&self, lane: u32, object: u32) -> bool {
        !self.closure.is_goal(object)
            && self.model.cells()[object as usize]
                .last
                .iter()
                .zip(self.state.cut())
                .enumerate()
                .all(|(other, (&last, &at))| other == lane as usize || at >= last)
    }

    /// Whether a needed event has to see a value that no remaining event will leave.
    fn is_hopeless(&self) -> bool {
        let missing = |lane: u32, step: &Step, view: u64| {
            step.view(self.state.value(step.object)) != view
                && !self.model.cells()[step.object as usize]
                    .writes
                    .iter()
                    .any(|&write| {
                        let (other, index) = write;
                        other != lane
                            && index >= self.state.cut()[other as usize]
                            && index < self.query.upper[other as usize]
                            && step.view(self.model.step(write).left) == view
                    })
        };
        if let Goal::Next(lane, Sight::Value(view)) = self.query.goal
            && self.state.cut()[lane as usize] >= self.query.lower[lane as usize]
            && let Some(step) = super::query::next_or_wait(self.state, self.model, lane)
            && missing(lane, step, view)
        {
            return true;
        }
        (0..self.query.lower.len()).any(|at| {
            let lane = u32::try_from(at).unwrap_or(u32::MAX);
            let next = self.state.cut()[at];
            if next >= self.closure.lower()[at] {
                return false;
            }
            let step = self.model.step((lane, next));
            step.observes_value() && missing(lane, step, step.view(step.found))
        })
    }

    /// Lists the moves of a state: needed ones first, each kind in the order of the trace.
    fn enter(&mut self, hash: u64) {
        let start = self.moves.len();
        for lane in 0..u32::try_from(self.query.upper.len()).unwrap_or(u32::MAX) {
            if self.possible(lane).is_some() {
                self.moves.push(lane);
            }
        }
        let (model, state, lower) = (self.model, &*self.state, self.closure.lower());
        self.moves[start..].sort_unstable_by_key(|&lane| {
            let at = state.cut()[lane as usize];
            (at >= lower[lane as usize], model.step((lane, at)).at)
        });
        let number = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        self.frames.push(Frame {
            hash,
            steps: number(self.state.len()),
            moves: (number(start), number(self.moves.len())),
        });
    }

    /// Takes the next move that has not been tried. False: there is none.
    fn advance(&mut self) -> bool {
        while let Some(frame) = self.frames.last_mut() {
            while self.state.len() > frame.steps as usize {
                self.state.take_back(self.model);
            }
            let (next, end) = frame.moves;
            if next < end {
                frame.moves.0 += 1;
                let lane = self.moves[next as usize];
                let step = *self.model.step((lane, self.state.cut()[lane as usize]));
                self.state.take(self.model, lane, &step);
                return true;
            }
            self.dead.insert(frame.hash);
            if let Some(frame) = self.frames.pop() {
                // The moves of a frame are the last ones.
                let before = self.frames.last().map_or(0, |frame| frame.moves.1);
                debug_assert!(frame.moves.1 as usize == self.moves.len());
                self.moves.truncate(before as usize);
            }
        }
        false
    }
}
