//! Poison flags: a place of their own beside the value that a lock protects, since a thread that reads or clears the
//! flag need not hold the lock.
//!
//! A guard that is dropped while its thread begins to panic sets the flag, writes the value, and gives the lock back.
//! From then on the value tells that the lock [was poisoned](super::Guarded), and each taking of the lock reads the
//! flag after the value. Before that the flag is certainly not set, since it is only set under the lock. So locks that
//! no thread poisons cost nothing.

use super::{LockCell, Shadow};
use crate::engine::tau::{Access, enter_unwinding};
use crate::engine::{Handle, Line, NONE, current, tau_prime};
use crate::shared::AtomicCell;
use crate::vocabulary::Site;

/// A poison flag.
#[derive(Debug)]
pub(super) struct Poison {
    flag: AtomicCell<bool>,
    /// In P̂ₖ: whether the flag has been cleared, by T' at any time, or by T so far.
    cleared: bool,
    /// Outside of P̂ₖ: what the next object in this place starts with, or, where no program runs, the flag.
    pub(super) rests: bool,
}

impl Poison {
    pub(super) const fn new() -> Self {
        Self {
            flag: AtomicCell::new(false),
            cleared: false,
            rests: false,
        }
    }

    /// Another execution begins.
    pub(super) const fn begin(&mut self) {
        self.cleared = false;
    }
}

impl<V: Shadow> LockCell<V> {
    /// Reads the flag of a lock that was poisoned, after the value.
    ///
    /// The value tells the state of a flag that no thread clears: a thread that reads the value has seen what set the
    /// flag, so that reading the flag is no further choice of T.
    #[cold]
    pub(super) fn read_poison(&self, handle: Handle, access: Access, site: Site) -> bool {
        let state = self.state();
        if access == Access::UnderTest && !handle.get().quiet && !state.poison.cleared {
            let event = state.g.flagged;
            let source = (event != NONE).then_some(event);
            return state.poison.flag.load_known(handle, source, site);
        }
        state.poison.flag.load(site)
    }

    /// Sets the flag: the thread begins to panic under a guard.
    #[cold]
    pub(super) fn set_poison(&self, handle: Handle, site: Site) {
        self.settled_mut(site);
        let state = self.state();
        let access = enter_unwinding(handle);
        let flag = &state.poison.flag;
        flag.store_unwinding(handle, access, true, site);
        match access {
            Access::Interfering | Access::PlainPrime => {
                let event = tau_prime::latest(handle);
                if let Some(prime) = &mut state.g_prime {
                    prime.was_poisoned = true;
                    prime.flagged = event;
                }
            }
            Access::UnderTest | Access::Plain => {
                state.g.was_poisoned = true;
                state.g.flagged = NONE;
            }
        }
    }

    /// Clears the flag.
    pub(crate) fn clear_poison(&self, site: Site) {
        let Some(handle) = current() else {
            self.clear_poison_elsewhere(site);
            return;
        };
        self.renew(handle);
        let state = self.state();
        state.poison.flag.store(false, site);
        if handle.get().line != Line::Init && !handle.get().quiet {
            state.poison.cleared = true;
        }
    }

    /// Reads the flag.
    pub(crate) fn is_poisoned(&self, site: Site) -> bool {
        let Some(handle) = current() else {
            return self.is_poisoned_elsewhere(site);
        };
        self.renew(handle);
        self.state().poison.flag.load(site)
    }
}
