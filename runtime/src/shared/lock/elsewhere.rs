//! Locks outside of P̂ₖ: on the scheduled machine, or where no program runs.

#[cfg(feature = "scheduler")]
use seqz_explore::Kind;

#[cfg(feature = "scheduler")]
use super::{Borrowed, G, Guarded};
use super::{LockCell, Shadow};
use crate::log::LockMode;
#[cfg(feature = "scheduler")]
use crate::scheduled::events::{Handle, current};
use crate::vocabulary::Site;

/// Mixed into the hash of a value whose lock was poisoned.
#[cfg(feature = "scheduler")]
const POISONED: u64 = 0x9015_0ed1_0c4e_d5a1;

impl<V: Shadow> LockCell<V> {
    pub(super) fn lock_elsewhere(&self, mode: LockMode, site: Site) -> bool {
        #[cfg(feature = "scheduler")]
        if let Some(machine) = current() {
            let object = self.scheduled_object(machine);
            machine.lock(object, mode, site, || self.contents(machine, object));
            return machine.was_poisoned(object) && machine.is_poisoned(object, site);
        }
        let _ = site;
        assert!(
            self.is_free(mode),
            "the lock is held already: waiting for it would never end"
        );
        self.occupy(mode);
        self.state().poison.rests
    }

    pub(super) fn try_lock_elsewhere(&self, mode: LockMode, site: Site) -> Option<bool> {
        #[cfg(feature = "scheduler")]
        if let Some(machine) = current() {
            let object = self.scheduled_object(machine);
            return machine
                .try_lock(object, mode, site, || self.contents(machine, object))
                .then(|| machine.was_poisoned(object) && machine.is_poisoned(object, site));
        }
        let _ = site;
        self.is_free(mode).then(|| {
            self.occupy(mode);
            self.state().poison.rests
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
            if poisons {
                machine.poison(object, taken);
            }
            // A guard given back with the value that it was taken with has only read. Where events carry values, the
            // value says so.
            let changed = || machine.tells_values() || self.has_changed(G);
            let written = poisons || (written.is_some() && changed());
            machine.unlock(object, mode, written, taken, || {
                self.contents(machine, object)
            });
            return;
        }
        let _ = (mode, taken, written);
        self.state().poison.rests |= poisons;
    }

    pub(super) fn share_elsewhere(&self, site: Site) {
        #[cfg(feature = "scheduler")]
        if let Some(machine) = current() {
            machine.share(self.scheduled_object(machine), site);
        }
        let _ = site;
    }

    /// Keeps the value that a static starts every execution with.
    pub(super) fn before_write_elsewhere(&self, is_guarded: bool) {
        #[cfg(feature = "scheduler")]
        if let Some(machine) = current() {
            if is_guarded && !machine.tells_values() {
                self.borrow_mutably(G, &self.state().g.value, false);
            }
            let state = self.state();
            if state.initial.is_none() && machine.is_static(std::ptr::from_ref(self).addr()) {
                // SAFETY: `scheduled_object` puts the value back, and `Initial` forgets the value where
                // `scheduled_object` is not called.
                let value = machine.outside(|| unsafe { state.g.value.initial() });
                state.initial.keep(Guarded {
                    value,
                    was_poisoned: false,
                    flagged: crate::engine::NONE,
                });
            }
        }
        let _ = is_guarded;
    }

    pub(super) fn settle_elsewhere(&self, writes: bool, site: Site) -> bool {
        #[cfg(feature = "scheduler")]
        if let Some(machine) = current() {
            let object = self.scheduled_object(machine);
            machine.turn(Kind::Read, object, 0, site);
            let found = machine.found(object, || self.contents(machine, object));
            machine.did(Kind::Read, object, found, found, site);
            let poisoned = machine.was_poisoned(object) && machine.is_poisoned(object, site);
            if writes {
                self.state().tag.forget();
                self.state().poison.rests = poisoned;
            }
            return poisoned;
        }
        let _ = (writes, site);
        self.state().poison.rests
    }

    pub(super) fn clear_poison_elsewhere(&self, site: Site) {
        #[cfg(feature = "scheduler")]
        if let Some(machine) = current() {
            machine.clear_poison(self.scheduled_object(machine), site);
            return;
        }
        let _ = site;
        self.state().poison.rests = false;
    }

    pub(super) fn is_poisoned_elsewhere(&self, site: Site) -> bool {
        #[cfg(feature = "scheduler")]
        if let Some(machine) = current() {
            return machine.is_poisoned(self.scheduled_object(machine), site);
        }
        let _ = site;
        self.state().poison.rests
    }

    /// The object's number; 0 where no program runs.
    pub(crate) fn identity(&self) -> u64 {
        #[cfg(feature = "scheduler")]
        if let Some(machine) = current() {
            return machine.place_of_object(self.scheduled_object(machine));
        }
        0
    }

    /// The hash of the value, and of whether the lock was poisoned, if the value's type is known.
    #[cfg(feature = "scheduler")]
    #[cold]
    #[inline(never)]
    fn contents(&self, machine: Handle, object: seqz_explore::Object) -> Option<u64> {
        let g = &self.state().g;
        let hash = crate::values::hash_of(&g.value)?;
        Some(if machine.was_poisoned(object) {
            seqz_explore::hash::mix(POISONED, hash)
        } else {
            hash
        })
    }

    #[cfg(feature = "scheduler")]
    fn scheduled_object(&self, machine: Handle) -> seqz_explore::Object {
        let state = self.state();
        let lasts = state.tag.lasts();
        if state.tag.renew_to(machine.generation(), self) {
            state.poison.rests = false;
            state.borrowed = [Borrowed::Not; 2];
            if let Some(initial) = state.initial.take() {
                lasts.give_up(std::mem::replace(&mut state.g, initial));
            }
        }
        let object = state.tag.scheduled_object(machine, self);
        if std::mem::take(&mut state.poison.rests) {
            machine.stays_poisoned(object);
        }
        object
    }
}
