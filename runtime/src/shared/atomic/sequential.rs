//! Atomics in P̂ₖ.

use super::{AtomicCell, Bits};
use crate::engine::tau::{self, Access};
use crate::engine::waiting::{self, For, Seen};
use crate::engine::{Handle, Line, NONE, tau_prime, unsupported};
use crate::log::{Object, Op};
use crate::shared::Prime;
use crate::vocabulary::Site;

impl<V: Bits> AtomicCell<V> {
    /// Runs the threads that have to run before this event, then returns whose event it is.
    #[inline]
    fn enter(&self, handle: Handle, site: Site) -> Access {
        let access = tau::enter(handle, site);
        self.renew(handle.get().generation);
        access
    }

    #[inline]
    fn object(&self, handle: Handle) -> Object {
        if self.tag.is_of_earlier_round(handle) {
            self.begin_round(handle);
        }
        self.tag.object(handle, V::KIND)
    }

    /// Both threads of a round begin with the same value, and so do all interfering threads.
    #[cold]
    fn begin_round(&self, handle: Handle) {
        match self.tag.begin_round(handle) {
            Prime::Stays => {}
            Prime::OfAnother | Prime::IsOver => self.g_prime.set(None),
            Prime::Lasts => {
                if let Some(prime) = self.g_prime.take() {
                    self.g.set(prime);
                }
            }
        }
    }

    #[inline]
    fn prime(&self) -> V {
        self.g_prime.get().unwrap_or(self.g.get())
    }

    /// Writes the value, as an event of this kind that has been [entered](tau::enter).
    #[inline(always)]
    fn store_as(&self, handle: Handle, access: Access, value: V, site: Site) {
        match access {
            Access::Plain => self.g.set(value),
            Access::PlainPrime => self.g_prime.set(Some(value)),
            Access::Interfering => self.write_prime(handle, Op::Write, value, site),
            Access::UnderTest => {
                let object = self.object(handle);
                self.g.set(value);
                tau::write(handle, object, site, value.to_bits());
            }
        }
    }

    /// T' writes the value in an event of this kind.
    #[inline(always)]
    fn write_prime(&self, handle: Handle, op: impl FnOnce(Object) -> Op, value: V, site: Site) {
        let object = self.object(handle);
        self.g_prime.set(Some(value));
        tau_prime::write(handle.get(), op(object), object, site, value.to_bits());
    }

    /// Writes the value while the thread unwinds: no other thread is run.
    #[cold]
    pub(in crate::shared) fn store_unwinding(
        &self,
        handle: Handle,
        access: Access,
        value: V,
        site: Site,
    ) {
        self.renew(handle.get().generation);
        self.store_as(handle, access, value, site);
    }

    /// T reads what event `source` of T' has written, or, without a `source`, what T itself last saw. This read is no
    /// choice: T has learned of that write already.
    pub(in crate::shared) fn load_known(
        &self,
        handle: Handle,
        source: Option<u32>,
        site: Site,
    ) -> V {
        self.renew(handle.get().generation);
        let object = self.object(handle);
        if let Some(event) = source {
            self.g
                .set(V::from_bits(handle.get().interfering_value(event)));
        }
        tau::read_known(handle, object, source, site, self.g.get().to_bits());
        self.g.get()
    }
}

/// The current thread has just read this value, and waits for another one, or for another value of the `other` object.
pub(super) fn wait<V: Bits>(
    handle: Handle,
    cell: &AtomicCell<V>,
    what: For,
    other: Option<(Object, u64)>,
    site: Site,
) {
    let is_under_test = !handle.get().quiet && handle.get().line == Line::UnderTest;
    let seen = Seen {
        object: if is_under_test {
            cell.object(handle)
        } else {
            NONE
        },
        value: cell.g.get().to_bits(),
        other,
        site,
    };
    waiting::wait(handle, what, seen, || {
        if is_under_test {
            tau::read_again(handle, seen.object, site, seen.value);
        } else {
            load(handle, cell, site);
        }
    });
}

/// The object, and what T has of it.
pub(super) fn of_under_test<V: Bits>(handle: Handle, cell: &AtomicCell<V>) -> (Object, u64) {
    cell.renew(handle.get().generation);
    (cell.object(handle), cell.g.get().to_bits())
}

#[inline]
pub(super) fn load<V: Bits>(handle: Handle, cell: &AtomicCell<V>, site: Site) -> V {
    match cell.enter(handle, site) {
        Access::Plain => cell.g.get(),
        Access::PlainPrime => cell.prime(),
        Access::Interfering => {
            let object = cell.object(handle);
            let value = cell.prime();
            tau_prime::read(handle, object, site, value.to_bits());
            value
        }
        Access::UnderTest => {
            let object = cell.object(handle);
            let local = cell.g.get().to_bits();
            if let Some(event) = tau::read(handle, object, site, local, |_| Op::Read(object)) {
                cell.g
                    .set(V::from_bits(handle.get().interfering_value(event)));
            }
            cell.g.get()
        }
    }
}

#[inline]
pub(super) fn store<V: Bits>(handle: Handle, cell: &AtomicCell<V>, value: V, site: Site) {
    let access = cell.enter(handle, site);
    cell.store_as(handle, access, value, site);
}

#[inline]
pub(super) fn update<V: Bits>(
    handle: Handle,
    cell: &AtomicCell<V>,
    next: impl Fn(V) -> Option<V>,
    _expected: Option<V>,
    site: Site,
) -> Result<V, V> {
    let access = cell.enter(handle, site);
    let (old, new) = match access {
        Access::Plain => {
            let old = cell.g.get();
            let new = next(old);
            cell.g.set(new.unwrap_or(old));
            (old, new)
        }
        Access::PlainPrime => {
            let old = cell.prime();
            let new = next(old);
            if new.is_some() {
                cell.g_prime.set(new);
            }
            (old, new)
        }
        Access::Interfering => {
            let object = cell.object(handle);
            let old = cell.prime();
            let new = next(old);
            match new {
                Some(new) if new.to_bits() != old.to_bits() => {
                    cell.write_prime(handle, Op::Update, new, site);
                }
                _ => tau_prime::read(handle, object, site, old.to_bits()),
            }
            (old, new)
        }
        Access::UnderTest => {
            let object = cell.object(handle);
            let local = cell.g.get();
            let op_of = |bits| {
                if next(V::from_bits(bits)).is_some_and(|new| new.to_bits() != bits) {
                    Op::Update(object)
                } else {
                    Op::Read(object)
                }
            };
            let old = match tau::read(handle, object, site, local.to_bits(), op_of) {
                Some(event) => V::from_bits(handle.get().interfering_value(event)),
                None => local,
            };
            let new = next(old);
            cell.g.set(new.unwrap_or(old));
            if new.is_some_and(|new| new.to_bits() != old.to_bits()) {
                handle.get().made_progress();
            }
            (old, new)
        }
    };
    new.map_or(Err(old), |_| Ok(old))
}

pub(super) fn place<V: Bits>(handle: Handle, cell: &mut AtomicCell<V>, site: Site) -> &mut V {
    let value = load(handle, cell, site);
    if handle.get().line == Line::Interfering {
        // A write through the reference would not be seen, and T may be paired with such a write.
        let message = "`get_mut` of an atomic on the interfering thread: use `store`".to_owned();
        unsupported(handle, message, Some(site));
        cell.g_prime.get_mut().get_or_insert(value)
    } else {
        store(handle, cell, value, site);
        cell.g.get_mut()
    }
}
