//! `std::sync::Once`.
//!
//! Its state is an atomic, so asking whether the initialization is over is no more than a read. On the scheduled machine, a
//! thread that waits for another thread's initialization does so in a queue beside the state: the thread enters the queue,
//! looks at the state once more, and goes on at once if the initialization is over by then. P̂ₖ has no queue: a thread that
//! can't go on with the state that it has read waits, as in a loop that only looks.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{
    AssertUnwindSafe, Location, RefUnwindSafe, UnwindSafe, catch_unwind, resume_unwind,
};

use crate::engine::{
    tau,
    waiting::{COMPLETE, For},
};
use crate::running::{Running, running};
use crate::scheduled;
use crate::shared::{AtomicCell, Spot};
use crate::vocabulary::{Awaited, Site};

const INCOMPLETE: u64 = 0;
const POISONED: u64 = 1;
const RUNNING: u64 = 2;

/// The stage is in the lowest bits of the state; if it is [`COMPLETE`], the other bits tell which thread did it, after
/// what, and so what was made.
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

    fn stage(&self, site: Site) -> u64 {
        stage(self.state.load(site))
    }

    pub(super) fn is_completed_at(&self, site: Site) -> bool {
        self.stage(site) == COMPLETE
    }

    /// The number of what the initialization has made, if it is over.
    pub(super) fn made_at(&self, site: Site) -> Option<u64> {
        let state = self.state.load(site);
        (stage(state) == COMPLETE).then_some(state >> 2)
    }

    /// Begins anew; the caller has it exclusively.
    pub(super) fn reset(&mut self) {
        *self = Self::new();
    }

    /// Waits while an initialization runs. Returns the state after that, in which none runs.
    fn settled(&self, site: Site) -> u64 {
        loop {
            let found = self.state.load(site);
            if stage(found) != RUNNING {
                return found;
            }
            self.wait_for_change(RUNNING, For::Initialization, site);
        }
    }

    /// Waits until the state is another than this one, which has just been read.
    fn wait_for_change(&self, found: u64, what: For, site: Site) {
        match running() {
            Running::Scheduled(machine) => {
                let queue = self.queue.of(machine);
                machine.wait(queue, site);
                let same = self.stage(site) == found;
                machine.wake(queue, Awaited::Initialization, !same, site);
            }
            Running::Sequential(handle) => {
                self.state.wait_in_p_hat(handle, what, site);
                if handle.get().quiet {
                    // The execution has been ended. It may run on for a while; but a destructor that is run as it is
                    // unwound needs what can't be made up.
                    tau::enter(handle, site);
                    if std::thread::panicking() {
                        eprintln!("a destructor waits for ever for an initialization");
                        std::process::abort();
                    }
                }
            }
            Running::Nothing => panic!("an initialization waits for itself"),
        }
    }

    /// A number for what an initialization has made, which tells it from what others make, or make of something else.
    fn number() -> u64 {
        match running() {
            Running::Scheduled(machine) => machine.fresh() >> 2,
            Running::Sequential(handle) => handle.get().event_number(),
            Running::Nothing => 0,
        }
    }

    /// Runs `init` unless an initialization is over. `init` is told whether an earlier attempt panicked; after such an
    /// attempt it is run with `force` only. Returns the number of what the initialization has made.
    #[track_caller]
    pub(super) fn call(&self, force: bool, site: Site, init: impl FnOnce(&OnceState)) -> u64 {
        loop {
            let state = self.settled(site);
            let found = stage(state);
            if found == COMPLETE {
                return state >> 2;
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
                let number = Self::number();
                let becomes = match result {
                    Ok(()) => number << 2 | COMPLETE,
                    Err(_) => POISONED,
                };
                self.state.store(becomes, site);
                if let Some(machine) = scheduled::current() {
                    machine.announce_over(self.queue.of(machine), site);
                }
                if let Err(panic) = result {
                    resume_unwind(panic);
                }
                return number;
            }
        }
    }

    /// See `std::sync::Once::call_once`.
    #[track_caller]
    pub fn call_once<F: FnOnce()>(&self, init: F) {
        self.call(false, Location::caller(), |_| init());
    }

    /// See `std::sync::Once::call_once_force`.
    #[track_caller]
    pub fn call_once_force<F: FnOnce(&OnceState)>(&self, init: F) {
        self.call(true, Location::caller(), init);
    }

    /// See `std::sync::Once::is_completed`.
    #[must_use]
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        self.is_completed_at(Location::caller())
    }

    /// See `std::sync::Once::wait`.
    #[track_caller]
    pub fn wait(&self) {
        self.wait_at(false, Location::caller());
    }

    /// See `std::sync::Once::wait_force`.
    #[track_caller]
    pub fn wait_force(&self) {
        self.wait_at(true, Location::caller());
    }

    /// Waits for an initialization to be complete, also if none has begun. Returns the number of what it has made.
    #[track_caller]
    pub(super) fn wait_at(&self, force: bool, site: Site) -> u64 {
        loop {
            let state = self.state.load(site);
            let found = stage(state);
            match found {
                COMPLETE => return state >> 2,
                POISONED if !force => panic!("Once instance has previously been poisoned"),
                _ => {}
            }
            self.wait_for_change(found, For::Completion, site);
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
