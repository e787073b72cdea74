//! Z3 as a solver of maximal causal models: the reference for the native one.
//!
//! Source: Huang (PLDI 2015), sections 3.2 to 3.4. A query is a formula of integer difference logic over the
//! [orders] of the events: the [rules] of the model, among them its wait [queues], and the query's bounds and
//! [goal](goals). The formula expresses all that a query can ask for, except the outcomes of
//! [transitions](crate::transition): a query about a model with transitions is given up. Otherwise `Unknown` is Z3's own
//! verdict, or a time-out.
//!
//! [`Z3`] makes a solver for every query, with a formula that is reduced to what is [relevant]. [`Z3Incremental`] makes
//! one for each model, which keeps what it has learned.

mod goals;
mod orders;
mod queues;
mod relevant;
mod rules;
mod term;

use std::time::Duration;

use z3::ast::Bool;
use z3::{Params, SatResult, Solver as Prover};

use super::model::Model;
use super::query::{Goal, Query, Sight, Solver, Verdict};
use crate::event::Kind;
use crate::hash::mix;
use orders::Orders;
use queues::Queues;
use rules::Encoding;
use term::Term;

/// Z3 with a new solver for difference logic per query.
#[derive(Clone, Debug, Default)]
pub struct Z3 {
    time_limit: Option<Duration>,
}

impl Z3 {
    /// A solver without a time limit.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives a query up after this time.
    #[must_use]
    pub fn with_time_limit(limit: Duration) -> Self {
        Self {
            time_limit: Some(limit),
        }
    }
}

impl Solver for Z3 {
    fn solve(&mut self, model: &Model, query: &Query<'_>) -> Verdict {
        if !model.transitions().is_empty() || model.refuses() {
            return Verdict::Unknown;
        }
        let Some(needed) = relevant::needed(model, query) else {
            return Verdict::Infeasible;
        };
        let Some(prover) = Prover::new_for_logic("QF_IDL") else {
            return Verdict::Unknown;
        };
        limit(&prover, self.time_limit);
        let upper = relevant::relevant(model, query, &needed);
        let orders = Orders::new(needed, upper);
        let queues = Queues::new(model, &orders);
        let encoding = Encoding {
            model,
            orders: &orders,
            queues: &queues,
        };
        let mut formula = Vec::new();
        for (lane, &needed) in orders.lower.iter().enumerate() {
            if let Some(last) = needed.checked_sub(1) {
                formula.push(orders.reaches((u32::try_from(lane).unwrap_or(u32::MAX), last)));
            }
        }
        encoding.rules(is_greedy(model, query), &mut formula);
        encoding.goal(query.goal, &mut formula);
        if assert(&prover, &formula) {
            answer(prover.check(), &prover, &orders)
        } else {
            Verdict::Infeasible
        }
    }
}

/// Whether it matters which permit of a wait queue a wake takes: see [`queues`].
fn is_greedy(model: &Model, query: &Query<'_>) -> bool {
    matches!(
        query.goal,
        Goal::Stuck | Goal::Next(_, Sight::Notified(false))
    ) || model.lanes().iter().any(|lane| {
        lane.steps
            .iter()
            .any(|step| step.kind == Kind::Wake && step.timed)
    })
}

fn limit(prover: &Prover, limit: Option<Duration>) {
    if let Some(limit) = limit {
        let mut params = Params::new();
        let milliseconds = limit.as_millis().clamp(1, u128::from(u32::MAX));
        params.set_u32("timeout", u32::try_from(milliseconds).unwrap_or(u32::MAX));
        prover.set_params(&params);
    }
}

/// Asserts all of it. False: something is known not to hold.
fn assert(prover: &Prover, formula: &[Term]) -> bool {
    for term in formula {
        match term {
            Term::Known(true) => {}
            Term::Known(false) => return false,
            Term::Open(open) => prover.assert(open),
        }
    }
    true
}

fn answer(sat: SatResult, prover: &Prover, orders: &Orders) -> Verdict {
    match sat {
        SatResult::Unsat => Verdict::Infeasible,
        SatResult::Unknown => Verdict::Unknown,
        SatResult::Sat => prover
            .get_model()
            .and_then(|found| orders.execution(&found))
            .map_or(Verdict::Unknown, Verdict::Feasible),
    }
}

/// How a query's formula is taken back from the solver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Retract {
    /// The query has a scope of its own, which is left: the solver loses what it learned within the scope.
    #[default]
    Scope,
    /// The query holds under a literal that is assumed, and denied afterwards: the solver keeps all that it learned.
    Assumption,
}

/// Z3 used incrementally: the model's rules stay asserted, and a query adds its bounds and its goal and takes them back.
#[derive(Debug)]
pub struct Z3Incremental {
    logic: Option<&'static str>,
    retract: Retract,
    time_limit: Option<Duration>,
    known: Option<Known>,
}

