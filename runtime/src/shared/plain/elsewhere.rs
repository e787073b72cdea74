//! Plain data outside of P̂ₖ: on the scheduled machine, or where nothing runs.

#[cfg(feature = "scheduler")]
use seqz_explore::Kind;

use super::{PlainCell, Shadow};
use crate::engine::Site;
#[cfg(feature = "scheduler")]
use crate::scheduled::events::current;

impl<V: Shadow> PlainCell<V> {
    pub(super) fn read_elsewhere(&self, site: Site) {
        #[cfg(feature = "scheduler")]
        self.scheduled(Kind::Read, site);
        let _ = site;
    }

    pub(super) fn write_elsewhere(&self, site: Site) {
        #[cfg(feature = "scheduler")]
        self.scheduled(Kind::Write, site);
        let _ = site;
    }

    #[cfg(feature = "scheduler")]
    fn scheduled(&self, kind: Kind, site: Site) {
        let Some(machine) = current() else { return };
        let state = self.state();
        if state.tag.renew_to(machine.generation())
            && let Some(initial) = state.initial.take()
        {
            drop(std::mem::replace(&mut state.g, initial));
        }
        let object = state.tag.scheduled_object(machine, self);
        machine.plain(object);
        machine.turn(kind, object, 0, site);
        let state = self.state();
        if kind == Kind::Write && state.initial.is_none() {
            state.initial = Some(machine.outside(|| state.g.shadow()));
        }
        machine.did(kind, object, 0, 0, site);
    }
}
