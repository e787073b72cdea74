//! The progress grid behind the interface that all engines share.

use crate::log::Log;
use crate::{Feasibility, Grid, Verdict};

/// Decides whole logs with a [`Grid`].
#[derive(Clone, Debug, Default)]
pub struct ProgressGrid {
    grid: Grid,
}

impl ProgressGrid {
    /// An engine with no memory in use yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the log is feasible, without a witness.
    #[must_use]
    pub fn feasible(&mut self, log: &Log<'_>) -> bool {
        self.load(log);
        self.grid.feasible()
    }

    fn load(&mut self, log: &Log<'_>) {
        self.grid.begin(log.interfering);
        for &event in log.under_test {
            self.grid.push(event);
        }
    }
}

impl Feasibility for ProgressGrid {
    fn check(&mut self, log: &Log<'_>) -> Verdict {
        self.load(log);
        self.grid.verdict()
    }
}
