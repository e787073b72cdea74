//! Enumerating P̂ₖ: all choices of non-local reads that the executions themselves reveal, k = 0, 1, 2, …
//!
//! Source: *Bounded-Interference Sequentialization for Testing Concurrent Programs*, section 5: full path coverage of P̂ₖ
//! finds all k-coupled bugs of T.
//!
//! The choices form a tree. A node is a list of non-local reads, each with the write that it sees; the root is empty. A
//! node's execution has exactly the node's non-local reads, and reveals the node's children: every further read that
//! could see a write of T' instead. Level k of the tree is P̂ₖ. Each node is executed once, and children that no
//! interleaving allows are never executed: an execution that turns out to be infeasible is one whose later local reads
//! cannot all be local.

mod frontier;

use crate::bound::Bound;
use crate::engine::{Ending, Limits, Machine, Remark, Solver};
use crate::vocabulary::message;
use crate::vocabulary::{Pair, Place, Role};
use frontier::{At, Frontier};

/// What to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The largest k.
    pub k_max: usize,
    /// The most executions.
    pub executions: u64,
    /// Bounds on one execution.
    pub limits: Limits,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            k_max: 3,
            executions: u64::MAX,
            limits: Limits::default(),
        }
    }
}

message! {
    /// What has been done at one k.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Level {
        /// The number of executions.
        pub executions: u64,
        /// The number of executions that turned out to have no feasible interleaving.
        pub infeasible: u64,
        /// The number of executions that an assumption discarded.
        pub assumed: u64,
        /// The number of executions that were cut at the step bound.
        pub step_bound: u64,
        /// The number of executions in which T' was cut at the step bound.
        pub interfering_cut: u64,
        /// The number of runs of T and of T' that were cut before the step bound, since threads wait and what comes then is
        /// not known.
        pub undecided: u64,
        /// The number of executions in which T' was cut because it did nothing but wait.
        pub interfering_waiting: u64,
        /// The number of executions that were cut because T did nothing but wait.
        pub waiting: u64,
        /// The number of executions in which T waited for ever.
        pub stuck: u64,
        /// The number of executions whose feasibility could not be decided.
        pub unknown: u64,
        /// The number of executions in which a time limit may run out at another event than was tried.
        pub hurried: u64,
        /// The number of executions that met a bug.
        pub buggy: u64,
        /// The number of executions in which a scope waited for destructors of thread-locals, which may also run after the
        /// scope's end.
        pub scoped: u64,
        /// The number of executions in which T' fails in a round after the first one, which is not judged.
        pub later: u64,
        /// The number of executions in which a thread stood at a barrier: what comes after it, if the other thread comes last, is
        /// not executed.
        pub barrier: u64,
        /// The number of executions in which an interfering thread was cut where it goes on after it has waited for another one.
        pub behind_another: u64,
        /// The number of choices that were not executed.
        pub skipped: u64,
    }
}

impl Level {
    /// Whether every choice at this k has been executed to its end.
    #[must_use]
    pub const fn exhausted(&self) -> bool {
        self.skipped == 0
            && self.step_bound == 0
            && self.interfering_cut == 0
            && self.unknown == 0
            && self.scoped == 0
            && self.later == 0
            && self.barrier == 0
            && self.behind_another == 0
            && self.hurried == 0
    }

    /// Whether an execution was cut at the step bound.
    #[must_use]
    pub const fn is_cut_short(&self) -> bool {
        self.step_bound + self.interfering_cut > self.undecided
    }

    fn count(&mut self, ending: &Ending, met: bool) {
        self.executions += 1;
        match ending {
            // The execution met a bug before its end: a deadlock or a race.
            Ending::Infeasible | Ending::Assumed | Ending::Waiting | Ending::Stuck if met => {
                self.buggy += 1
            }
            Ending::Passed | Ending::Mispaired | Ending::NoSuchRead | Ending::Unsupported(_) => {}
            Ending::Bug => self.buggy += u64::from(met),
            Ending::Infeasible => self.infeasible += 1,
            Ending::Unknown(_) => self.unknown += 1,
            Ending::Assumed => self.assumed += 1,
            Ending::StepBound => self.step_bound += 1,
            Ending::Waiting => self.waiting += 1,
            Ending::Stuck => self.stuck += 1,
        }
    }

    /// Adds another level's counts.
    pub const fn add(&mut self, other: &Self) {
        self.executions += other.executions;
        self.infeasible += other.infeasible;
        self.assumed += other.assumed;
        self.step_bound += other.step_bound;
        self.interfering_cut += other.interfering_cut;
        self.interfering_waiting += other.interfering_waiting;
        self.waiting += other.waiting;
        self.stuck += other.stuck;
        self.unknown += other.unknown;
        self.hurried += other.hurried;
        self.buggy += other.buggy;
        self.undecided += other.undecided;
        self.scoped += other.scoped;
        self.later += other.later;
        self.barrier += other.barrier;
        self.behind_another += other.behind_another;
        self.skipped += other.skipped;
    }
}

/// Why a search cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The program does what P̂ₖ cannot express.
    Unsupported {
        /// What the program does.
        message: String,
        /// The place in the source, if there is one.
        place: Option<Place>,
    },
    /// The program does not do the same thing twice with the same inputs and choices.
    Nondeterministic,
}

/// What goes on between the executions of a search.
pub trait Watch {
    /// Called before an execution with these non-local reads. Returns whether to go on.
    fn before(&mut self, _pairs: &[Pair]) -> bool {
        true
    }

    /// Called after each execution with the level's counts so far. Returns whether to go on.
    fn after(&mut self, level: &Level, machine: &Machine) -> bool;
}