/// A model that is asserted.
#[derive(Debug)]
struct Known {
    print: u64,
    prover: Prover,
    orders: Orders,
    queues: Queues,
    /// Whether the model may have an execution at all.
    possible: bool,
}

impl Z3Incremental {
    /// The solver is Z3's for the logic, or its general incremental one if none is named.
    #[must_use]
    pub const fn new(logic: Option<&'static str>) -> Self {
        Self {
            logic,
            retract: Retract::Scope,
            time_limit: None,
            known: None,
        }
    }

    /// Gives a query up after this time.
    #[must_use]
    pub fn with_time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = Some(limit);
        self
    }

    /// Sets how queries are taken back.
    #[must_use]
    pub const fn retracting(mut self, retract: Retract) -> Self {
        self.retract = retract;
        self
    }

    /// Asserts a model, unless it is the one that is. [`Self::solve`] does so by itself.
    pub fn learn(&mut self, model: &Model) {
        self.known_of(model);
    }

    fn known_of(&mut self, model: &Model) -> &mut Known {
        let print = print(model);
        let known = self.known.take().filter(|known| known.print == print);
        let (logic, time_limit) = (self.logic, self.time_limit);
        self.known.insert(known.unwrap_or_else(|| {
            let prover = logic.and_then(Prover::new_for_logic).unwrap_or_default();
            limit(&prover, time_limit);
            // A first scope makes the solver incremental from its start.
            prover.push();
            let orders = Orders::new(vec![0; model.lanes().len()], model.whole());
            let queues = Queues::new(model, &orders);
            let encoding = Encoding {
                model,
                orders: &orders,
                queues: &queues,
            };
            let mut formula = Vec::new();
            encoding.rules(true, &mut formula);
            let possible = assert(&prover, &formula);
            Known {
                print,
                prover,
                orders,
                queues,
                possible,
            }
        }))
    }
}

impl Solver for Z3Incremental {
    fn solve(&mut self, model: &Model, query: &Query<'_>) -> Verdict {
        if !model.transitions().is_empty() || model.refuses() {
            return Verdict::Unknown;
        }
        let Some(needed) = relevant::needed(model, query) else {
            return Verdict::Infeasible;
        };
        let retract = self.retract;
        let known = self.known_of(model);
        if !known.possible {
            return Verdict::Infeasible;
        }
        let orders = &mut known.orders;
        let mut formula = Vec::new();
        for (lane, of) in model.lanes().iter().enumerate() {
            let number = u32::try_from(lane).unwrap_or(u32::MAX);
            if let Some(last) = needed[lane].checked_sub(1) {
                formula.push(orders.reaches((number, last)));
            }
            if query.upper[lane] < of.len() {
                formula.push(orders.exceeds((number, query.upper[lane])));
            }
        }
        orders.lower = needed;
        orders.upper = query.upper.to_vec();
        let encoding = Encoding {
            model,
            orders: &known.orders,
            queues: &known.queues,
        };
        encoding.goal(query.goal, &mut formula);
        match retract {
            Retract::Scope => {
                known.prover.push();
                let verdict = if assert(&known.prover, &formula) {
                    answer(known.prover.check(), &known.prover, &known.orders)
                } else {
                    Verdict::Infeasible
                };
                known.prover.pop(1);
                verdict
            }
            Retract::Assumption => match term::all(formula) {
                Term::Known(false) => Verdict::Infeasible,
                Term::Known(true) => answer(known.prover.check(), &known.prover, &known.orders),
                Term::Open(open) => {
                    let asked = Bool::fresh_const("asked");
                    known.prover.assert(asked.implies(&open));
                    let sat = known.prover.check_assumptions(std::slice::from_ref(&asked));
                    let verdict = answer(sat, &known.prover, &known.orders);
                    known.prover.assert(asked.not());
                    verdict
                }
            },
        }
    }
}

/// Tells models apart.
fn print(model: &Model) -> u64 {
    let mut print = 0;
    for lane in model.lanes() {
        let ends = (
            lane.ended,
            lane.waits.map(|step| (step.kind as u64, step.object)),
        );
        let (kind, object) = ends.1.unwrap_or((u64::MAX, 0));
        print = mix(mix(print, u64::from(ends.0)), mix(kind, u64::from(object)));
        for step in &lane.steps {
            let what = mix(
                u64::from(step.at) << 8 | step.kind as u64,
                u64::from(step.object),
            );
            print = mix(print, mix(what, mix(step.found, step.left)));
            let terms = u64::from(step.parked) << 1 | u64::from(step.timed);
            print = mix(print, terms);
            if let Some(test) = step.test {
                print = mix(print, hash(&test));
            }
        }
    }
    print
}

fn hash(test: &crate::observation::Test) -> u64 {
    use std::hash::{BuildHasher as _, BuildHasherDefault};
    BuildHasherDefault::<crate::hash::Mixer>::default().hash_one(test)
}
