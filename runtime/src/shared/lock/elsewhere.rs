//! Locks outside of P̂ₖ: on the scheduled machine, or where nothing runs.

#[cfg(feature = "scheduler")]
use seqz_explore::Kind;

#[cfg(feature = "scheduler")]
use super::Guarded;
use super::{LockCell, Shadow};
use crate::engine::Site;
use crate::log::LockMode;
#[cfg(feature = "scheduler")]
use crate::scheduled::events::{Handle, current};

/// Mixed into the hash of a value whose lock is poisoned.
#[cfg(feature = "scheduler")]
const POISONED: u64 = 0x9015_0ed1_0c4e_d5a1;

impl<V: Shadow> LockCell<V> {
    pub(super) fn lock_elsewhere(&self, mode: LockMode, site: Site) -> bool {
        #[cfg(feature = "scheduler")]
        if let Some(machine) = current() {
            let object = self.scheduled_object(machine);
            machine.lock(object, mode, site, || self.contents());
            return self.state().g.poisoned;
        }
        let _ = site;
        assert!(
            self.is_free(mode),
            "the lock is held already: waiting for it would never end"
        );
        self.occupy(mode);
        self.state().g.poisoned
    }

    pub(super) fn try_lock_elsewhere(&self, mode: LockMode, site: Site) -> Option<bool> {
        #[cfg(feature = "scheduler")]
        if let Some(machine) = current() {
            let object = self.scheduled_object(machine);
            return machine
                .try_lock(object, mode, site, || self.contents())
                .then(|| self.state().g.poisoned);
        }
        let _ = site;
        self.is_free(mode).then(|| {
            self.occupy(mode);
            self.state().g.poisoned
        })
    }

    pub(super) fn unlock_elsewhere(
        &self,
        mode: LockMode,
        taken: Site,
        written: Option<Site>,
        poisons: bool,
    ) {
        #[cfg(feature = "scheduler")]
        if let Some(machine) = current() {
            let object = self.scheduled_object(machine);
            if poisons && !machine.is_ending() {
                self.before_write_elsewhere();
                self.state().g.poisoned = true;
            }
            let written = written.is_some() || poisons;
            machine.unlock(object, mode, written, taken, || self.contents());
            return;
        }
        let _ = (mode, taken, written);
        self.state().g.poisoned |= poisons;
    }

    /// Keeps what a static starts every execution with.
    pub(super) fn before_write_elsewhere(&self) {
        #[cfg(feature = "scheduler")]
        if let Some(machine) = current() {
            let state = self.state();
            if state.initial.is_none() && machine.is_static(std::ptr::from_ref(self).addr()) {
                // SAFETY: `scheduled_object` puts it back, and `Initial` forgets it where that doesn't come to pass.
                let value = machine.outside(|| unsafe { state.g.value.initial() });
                state.initial.keep(Guarded {
                    value,
                    poisoned: state.g.poisoned,
                });
            }
        }
    }

    pub(super) fn settle_elsewhere(&self, writes: bool, site: Site) -> bool {
        #[cfg(feature = "scheduler")]
        if let Some(machine) = current() {
            let object = self.scheduled_object(machine);
            machine.turn(Kind::Read, object, 0, site);
            let found = machine.found(object, || self.contents());
            machine.did(Kind::Read, object, found, found, site);
            if writes {
                self.state().tag.forget();
            }
            return self.state().g.poisoned;
        }
        let _ = (writes, site);
        self.state().g.poisoned
    }

    /// Which object this is; 0 where nothing runs.
    pub(crate) fn identity(&self) -> u64 {
        #[cfg(feature = "scheduler")]
        if let Some(machine) = current() {
            return machine.place_of_object(self.scheduled_object(machine));
        }
        0
    }

    /// The hash of the value with its poison flag, if its type is known.
    #[cfg(feature = "scheduler")]
    #[cold]
    #[inline(never)]
    fn contents(&self) -> Option<u64> {
        let g = &self.state().g;
        let hash = crate::values::hash_of(&g.value)?;
        Some(if g.poisoned {
            seqz_explore::hash::mix(POISONED, hash)
        } else {
            hash
        })
    }

    #[cfg(feature = "scheduler")]
    fn scheduled_object(&self, machine: Handle) -> seqz_explore::Object {
        let state = self.state();
        if state.tag.renew_to(machine.generation())
            && let Some(initial) = state.initial.take()
        {
            drop(std::mem::replace(&mut state.g, initial));
        }
        state.tag.scheduled_object(machine, self)
    }
}
