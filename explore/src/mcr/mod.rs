//! `mcr`: every class of executions in which all threads observe the same, once.
//!
//! Source: Huang, *Stateless Model Checking Concurrent Programs with Maximal Causality Reduction* (PLDI 2015), Algorithms
//! 1 and 2. Each execution is taken as a [maximal causal model](crate::mcm), and what differs from it in one observation
//! becomes a seed, the beginning of an execution to come.

pub mod classes;
pub mod deadlocks;
pub mod expand;
pub mod frontier;

use std::collections::HashSet;
use std::hash::BuildHasherDefault;

use crate::distinct::Identity;
use crate::event::{Event, Kind, Thread};
use crate::executor::{Outcome, Pick, RunEnd, View};
use crate::mcm::model::{Model, Terms};
use crate::mcm::order::OrderSolver;
use crate::mcm::query::Solver;
use crate::observation::Test;
use crate::search::Divergence;
use crate::strategy::{Causality, Promise, Strategy};
use crate::threads::ThreadSet;
use classes::Classes;
use expand::{Effort, Expansion, Paths};
use frontier::Seed;

/// Maximal causality reduction.
#[derive(Clone, Debug)]
pub struct Mcr<S = OrderSolver> {
    solver: S,
    classes: Classes,
    seeds: Vec<Seed>,
    started: bool,
    over: bool,
    current: Option<Seed>,
    /// How much of the current seed has been followed.
    at: usize,
    model: Model,
    /// Threads whose next event repeats a read and waits for a change.
    parked: ThreadSet,
    live: ThreadSet,
    /// Threads whose next event is a wake that may time out.
    timed: ThreadSet,
    last: Option<Thread>,
    effort: Effort,
    keys: HashSet<u64, BuildHasherDefault<Identity>>,
    /// Endings with waiting threads that have been predicted.
    planned: HashSet<u64, BuildHasherDefault<Identity>>,
    redundant: u64,
    /// Seeds that the program did not follow.
    lost: u64,
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
            current: None,
            at: 0,
            model: Model::default(),
            parked: ThreadSet::EMPTY,
            live: ThreadSet::EMPTY,
            timed: ThreadSet::EMPTY,
            last: None,
            effort: Effort::default(),
            keys: HashSet::default(),
            planned: HashSet::default(),
            redundant: 0,
            lost: 0,
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

    /// Whom the seed has next, as far as it goes.
    fn follow(&mut self, view: &View<'_>) -> Thread {
        let schedule = self.current.as_ref().map(|seed| &seed.schedule);
        let Some(&thread) = schedule.and_then(|schedule| schedule.get(self.at)) else {
            return view.unpreempted();
        };
        if !view.enabled.contains(thread) {
            self.lost += 1;
            self.at = usize::MAX;
            return view.unpreempted();
        }
        self.at += 1;
        thread
    }

    /// The next seed that no executed class covers.
    fn next_seed(&mut self) -> Option<Seed> {
        while let Some(seed) = self.seeds.pop() {
            let known = match seed.member {
                Some(_) => self.classes.covering(&seed.nodes, true).is_some(),
                None => self.keys.contains(&seed.key),
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
        self.current = None;
        if self.started {
            self.current = self.next_seed();
            if self.current.is_none() {
                self.over = true;
                return false;
            }
        }
        self.started = true;
        self.at = 0;
        self.model.clear();
        self.parked = ThreadSet::EMPTY;
        self.live = ThreadSet::EMPTY;
        self.timed = ThreadSet::EMPTY;
        self.last = None;
        true
    }

    fn pick(&mut self, view: &View<'_>) -> Result<Pick, Divergence> {
        self.live = view.live;
        if let Some(last) = self.last.take()
            && view.live.contains(last)
            && !view.enabled.contains(last)
            && matches!(view.of(last).kind, Kind::Read | Kind::CompareExchange)
        {
            self.parked.insert(last);
        }
        let thread = self.follow(view);
        let pending = view.of(thread);
        if pending.kind == Kind::Wake && pending.expected != 0 {
            self.timed.insert(thread);
        }
        Ok(Pick::Run(thread))
    }

    fn ran(&mut self, event: &Event) -> Result<(), Divergence> {
        let terms = Terms {
            parked: self.parked.contains(event.thread),
            timed: self.timed.contains(event.thread),
        };
        self.parked.remove(event.thread);
        self.timed.remove(event.thread);
        self.last = Some(event.thread);
        self.model.push(event, terms);
        Ok(())
    }

    fn blocked(&mut self, view: &View<'_>) {
        self.live = view.live;
        for thread in view.live.iter() {
            let pending = view.of(thread);
            self.model
                .finish(thread, Some((pending.kind, pending.object)));
        }
    }

    fn learned(&mut self, tests: &[(usize, Test)]) {
        for &(at, test) in tests {
            self.model.learn(at, test);
        }
    }

    fn end(&mut self, end: &RunEnd) {
        if end.outcome == Outcome::Truncated {
            for thread in self.live.iter() {
                self.model.cut(thread);
            }
        }
        self.model.seal();
        let paths = Paths::of(&self.model, &mut self.classes);
        let whole = self.model.whole();
        let ends = paths.at(&self.model, &whole);
        let key = paths.key(&self.model, &whole);
        if !self.keys.insert(key) {
            self.redundant += 1;
        }
        let seed = self.current.take();
        let follows = seed.as_ref().is_none_or(|seed| {
            seed.nodes.iter().all(|&(thread, node)| {
                node == classes::ROOT
                    || ends
                        .iter()
                        .any(|&(other, end)| other == thread && self.classes.is_below(end, node))
            })
        });
        self.lost += u64::from(!follows);
        let member = match seed {
            None => self.classes.insert(Vec::new()),
            Some(Seed {
                member: Some(member),
                ..
            }) => member,
            // All that follows from it follows from the execution that it was predicted from.
            Some(Seed { key: planned, .. }) if planned == key => return,
            Some(_) => self.classes.insert(Vec::new()),
        };
        self.classes.extend(member, ends);
        let mut expansion = Expansion {
            model: &self.model,
            paths: &paths,
            classes: &mut self.classes,
            solver: &mut self.solver,
            seeds: &mut self.seeds,
            effort: &mut self.effort,
        };
        expansion.flip_all();
        let (keys, planned) = (&self.keys, &mut self.planned);
        expansion.block_all(|key| !keys.contains(&key) && planned.insert(key));
    }

    fn causality(&self) -> Option<Causality> {
        Some(Causality {
            classes: self.keys.len() as u64,
            redundant: self.redundant,
            waiting: self.seeds.len() as u64,
            queries: self.effort.queries,
            unknown: self.effort.unknown,
            lost: self.lost,
        })
    }

    fn promise(&self) -> Promise {
        if self.over && self.lost == 0 && self.effort.unknown == 0 {
            Promise::Exhausted
        } else {
            Promise::Unfinished
        }
    }
}