struct After<'a>(&'a mut dyn FnMut(&Level, &Machine) -> bool);

impl Watch for After<'_> {
    fn after(&mut self, level: &Level, machine: &Machine) -> bool {
        self.0(level, machine)
    }
}

/// A search over one harness, one role and one choice of inputs, a level at a time.
#[derive(Clone)]
pub struct Search<'a> {
    bound: &'a Bound,
    role: Role,
    bounds: Bounds,
    /// The choices of the next level.
    frontier: Frontier,
    /// The choices of the level that is being executed; kept for their memory.
    choices: Frontier,
    /// The choice that is being executed; kept for its memory.
    pairs: Vec<Pair>,
    k: usize,
    executions: u64,
    /// The number of the part of the search to make, from 0, and the number of parts.
    part: (u32, u32),
    /// Whether no level has been dealt out among the parts yet: each part executes all of it.
    in_top: bool,
}

/// A level is dealt out among parts when it has this many choices for each part: enough to even out how much grows out of
/// them.
pub(crate) const DEALT: u64 = 16;

/// The k at which a level is dealt out, however few choices it has.
const DEALT_AT: usize = 2;

impl std::fmt::Debug for Search<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Search")
            .field("k", &self.k)
            .field("executions", &self.executions)
            .finish_non_exhaustive()
    }
}

/// A machine for searches within `bounds`.
#[must_use]
pub fn machine(bounds: &Bounds, solver: Solver) -> Machine {
    Machine::new(bounds.limits, solver)
}

impl<'a> Search<'a> {
    /// A search that has not begun.
    #[must_use]
    pub fn new(bound: &'a Bound, role: Role, bounds: Bounds) -> Self {
        Self {
            bound,
            role,
            bounds,
            frontier: Frontier::default(),
            choices: Frontier::default(),
            pairs: Vec::new(),
            k: 0,
            executions: 0,
            part: (0, 1),
            in_top: false,
        }
    }

    /// This part of the search, number `index` from 0, of `count`. Every part executes the first levels, which are small, to
    /// know what grows out of them. The choices of the next level are dealt out in turn, and each part goes on from its own.
    #[must_use]
    pub fn part(self, index: u32, count: u32) -> Self {
        Self {
            part: (index, count),
            in_top: count > 1,
            ..self
        }
    }

    /// Whether each part executes the next level: it counts for the first part alone.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        let dealt = self.k >= DEALT_AT.min(self.bounds.k_max)
            || self.frontier.count() >= DEALT * u64::from(self.part.1);
        self.in_top && (self.k == 0 || !dealt)
    }

    /// The k of the next level.
    #[must_use]
    pub const fn k(&self) -> usize {
        self.k
    }

    /// Whether no level is left.
    #[must_use]
    pub const fn finished(&self) -> bool {
        self.k > self.bounds.k_max
    }

    /// Executes the next level on `machine`, which keeps the bugs. `watch` is called after each execution and tells whether to go on.
    ///
    /// # Errors
    /// The program cannot be searched.
    pub fn next_level(
        &mut self,
        machine: &mut Machine,
        watch: &mut dyn FnMut(&Level, &Machine) -> bool,
    ) -> Result<Level, Trouble> {
        self.watched_level(machine, &mut After(watch))
    }

    /// Executes the next level on `machine`, under `watch`.
    ///
    /// # Errors
    /// The program cannot be searched.
    pub fn watched_level(
        &mut self,
        machine: &mut Machine,
        watch: &mut dyn Watch,
    ) -> Result<Level, Trouble> {
        machine.forget();
        let k = self.k;
        let reveal = k < self.bounds.k_max;
        let mut level = Level::default();
        let is_dealt = self.in_top && !self.is_shared();
        self.in_top &= !is_dealt;
        let (part, parts) = (u64::from(self.part.0), u64::from(self.part.1));
        std::mem::swap(&mut self.choices, &mut self.frontier);
        self.frontier.clear();
        let count = if k == 0 { 1 } else { self.choices.count() };
        let mut next = At::default();
        for at in 0..count {
            if k > 0 {
                self.choices.next(&mut next, k, &mut self.pairs);
            }
            if is_dealt && at % parts != part {
                continue;
            }
            let pairs = &self.pairs[..];
            if self.executions >= self.bounds.executions || !watch.before(pairs) {
                level.skipped += count - at;
                break;
            }
            let run = machine.run(self.role, pairs, reveal, self.bound);
            self.executions += 1;
            let ending = run.map_err(|_| Trouble::Nondeterministic)?;
            level.count(&ending, machine.met_bug_of_t());
            match ending {
                Ending::Unsupported(what) => {
                    let Remark { message, place } = *what;
                    return Err(Trouble::Unsupported { message, place });
                }
                Ending::Mispaired | Ending::NoSuchRead => return Err(Trouble::Nondeterministic),
                _ => {}
            }
            level.interfering_cut += u64::from(machine.interfering_was_cut());
            level.undecided += machine.undecided();
            level.interfering_waiting += u64::from(machine.interfering_waits());
            level.scoped += u64::from(machine.leaves_scope_open());
            level.later += u64::from(machine.interfering_fails_later());
            level.barrier += u64::from(machine.stood_at_barrier());
            level.behind_another += u64::from(machine.interfering_needs_another());
            level.hurried += u64::from(machine.hurries_time());
            self.frontier.add(pairs, machine.revealed());
            if !watch.after(&level, machine) {
                level.skipped += count - at - 1;
                break;
            }
        }
        self.k += 1;
        Ok(level)
    }
}
