//! Runs that wait to be expanded without their traces.
//!
//! A long execution in which all events race leads to very many seeds. Its expansion pauses long before all seeds are
//! found, and the runs of these seeds wait with all their events to be expanded. Where the waiting runs have many events,
//! the trace of a further run is let go, and the run is made again from its seed once all expansions that have begun are
//! over. The second run counts as no execution: the program does the same as before, and if it doesn't, the search promises
//! nothing any more.

use super::frontier::{Seed, Shared};
use super::paths::Paths;
use super::settle::Settled;
use crate::mcm::model::Model;

/// A run that waits to be expanded and has to be made again for that.
#[derive(Debug)]
pub struct Late {
    /// The seed that the run followed.
    pub seed: Option<Seed>,
    settled: Settled,
    /// The key of the run's class.
    key: u64,
}

impl Late {
    /// Lets go of the trace of a settled run. Returns the rest, and the paths for their memory.
    #[must_use]
    pub fn new(mut settled: Settled, seed: Option<Seed>, model: &Model) -> (Self, Paths) {
        let paths = std::mem::take(&mut settled.paths);
        let key = paths.key(model, &model.whole());
        (Self { seed, settled, key }, paths)
    }

    /// Takes the run that has been made again. `None`: the run differs from the first one.
    #[must_use]
    pub fn settle(self, model: &Model, shared: &Shared, mut paths: Paths) -> Option<Settled> {
        paths.enter(model, shared);
        (paths.key(model, &model.whole()) == self.key).then_some(Settled {
            paths,
            ..self.settled
        })
    }
}
