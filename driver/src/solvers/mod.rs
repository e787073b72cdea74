//! The solvers that can be named, one row each: those that decide whether a log is feasible, for `check`, and those
//! that find other executions in a trace, for strategies that ask for them.
//!
//! Workers have a solver of their own for either kind of questions. A solver in the driver is asked over the
//! connection, in place of the worker's or beside it; in the second case the two answers have to be the same.

mod remote;

use std::fmt;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use seqz_explore::mcm;
use seqz_runtime::worker::message::SolverKind;

use crate::error::Error;
pub use remote::RemoteSolver;
pub(crate) use remote::Unasked;

/// A solver for questions of one kind.
pub struct Solver<S: ?Sized + 'static> {
    /// The name on the command line and in reports.
    pub name: &'static str,
    /// A description in one line, for users who choose among solvers.
    pub about: &'static str,
    /// Whether the worker's solver is asked, the driver's, or both.
    pub who: SolverKind,
    /// Makes the driver's solver. `None`: the driver's is not asked, or this seqz was built without it.
    pub make: fn() -> Option<Box<S>>,
}

/// The solvers that decide whether a log is feasible.
pub static FEASIBILITY: &[Solver<dyn RemoteSolver>] = &[
    Solver::GRID,
    Solver {
        name: "z3",
        about: "Z3, the reference",
        who: SolverKind::Driver,
        make: feasibility_by_z3,
    },
    Solver {
        name: "all",
        about: "Both, held against each other",
        who: SolverKind::Both,
        make: feasibility_by_z3,
    },
];

/// The solvers that decide whether a trace contains another execution.
pub static CAUSALITY: &[Solver<dyn mcm::Solver>] = &[
    Solver::ORDER,
    Solver {
        name: "z3",
        about: "Z3, the reference",
        who: SolverKind::Driver,
        make: causality_by_z3,
    },
    Solver {
        name: "all",
        about: "Both, held against each other",
        who: SolverKind::Both,
        make: causality_by_z3,
    },
];

impl Solver<dyn RemoteSolver> {
    /// The worker's own solver.
    pub const GRID: Self = Self {
        name: "grid",
        about: "The progress grid: exact and fast",
        who: SolverKind::Grid,
        make: || None,
    };
}

impl Solver<dyn mcm::Solver> {
    /// The worker's own solver.
    pub const ORDER: Self = Self {
        name: "order",
        about: "The order solver: exact and fast",
        who: SolverKind::Grid,
        make: || None,
    };
}

#[cfg(feature = "z3")]
fn feasibility_by_z3() -> Option<Box<dyn RemoteSolver>> {
    Some(Box::new(seqz_runtime::feasibility::Z3::new()))
}

/// The time that Z3 may take for a query.
#[cfg(feature = "z3")]
const TIME_LIMIT: std::time::Duration = std::time::Duration::from_secs(60);

#[cfg(feature = "z3")]
fn causality_by_z3() -> Option<Box<dyn mcm::Solver>> {
    Some(Box::new(mcm::Z3::with_time_limit(TIME_LIMIT)))
}

#[cfg(not(feature = "z3"))]
const fn feasibility_by_z3() -> Option<Box<dyn RemoteSolver>> {
    None
}

#[cfg(not(feature = "z3"))]
const fn causality_by_z3() -> Option<Box<dyn mcm::Solver>> {
    None
}

/// A kind of questions, named by the trait of the solvers that answer them.
pub trait Questions: 'static {
    /// Returns all solvers for these questions.
    fn solvers() -> &'static [Solver<Self>];
}

impl Questions for dyn RemoteSolver {
    fn solvers() -> &'static [Solver<Self>] {
        FEASIBILITY
    }
}

impl Questions for dyn mcm::Solver {
    fn solvers() -> &'static [Solver<Self>] {
        CAUSALITY
    }
}

impl<S: ?Sized> Solver<S> {
    /// Refuses a solver of the driver's that this seqz does not have.
    ///
    /// # Errors
    /// When this seqz was built without the solver.
    pub(crate) fn is_there(&self) -> Result<(), Error> {
        if self.who == SolverKind::Grid || (self.make)().is_some() {
            return Ok(());
        }
        Err(Error::Option {
            message: "this seqz was built without Z3".into(),
            help:
                "build one with it: `cargo install --path driver --features z3` (needs libz3-dev)"
                    .into(),
        })
    }
}

impl<S: Questions + ?Sized> ValueEnum for Solver<S> {
    fn value_variants<'a>() -> &'a [Self] {
        S::solvers()
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name).help(self.about))
    }
}

impl<S: ?Sized> Clone for Solver<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: ?Sized> Copy for Solver<S> {}

impl<S: ?Sized> fmt::Debug for Solver<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
