//! Which engine decides feasibility.

use super::tau;
use crate::feasibility::{Feasibility, Verdict};
use crate::log::Log;
use crate::memory::outside;

/// Called with a log on which two engines differ, the grid's verdict, and the other engine's.
pub type Differs = dyn FnMut(&Log<'_>, bool, &Verdict);

/// What decides whether a log is feasible.
#[derive(Default)]
pub enum Solver {
    /// The progress grid.
    #[default]
    Grid,
    /// Another engine.
    Other(Box<dyn Feasibility>),
    /// The grid decides, and another engine checks the same log.
    Compare {
        /// The engine that checks the same logs.
        other: Box<dyn Feasibility>,
        /// Called with the logs on which the two differ.
        differs: Box<Differs>,
    },
}

impl Solver {
    pub(crate) const fn is_grid(&self) -> bool {
        matches!(self, Self::Grid)
    }

    pub(crate) fn check(&mut self, log: &Log<'_>, by_grid: bool) -> tau::Answer {
        match self {
            Self::Grid if by_grid => tau::Answer::Yes,
            Self::Grid => tau::Answer::No,
            // Another engine may keep memory that it allocates here.
            _ => outside(|| self.ask(log, by_grid)),
        }
    }

    fn ask(&mut self, log: &Log<'_>, by_grid: bool) -> tau::Answer {
        match self {
            Self::Grid => tau::Answer::No,
            Self::Other(other) => other.check(log).into(),
            Self::Compare { other, differs } => {
                let verdict = other.check(log);
                let agrees = matches!(
                    (&verdict, by_grid),
                    (Verdict::Feasible(_), true) | (Verdict::Infeasible, false)
                );
                if !agrees {
                    differs(log, by_grid, &verdict);
                }
                match verdict {
                    Verdict::Unknown(why) => tau::Answer::Unknown(why),
                    _ if by_grid => tau::Answer::Yes,
                    _ => tau::Answer::No,
                }
            }
        }
    }
}

impl std::fmt::Debug for Solver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Grid => "Grid",
            Self::Other(_) => "Other",
            Self::Compare { .. } => "Compare",
        })
    }
}
