//! Feasibility, decided in the driver on a worker's behalf.

use seqz_runtime::log::Log;
use seqz_runtime::worker::message::Answer;

/// A solver that decides the logs that a worker hands over.
pub trait RemoteSolver {
    /// Whether the log has a feasible interleaving.
    fn check(&mut self, log: &Log<'_>) -> Answer;
}

/// The solver for workers that decide for themselves, which is never asked.
pub(crate) struct Unasked;

impl RemoteSolver for Unasked {
    fn check(&mut self, _: &Log<'_>) -> Answer {
        Answer::Unknown("this seqz has no solver but the workers' own".into())
    }
}

#[cfg(feature = "z3")]
impl RemoteSolver for seqz_runtime::feasibility::Z3 {
    fn check(&mut self, log: &Log<'_>) -> Answer {
        use seqz_runtime::feasibility::{Feasibility, Verdict};
        match Feasibility::check(self, log) {
            Verdict::Feasible(_) => Answer::Feasible,
            Verdict::Infeasible => Answer::Infeasible,
            Verdict::Unknown(why) => Answer::Unknown(why),
        }
    }
}
