//! Plain data in P̂ₖ.

use super::{PlainCell, Shadow, Slot};
use crate::engine::tau::{self, Access};
use crate::engine::{Handle, Line, ValueKind, copying, tau_prime};
use crate::log::{Object, Op};
use crate::shared::{Prime, copy_if_clone, copy_of, lasting, quietly};
use crate::values::Hashing;
use crate::vocabulary::Site;

pub(super) fn read<V: Shadow>(handle: Handle, cell: &PlainCell<V>, site: Site) -> *mut V {
    match cell.enter(handle, false, site) {
        Access::Plain | Access::PlainPrime => {}
        Access::Interfering => tau_prime::read(handle, cell.object(handle), site, 0),
        Access::UnderTest => {
            let object = cell.object(handle);
            if let Some(event) = tau::read(handle, object, site, 0, |_| Op::Read(object)) {
                cell.inject(handle, event, site);
            }
        }
    }
    cell.place(handle)
}

pub(super) fn pointer<V: Shadow>(handle: Handle, cell: &PlainCell<V>) -> *mut V {
    cell.place(handle)
}

/// The current line's copy for writing, with the write event; the value is written after this.
pub(super) fn write<V: Shadow>(
    handle: Handle,
    cell: &PlainCell<V>,
    _value: Option<&V>,
    site: Site,
) -> *mut V {
    let access = cell.enter(handle, true, site);
    let prime = matches!(access, Access::Interfering | Access::PlainPrime);
    // SAFETY: the program's `unsafe` code answers for references to the value across an access, see `PlainCell`.
    let g = unsafe { cell.g.get() };
    if prime
        && cell.g_prime.get().is_none()
        && let Some(copy) = copy_of(handle, g, Hashing::default(), site)
    {
        cell.g_prime.make(Slot::new(copy));
    }
    let has_prime = prime && cell.g_prime.get().is_some();
    if !has_prime && cell.initial.is_none() {
        // SAFETY: `enter` puts the value back, and a `static mut` is never dropped.
        let initial = || copying::<V, _>(handle, Some(site), || unsafe { g.initial() });
        cell.initial.keep(lasting(cell, initial));
    }
    if prime && !has_prime {
        // The execution is being ended: no thread uses what is done to G.
        return cell.g.as_ptr();
    }
    if access == Access::Interfering {
        let object = cell.object(handle);
        let event = tau_prime::write(handle.get(), Op::Write(object), object, site, 0);
        cell.pending.set(event);
    } else if access == Access::UnderTest {
        tau::write(handle, cell.object(handle), site, 0);
    }
    cell.place(handle)
}

impl<V: Shadow> PlainCell<V> {
    fn enter(&self, handle: Handle, writes: bool, site: Site) -> Access {
        let access = tau::enter(handle, site);
        let lasts = self.tag.lasts();
        if self.tag.renew(handle.get().generation, self) {
            self.pending.set(None);
            // SAFETY: references to the values end with the execution that made them.
            let old = unsafe {
                let initial = self.initial.take();
                (initial.map(|it| self.g.replace(it)), self.g_prime.take())
            };
            quietly(handle, || {
                lasts.give_up(old);
                self.kept.give_up(lasts);
            });
        }
        self.settle(handle);
        if matches!(access, Access::UnderTest | Access::Interfering) {
            tau::racy_access(handle, self.object(handle), writes, site);
        }
        access
    }

    /// Keeps the value of a write of T' that is over by now.
    fn settle(&self, handle: Handle) {
        if let (Some(event), Some(prime)) = (self.pending.take(), self.g_prime.get()) {
            // SAFETY: the program's `unsafe` code answers for references to the value across an access, see `PlainCell`.
            let prime = unsafe { prime.get() };
            // A value that T' has copied can be copied again.
            if let Some(value) = copy_if_clone(handle, prime, Hashing::default(), None) {
                self.kept.push(event, value);
            }
        }
    }

    fn object(&self, handle: Handle) -> Object {
        if self.tag.is_of_earlier_round(handle) {
            self.begin_round(handle);
        }
        self.tag.object(handle, ValueKind::Opaque)
    }

    /// Both threads of a round begin with the same value, and so do all interfering threads.
    #[cold]
    fn begin_round(&self, handle: Handle) {
        let of_t_prime = match self.tag.begin_round(handle) {
            Prime::Stays => return,
            // What T may see of it is kept: each access begins with that.
            Prime::OfAnother | Prime::IsOver => false,
            Prime::Lasts => true,
        };
        // SAFETY: the program's `unsafe` code answers for references to the value across an access, see `PlainCell`.
        match unsafe { self.g_prime.take() } {
            Some(prime) if of_t_prime => {
                // SAFETY: as before.
                let old = unsafe { self.g.replace(prime.into_inner()) };
                if self.initial.is_none() {
                    self.initial.keep(old);
                } else {
                    handle.give_up(old);
                }
            }
            Some(prime) => handle.give_up(prime),
            None => {}
        }
    }

    /// Gives T the value that event `event` of T' wrote.
    fn inject(&self, handle: Handle, event: u32, site: Site) {
        let copy = |kept: &V| copy_of(handle, kept, Hashing::default(), site);
        if let Some(copy) = self.kept.with(event, copy).flatten() {
            // SAFETY: the program's `unsafe` code answers for references to the value across an access, see `PlainCell`.
            let old = unsafe { self.g.replace(copy) };
            if self.initial.is_none() {
                self.initial.keep(old);
            } else {
                handle.give_up(old);
            }
        }
    }

    /// The place of the current line's copy.
    fn place(&self, handle: Handle) -> *mut V {
        match self.g_prime.get() {
            Some(value) if handle.get().line == Line::Interfering => value.as_ptr(),
            _ => self.g.as_ptr(),
        }
    }
}
