//! `mcr`: every class of executions in which all threads observe the same, once.
//!
//! Source: Huang, *Stateless Model Checking Concurrent Programs with Maximal Causality Reduction* (PLDI 2015), Algorithms
//! 1 and 2. Each execution is taken as a [maximal causal model](crate::mcm), and what differs from it in one observation
//! becomes a seed, the beginning of an execution to come.

pub mod classes;
pub mod deadlocks;
pub mod expand;
pub mod frontier;
pub mod races;
pub mod run;

use std::collections::HashSet;
use std::hash::BuildHasherDefault;

use crate::distinct::Identity;
use crate::event::{Event, Object};
use crate::executor::{Pick, RunEnd, View};
use crate::mcm::order::OrderSolver;
use crate::mcm::query::Solver;
use crate::observation::Test;
use crate::search::Divergence;
use crate::strategy::{Causality, Promise, Strategy};
use classes::Classes;
use expand::{Effort, Expansion, Paths};
use frontier::{Purpose, Seed};
use races::Races;
use run::Run;

/// Maximal causality reduction.
#[derive(Clone, Debug)]
pub struct Mcr<S = OrderSolver> {
    solver: S,
    classes: Classes,
    seeds: Vec<Seed>,
    started: bool,
    over: bool,
    run: Run,
    effort: Effort,
    executed: Executed,
    races: Races,
}

/// The classes that have been executed, by their keys: see [`Paths::key`].
#[derive(Clone, Debug, Default)]
pub struct Executed {
    keys: HashSet<u64, BuildHasherDefault<Identity>>,
    /// Endings with waiting threads that have been predicted.
    planned: HashSet<u64, BuildHasherDefault<Identity>>,
    redundant: u64,
    confirmations: u64,
    /// Seeds that the program did not follow.
    lost: u64,
    /// Executions whose traces say less than there is: see [`Model::is_open`](crate::mcm::Model::is_open).
    open: u64,
}

impl Executed {
    /// Counts an execution. Whether its class is new.
    pub fn note(&mut self, key: u64, seed: Option<&Seed>) -> bool {
        let new = self.keys.insert(key);
        let confirms = seed.is_some_and(|seed| seed.purpose == Purpose::Race);
        self.confirmations += u64::from(!new && confirms);
        self.redundant += u64::from(!new && !confirms);
        new
    }

    /// Notes whether a seed was not followed, and whether a trace does not say all.
    pub fn lose(&mut self, lost: bool, open: bool) {
        self.lost += u64::from(lost);
        self.open += u64::from(open);
    }

    /// How many executions there were of either kind.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.lost + self.open
    }

    /// Whether a class has been executed.
    #[must_use]
    pub fn contains(&self, key: u64) -> bool {
        self.keys.contains(&key)
    }

    /// Plans the execution of a whole class, if that is new.
    pub fn plan(&mut self, key: u64) -> bool {
        !self.keys.contains(&key) && self.planned.insert(key)
    }

    /// The counts.
    #[must_use]
    pub fn causality(&self, effort: &Effort, waiting: usize) -> Causality {
        Causality {
            classes: self.keys.len() as u64,
            redundant: self.redundant,
            confirmations: self.confirmations,
            waiting: waiting as u64,
            queries: effort.queries,
            unknown: effort.unknown,
            lost: self.lost,
            open: self.open,
        }
    }
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

impl<S: Solver> Mcr<S> {
    /// With this solver.
    #[must_use]
    pub fn with(solver: S) -> Self {
        Self {
            solver,
            classes: Classes::default(),
            seeds: Vec::new(),
            started: false,
            over: false,
            run: Run::default(),
            effort: Effort::default(),
            executed: Executed::default(),
            races: Races::default(),
        }
    }

    /// What expansions have done.
    #[must_use]
    pub const fn effort(&self) -> Effort {
        self.effort
    }

    /// The solver.
    #[must_use]
    pub const fn solver(&self) -> &S {
        &self.solver
    }

    /// The next seed that no executed class covers.
    fn next_seed(&mut self) -> Option<Seed> {
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
        let model = self.run.model();
        let paths = Paths::of(model, &mut self.classes);
        let whole = model.whole();
        let ends = paths.at(model, &whole);
        let key = paths.key(model, &whole);
        let reached = seed
            .as_ref()
            .is_none_or(|seed| self.classes.are_below(&ends, &seed.nodes));
        self.executed.lose(!followed || !reached, model.is_open());
        let new = self.executed.note(key, seed.as_ref());
        let member = match seed.map(|seed| seed.purpose) {
            Some(Purpose::Class(member)) => member,
            // All that follows from it follows from the execution that it was predicted from.
            Some(Purpose::Ending(planned)) if planned == key => return,
            Some(Purpose::Race) if !new => return,
            _ => self.classes.insert(Vec::new()),
        };
        self.classes.extend(member, ends);
        let mut expansion = Expansion {
            model,
            paths: &paths,
            classes: &mut self.classes,
            solver: &mut self.solver,
            seeds: &mut self.seeds,
            effort: &mut self.effort,
        };
        expansion.flip_all();
        let executed = &mut self.executed;
        expansion.block_all(|key| executed.plan(key));
        self.effort.unknown += self.races.predict(model, &mut self.solver, &mut self.seeds);
    }

    fn causality(&self) -> Option<Causality> {
        Some(self.executed.causality(&self.effort, self.seeds.len()))
    }

    fn promise(&self) -> Promise {
        if self.over && self.executed.lost() == 0 && self.effort.unknown == 0 {
            Promise::ExhaustedByValues { truncated: false }
        } else {
            Promise::Unfinished
        }
    }
}
