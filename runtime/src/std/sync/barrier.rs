//! `std::sync::Barrier`.

use std::cell::Cell;
use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};

use crate::engine::{self, waiting::For};
use crate::running::{Running, running};
use crate::scheduled::{Attempt, Handle};
use crate::shared::{AtomicCell, Spot};
use crate::vocabulary::{Awaited, Site, Transition};

/// `std::sync::Barrier`.
///
/// Coming to it is one step: the thread that comes last is the leader, and the others are notified in the same step. In
/// P̂ₖ, coming to it is an update of the number of those who have come. A thread that is not the last one waits for another
/// to come, which T' can't see.
pub struct Barrier {
    spot: Spot,
    size: usize,
    /// In P̂ₖ: the number of threads that have come since the barrier was passed.
    arrived: AtomicCell<u64>,
    /// The number of the execution, and the number of threads that have come in it since the barrier was passed.
    come: Cell<(u32, usize)>,
}

// SAFETY: all threads of an execution run on one OS thread, executions one after the other.
unsafe impl Sync for Barrier {}

impl UnwindSafe for Barrier {}
impl RefUnwindSafe for Barrier {}

impl Barrier {
    /// See `std::sync::Barrier::new`.
    #[must_use]
    pub const fn new(size: usize) -> Self {
        Self {
            spot: Spot::new(),
            size,
            arrived: AtomicCell::new(0),
            come: Cell::new((0, 0)),
        }
    }

    /// See `std::sync::Barrier::wait`.
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        let site = Location::caller();
        BarrierWaitResult(match running() {
            Running::Scheduled(machine) => self.wait_on(machine, site),
            Running::Sequential(handle) => self.wait_in(handle, site),
            Running::Nothing => crate::running::refuse(OUTSIDE, site),
        })
    }

    /// Waits on this machine. Returns whether the thread came last.
    fn wait_on(&self, machine: Handle, site: Site) -> bool {
        let object = self.spot.of(machine);
        let size = self.size as u64;
        let arrival = machine.attempt(object, site, Transition::Arrive { size }, || {
            let (generation, mut come) = self.come.get();
            if generation != machine.generation() {
                come = 0;
            }
            let is_last = come + 1 >= self.size;
            let come = if is_last { 0 } else { come + 1 };
            self.come.set((machine.generation(), come));
            if is_last {
                Attempt::DoneForAll(1)
            } else {
                Attempt::Waits
            }
        });
        if arrival.is_none() {
            machine.wake(object, Awaited::Arrival, false, site);
        }
        arrival.is_some()
    }

    /// Waits in P̂ₖ. Returns whether the thread came last.
    fn wait_in(&self, handle: engine::Handle, site: Site) -> bool {
        let size = self.size as u64;
        let is_last = |come: u64| come + 1 >= size;
        let arrive = |come| Some(if is_last(come) { 0 } else { come + 1 });
        let come = self.arrived.update(arrive, None, site).unwrap_or_default();
        if is_last(come) {
            return true;
        }
        // No thread comes while this one stands here: T' sees nothing of T, and T has seen all of T' that it could.
        while !handle.get().quiet {
            self.arrived.wait_in_p_hat(handle, For::Arrival, site);
        }
        false
    }
}

const OUTSIDE: &str = "`Barrier::wait` of a transformed program runs under `seqz` only";

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}

/// `std::sync::BarrierWaitResult`.
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// See `std::sync::BarrierWaitResult::is_leader`.
    #[must_use]
    pub const fn is_leader(&self) -> bool {
        self.0
    }
}

impl fmt::Debug for BarrierWaitResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BarrierWaitResult")
            .field("is_leader", &self.0)
            .finish()
    }
}
