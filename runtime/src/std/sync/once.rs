//! `std::sync::Once`, on the scheduled machine.
//!
//! Its state is an atomic, and a thread that waits for another thread's initialization does so in a queue beside it:
//! the thread enters the queue, looks at the state once more, and goes on at once if the initialization is over by
//! then. So asking whether the initialization is over is no more than a read.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{
    AssertUnwindSafe, Location, RefUnwindSafe, UnwindSafe, catch_unwind, resume_unwind,
};

use crate::shared::{AtomicCell, Spot, machine};
use crate::vocabulary::Site;

const INCOMPLETE: u64 = 0;
const POISONED: u64 = 1;
const RUNNING: u64 = 2;
/// The stage in the lowest bits of the state; the other bits tell which thread did it, after what, and so what was
/// made.
const COMPLETE: u64 = 3;

const fn stage(state: u64) -> u64 {
    state & 3
}

/// `std::sync::Once`.
pub struct Once {
    state: AtomicCell<u64>,
    queue: Spot,
}

/// See `std::sync::ONCE_INIT`, which is deprecated and there to stay.
// As in std, a static begins with it.
#[allow(clippy::declare_interior_mutable_const)]
pub const ONCE_INIT: Once = Once::new();

impl UnwindSafe for Once {}
impl RefUnwindSafe for Once {}

impl Once {
    /// See `std::sync::Once::new`.
    // std's has no `Default` either.
    #[allow(clippy::new_without_default)]
    #[must_use]
    pub const fn new() -> Self {
        Self::with_state(INCOMPLETE)
    }

    /// A `Once` whose initialization is over.
    pub(super) const fn completed() -> Self {
        Self::with_state(COMPLETE)
    }

    const fn with_state(state: u64) -> Self {
        Self {
            state: AtomicCell::new(state),
            queue: Spot::new(),
        }
    }

    fn stage(&self, what: &str, site: Site) -> u64 {
        machine(what, site);
        stage(self.state.load(site))
    }

    pub(super) fn is_completed_at(&self, what: &str, site: Site) -> bool {
        self.stage(what, site) == COMPLETE
    }

    /// Begins anew; the caller has it exclusively.
    pub(super) fn reset(&mut self) {
        *self = Self::new();
    }

    /// Waits while an initialization runs. Returns the stage after that, in which none runs.
    fn settled(&self, what: &str, site: Site) -> u64 {
        loop {
            let found = self.stage(what, site);
            if found != RUNNING {
                return found;
            }
            self.wait_for_change(what, site);
        }
    }

    /// Waits until an initialization that runs has ended.
    fn wait_for_change(&self, what: &str, site: Site) {
        let (machine, queue) = self.queue.enter(what, site);
        machine.wait(queue, site);
        let runs = self.stage(what, site) == RUNNING;
        machine.wake(queue, !runs, site);
    }

    /// Runs `init` unless an initialization is over. `init` is told whether an earlier attempt panicked; after such an
    /// attempt it is run with `force` only.
    #[track_caller]
    pub(super) fn call(&self, what: &str, force: bool, site: Site, init: impl FnOnce(&OnceState)) {
        let machine = machine(what, site);
        loop {
            let found = self.settled(what, site);
            if found == COMPLETE {
                return;
            }
            assert!(
                found != POISONED || force,
                "Once instance has previously been poisoned"
            );
            let begin = |state| (state == found).then_some(RUNNING);
            if self.state.update(begin, Some(found), site).is_ok() {
                let state = OnceState {
                    poisoned: found == POISONED,
                    _not_sync: PhantomData,
                };
                // Not in a destructor: others may run between these steps, which they may not while a thread unwinds.
                let result = catch_unwind(AssertUnwindSafe(|| init(&state)));
                let becomes = match result {
                    Ok(()) => machine.fresh() & !3 | COMPLETE,
                    Err(_) => POISONED,
                };
                self.state.store(becomes, site);
                let (machine, queue) = self.queue.enter(what, site);
                machine.notify(queue, true, site);
                if let Err(panic) = result {
                    resume_unwind(panic);
                }
                return;
            }
        }
    }

    /// See `std::sync::Once::call_once`.
    #[track_caller]
    pub fn call_once<F: FnOnce()>(&self, init: F) {
        self.call("Once::call_once", false, Location::caller(), |_| init());
    }

    /// See `std::sync::Once::call_once_force`.
    #[track_caller]
    pub fn call_once_force<F: FnOnce(&OnceState)>(&self, init: F) {
        self.call("Once::call_once_force", true, Location::caller(), init);
    }

    /// See `std::sync::Once::is_completed`.
    #[must_use]
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        self.is_completed_at("Once::is_completed", Location::caller())
    }

    /// See `std::sync::Once::wait`.
    #[track_caller]
    pub fn wait(&self) {
        self.wait_at("Once::wait", false, Location::caller());
    }

    /// See `std::sync::Once::wait_force`.
    #[track_caller]
    pub fn wait_force(&self) {
        self.wait_at("Once::wait_force", true, Location::caller());
    }

    /// Waits for an initialization to be complete, also if none has begun.
    #[track_caller]
    pub(super) fn wait_at(&self, what: &str, force: bool, site: Site) {
        loop {
            let found = self.stage(what, site);
            match found {
                COMPLETE => return,
                POISONED if !force => panic!("Once instance has previously been poisoned"),
                _ => {}
            }
            let (machine, queue) = self.queue.enter(what, site);
            machine.wait(queue, site);
            let same = self.stage(what, site) == found;
            machine.wake(queue, !same, site);
        }
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").finish_non_exhaustive()
    }
}

/// `std::sync::OnceState`.
pub struct OnceState {
    poisoned: bool,
    /// As std's, it is the initializing thread's alone.
    _not_sync: PhantomData<Cell<()>>,
}

impl OnceState {
    /// See `std::sync::OnceState::is_poisoned`.
    #[must_use]
    pub const fn is_poisoned(&self) -> bool {
        self.poisoned
    }
}

impl fmt::Debug for OnceState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceState")
            .field("poisoned", &self.poisoned)
            .finish()
    }
}
