//! Plain data outside of P̂ₖ: on the scheduled machine, or where no program runs.

#[cfg(feature = "scheduler")]
use seqz_explore::{Kind, Object};

use super::{PlainCell, Shadow};
#[cfg(feature = "scheduler")]
use crate::scheduled::events::{Handle, current};
#[cfg(feature = "scheduler")]
use crate::values::hash_of;
use crate::vocabulary::Site;

impl<V: Shadow> PlainCell<V> {
    pub(super) fn read_elsewhere(&self, site: Site) {
        #[cfg(feature = "scheduler")]
        if let Some(machine) = current() {
            let object = self.scheduled(machine, Kind::Read, site);
            let found = machine.found(object, || hash_of(&self.state().g));
            machine.did(Kind::Read, object, found, found, site);
        }
        let _ = site;
    }

    /// The event of a write of `value`, which the caller does; `None` where the value is written later, through a
    /// reference.
    pub(super) fn write_elsewhere(&self, value: Option<&V>, site: Site) {
        #[cfg(feature = "scheduler")]
        if let Some(machine) = current() {
            let object = self.scheduled(machine, Kind::Write, site);
            let state = self.state();
            if state.initial.is_none() {
                // SAFETY: `scheduled` puts the value back, and a `static mut` is never dropped.
                let initial = machine.outside(|| unsafe { state.g.initial() });
                state.initial.keep(initial);
            }
            let found = machine.found(object, || hash_of(&self.state().g));
            let left = match value {
                Some(value) if machine.tells_values() => {
                    hash_of(value).unwrap_or_else(|| machine.fresh())
                }
                _ => found,
            };
            machine.did(Kind::Write, object, found, left, site);
            if value.is_none() {
                let place = (&raw const self.state().g).cast();
                // SAFETY: a `static mut` is never dropped, and its value is of this type.
                unsafe { machine.writes_late(object, place, contents::<V>, site) };
            }
        }
        let _ = (value, site);
    }

    /// Waits for the thread's turn for an event of this kind. Returns the object.
    #[cfg(feature = "scheduler")]
    fn scheduled(&self, machine: Handle, kind: Kind, site: Site) -> Object {
        let state = self.state();
        let lasts = state.tag.lasts();
        if state.tag.renew_to(machine.generation(), self)
            && let Some(initial) = state.initial.take()
        {
            lasts.give_up(std::mem::replace(&mut state.g, initial));
        }
        let object = state.tag.scheduled_object(machine, self);
        machine.plain(object);
        machine.turn(kind, object, 0, site);
        object
    }
}

/// The hash of a value.
///
/// # Safety
/// `value` points to a `V` that no thread is writing.
#[cfg(feature = "scheduler")]
unsafe fn contents<V>(value: *const ()) -> Option<u64> {
    // SAFETY: the caller's promise.
    hash_of(unsafe { &*value.cast::<V>() })
}
