//! Atomics outside of P̂ₖ: on the scheduled machine, or where no program runs.

#[cfg(feature = "scheduler")]
use seqz_explore::Kind;

use super::{AtomicCell, Bits};
#[cfg(feature = "scheduler")]
use crate::scheduled::events::{Handle, current};
use crate::vocabulary::Site;

impl<V: Bits> AtomicCell<V> {
    #[inline]
    pub(super) fn load_elsewhere(&self, site: Site) -> V {
        #[cfg(feature = "scheduler")]
        if let Some(machine) = current() {
            return self.scheduled(machine, Kind::Read, 0, site, |value| (Kind::Read, *value));
        }
        let _ = site;
        self.state().initial
    }

    #[inline]
    pub(super) fn store_elsewhere(&self, value: V, site: Site) {
        #[cfg(feature = "scheduler")]
        if let Some(machine) = current() {
            return self.scheduled(machine, Kind::Write, 0, site, |place| {
                *place = value;
                (Kind::Write, ())
            });
        }
        let _ = site;
        self.state().initial = value;
    }

    #[inline]
    pub(super) fn update_elsewhere(
        &self,
        next: impl Fn(V) -> Option<V>,
        expected: Option<V>,
        site: Site,
    ) -> Result<V, V> {
        let update = |place: &mut V| {
            let old = *place;
            match next(old) {
                Some(new) => {
                    *place = new;
                    Ok(old)
                }
                None => Err(old),
            }
        };
        #[cfg(feature = "scheduler")]
        if let Some(machine) = current() {
            let kind = if expected.is_some() {
                Kind::CompareExchange
            } else {
                Kind::Update
            };
            let expected = expected.map_or(0, V::to_bits);
            return self.scheduled(machine, kind, expected, site, |place| {
                let result = update(place);
                (
                    if result.is_ok() {
                        Kind::Update
                    } else {
                        Kind::FailedUpdate
                    },
                    result,
                )
            });
        }
        let _ = (expected, site);
        update(&mut self.state().initial)
    }

    /// Does what [`AtomicCell::place`] does, after the read.
    #[allow(clippy::mut_from_ref)]
    pub(super) fn place_elsewhere(&self, site: Site) -> &mut V {
        #[cfg(feature = "scheduler")]
        if current().is_some() {
            let value = self.state().g;
            self.store_elsewhere(value, site);
            let state = self.state();
            state.tag.forget();
            return &mut state.g;
        }
        let _ = site;
        &mut self.state().initial
    }

    /// The object's number; 0 where no program runs.
    pub(crate) fn identity(&self) -> u64 {
        #[cfg(feature = "scheduler")]
        if let Some(machine) = current() {
            return machine.place_of_object(self.scheduled_object(machine));
        }
        0
    }

    #[cfg(feature = "scheduler")]
    #[inline]
    fn scheduled_object(&self, machine: Handle) -> seqz_explore::Object {
        let state = self.state();
        if state.tag.renew_to(machine.generation(), self) {
            state.g = state.initial;
        }
        state.tag.scheduled_object(machine, self)
    }

    /// Waits for the current thread's turn, acts, and says what was done.
    #[cfg(feature = "scheduler")]
    #[inline]
    fn scheduled<R>(
        &self,
        machine: Handle,
        announced: Kind,
        expected: u64,
        site: Site,
        act: impl FnOnce(&mut V) -> (Kind, R),
    ) -> R {
        let object = self.scheduled_object(machine);
        machine.turn(announced, object, expected, site);
        let state = self.state();
        let found = state.g.to_bits();
        let (kind, result) = act(&mut state.g);
        machine.did(kind, object, found, state.g.to_bits(), site);
        machine.pause(site);
        result
    }
}
