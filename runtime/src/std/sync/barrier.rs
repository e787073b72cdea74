//! `std::sync::Barrier`, on the scheduled machine.

use std::cell::Cell;
use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};

use crate::scheduled::Attempt;
use crate::shared::Spot;
use crate::vocabulary::Transition;

/// `std::sync::Barrier`.
///
/// Coming to it is one step: the thread that comes last is the leader, and the others are notified in the same step.
pub struct Barrier {
    spot: Spot,
    size: usize,
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
            come: Cell::new((0, 0)),
        }
    }

    /// See `std::sync::Barrier::wait`.
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        let site = Location::caller();
        let (machine, object) = self.spot.enter("Barrier::wait", site);
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
            machine.wake(object, false, site);
        }
        BarrierWaitResult(arrival.is_some())
    }
}

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
