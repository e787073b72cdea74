//! Runs that wait to be expanded without their traces.
//!
//! From a long execution in which everything races follow so many seeds that its expansion pauses long before all are
//! found, and what becomes of them waits for it with all its events. Where that is many events, the trace of a run that
//! is over is let go, and the run is made again from its seed once all that has begun is through. That counts as no
//! execution: the program does the same as before, and if it doesn't, nothing is promised any more.

use super::frontier::{Seed, Shared};
use super::paths::Paths;
use super::settle::Settled;
use crate::mcm::model::Model;

/// A run that waits to be expanded and has to be made again for that.
#[derive(Debug)]
pub struct Late {
    /// What it followed.
    pub seed: Option<Seed>,
    settled: Settled,
    /// The key of its class.
    key: u64,
}

impl Late {
    /// Of a run that has been taken in; and the memory of its paths.
    #[must_use]
    pub fn new(mut settled: Settled, seed: Option<Seed>, model: &Model) -> (Self, Paths) {
        let paths = std::mem::take(&mut settled.paths);
        let key = paths.key(model, &model.whole());
        (Self { seed, settled, key }, paths)
    }

    /// The run has been made again. `None`: it is another one.
    #[must_use]
    pub fn settle(self, model: &Model, shared: &Shared, mut paths: Paths) -> Option<Settled> {
        paths.enter(model, shared);
        (paths.key(model, &model.whole()) == self.key).then_some(Settled {
            paths,
            ..self.settled
        })
    }
}
