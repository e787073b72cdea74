//! Locks outside of P̂ₖ: on the scheduled machine, or where nothing runs.

#[cfg(feature = "scheduler")]
use seqz_explore::Kind;

#[cfg(feature = "scheduler")]
use super::copy;
use super::{LockCell, Shadow};
use crate::engine::Site;
use crate::log::LockMode;
#[cfg(feature = "scheduler")]
use crate::scheduled::events::{Handle, current};

impl<V: Shadow> LockCell<V> {
    pub(super) fn lock_elsewhere(&self, mode: LockMode, site: Site) -> bool {
        #[cfg(feature = "scheduler")]
        if let Some(machine) = current() {
            let object = self.scheduled_object(machine);
            machine.lock(object, mode, site);
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
                .try_lock(object, mode, site)
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
            machine.unlock(object, mode, written.is_some() || poisons, taken);
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
                state.initial = Some(machine.outside(|| copy(&state.g)));
            }
        }
    }

    pub(super) fn settle_elsewhere(&self, site: Site) -> bool {
        #[cfg(feature = "scheduler")]
        if let Some(machine) = current() {
            let object = self.scheduled_object(machine);
            machine.turn(Kind::Read, object, 0, site);
            machine.did(Kind::Read, object, 0, 0, site);
            return self.state().g.poisoned;
        }
        let _ = site;
        self.state().g.poisoned
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
