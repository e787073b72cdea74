//! Poison flags: a place of their own beside the value that a lock protects, since a thread that reads or clears the
//! flag need not hold the lock.
//!
//! A guard that is dropped while its thread begins to panic sets the flag, writes the value, and gives the lock back.
//! From then on the value tells that the lock [was poisoned](super::Guarded), and each taking of the lock reads the
//! flag after the value. Before that the flag is certainly not set, since it is only set under the lock. So locks that
//! no thread poisons cost nothing.

use std::cell::Cell;

use super::Guarded;
use crate::engine::tau::{Access, enter_unwinding};
use crate::engine::{Handle, Line, NONE, tau_prime};
use crate::shared::AtomicCell;
use crate::vocabulary::Site;

/// A poison flag.
#[derive(Debug)]
pub(super) struct Poison {
    flag: AtomicCell<bool>,
    /// In P̂ₖ: whether the flag has been cleared, by T' at any time, or by T so far.
    cleared: Cell<bool>,
    /// Outside of P̂ₖ: what the next object in this place starts with, or, where no program runs, the flag.
    pub(super) rests: Cell<bool>,
}

impl Poison {
    pub(super) const fn new() -> Self {
        Self {
            flag: AtomicCell::new(false),
            cleared: Cell::new(false),
            rests: Cell::new(false),
        }
    }

    /// Another execution of P̂ₖ begins.
    pub(super) fn begin(&self) {
        self.cleared.set(false);
    }

    /// Reads the flag in P̂ₖ.
    pub(super) fn load(&self, site: Site) -> bool {
        self.flag.load(site)
    }

    /// Reads the flag of a lock that was poisoned, after the value; `g` is T's.
    ///
    /// The value tells the state of a flag that no thread clears: a thread that reads the value has seen what set the
    /// flag, so that reading the flag is no further choice of T.
    #[cold]
    pub(super) fn read<V>(
        &self,
        handle: Handle,
        access: Access,
        g: &Guarded<V>,
        site: Site,
    ) -> bool {
        if access == Access::UnderTest && !handle.get().quiet && !self.cleared.get() {
            let event = g.flagged.get();
            let source = (event != NONE).then_some(event);
            return self.flag.load_known(handle, source, site);
        }
        self.load(site)
    }

    /// Sets the flag: the thread begins to panic under a guard of these copies of the value, which it may write.
    #[cold]
    pub(super) fn set<V>(
        &self,
        handle: Handle,
        (g, g_prime): (&Guarded<V>, Option<&Guarded<V>>),
        site: Site,
    ) {
        let access = enter_unwinding(handle);
        self.flag.store_unwinding(handle, access, true, site);
        match access {
            Access::Interfering | Access::PlainPrime => {
                if let Some(prime) = g_prime {
                    prime.was_poisoned.set(true);
                    prime.flagged.set(tau_prime::latest(handle));
                }
            }
            Access::UnderTest | Access::Plain => {
                g.was_poisoned.set(true);
                g.flagged.set(NONE);
            }
        }
    }

    /// Clears the flag in P̂ₖ.
    pub(super) fn clear(&self, handle: Handle, site: Site) {
        self.flag.store(false, site);
        if handle.get().line != Line::Init && !handle.get().quiet {
            self.cleared.set(true);
        }
    }
}
