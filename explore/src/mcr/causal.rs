//! What searches by maximal causality have in common: they execute one seed after another, and plant what follows.

use super::frontier::{Seed, Shared};
use super::late::Late;
use super::paths::Paths;
use super::run::Run;
use super::settle::Settled;
use super::task::Task;
use crate::divergence::Divergence;
use crate::event::Event;
use crate::executor::{Learned, Pick, RunEnd, View};
use crate::mcm::model::Model;
use crate::parts::Standing;
use crate::strategy::{Promise, Stats, Strategy};

/// Where the seeds of a search come from: what one such search does otherwise than another.
pub trait Seeds {
    /// Returns what all threads that work on the search share.
    fn shared(&self) -> &Shared;

    /// Returns the next seed to execute. `None`: no seed is left, and none will come.
    fn next_seed(&mut self) -> Option<Seed>;

    /// Plants the seeds that follow from a run, at once or later. Returns the model and the paths of another run, whose
    /// memory the next run uses.
    fn expand(&mut self, task: Task) -> (Box<Model>, Paths);

    /// Whether enough runs wait to be expanded, so that the trace of the next run is to be let go.
    fn has_enough(&self) -> bool {
        false
    }

    /// Keeps a run whose trace has been let go.
    fn put_off(&mut self, _late: Late) {}

    /// Whether a run that was [put off](Self::put_off) is to be made again first, since the expanding threads have nothing
    /// to do.
    fn is_time_for_late(&self) -> bool {
        false
    }

    /// Returns the next run that was [put off](Self::put_off).
    fn next_late(&mut self) -> Option<Late> {
        None
    }

    /// The number of seeds that wait beside those that are shared.
    fn own_waiting(&self) -> u64 {
        0
    }
}

/// A search by maximal causality, which gets its seeds from here.
#[derive(Debug)]
pub struct Causal<N> {
    pub(crate) seeds: N,
    started: bool,
    over: bool,
    run: Run,
    /// The run is one whose trace had been let go, which is made again.
    again: Option<Late>,
    standing: Standing,
    /// For their memory.
    paths: Paths,
    spare: Option<Box<Model>>,
}

impl<N: Seeds> Causal<N> {
    /// Before its next execution.
    pub(crate) fn of(seeds: N) -> Self {
        let started = seeds.shared().read().runs() > 0;
        Self {
            seeds,
            started,
            over: false,
            run: Run::default(),
            again: None,
            standing: Standing::WHOLE,
            paths: Paths::default(),
            spare: None,
        }
    }
}

impl<N: Seeds> Causal<N> {
    /// Has what follows from the run planted.
    fn expand(&mut self, settled: Settled) {
        let memory = self.spare.take().unwrap_or_default();
        let task = Task::new(settled, self.run.exchange_model(memory));
        let (model, paths) = self.seeds.expand(task);
        self.spare = Some(model);
        self.paths = paths;
    }
}

impl<N: Seeds> Strategy for Causal<N> {
    fn begin(&mut self) -> bool {
        self.standing = Standing::WHOLE;
        let mut seed = None;
        if self.started {
            if !self.seeds.is_time_for_late() {
                seed = self.seeds.next_seed();
            }
            if seed.is_none() {
                let Some(late) = self.seeds.next_late() else {
                    self.over = true;
                    return false;
                };
                seed.clone_from(&late.seed);
                self.again = Some(late);
                self.standing.own = false;
            }
        }
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

    fn learned(&mut self, learned: &Learned<'_>) {
        self.run.learned(learned);
    }

    fn end(&mut self, end: &RunEnd) {
        let (seed, followed) = self.run.end(end);
        let paths = std::mem::take(&mut self.paths);
        let shared = self.seeds.shared();
        if let Some(late) = self.again.take() {
            match late.settle(self.run.model(), shared, paths) {
                Some(settled) => self.expand(settled),
                None => shared.write().lose(),
            }
            return;
        }
        let settled = shared.settle(self.run.model(), seed.as_ref(), followed, paths);
        if !settled.leads_on {
            self.paths = settled.paths;
            return;
        }
        if self.seeds.has_enough() {
            let (late, paths) = Late::new(settled, seed, self.run.model());
            self.paths = paths;
            self.seeds.put_off(late);
            return;
        }
        self.expand(settled);
    }

    fn standing(&self) -> Standing {
        self.standing
    }

    fn report(&self) -> Stats {
        let shared = self.seeds.shared().read();
        let mut causality = shared.causality();
        causality.waiting += self.seeds.own_waiting();
        let promise = if self.over && shared.is_sound() {
            Promise::ExhaustedByValues { truncated: false }
        } else {
            Promise::Unfinished
        };
        Stats {
            causality: Some(causality),
            ..Stats::new(promise)
        }
    }
}
