//! Atomics: values of at most 64 bits, with operations that are one event each.

mod elsewhere;

use std::cell::UnsafeCell;

use super::Tag;
use crate::engine::tau::{self, Access};
use crate::engine::{Handle, Line, ValueKind, current, tau_prime, unsupported};
use crate::log::{Object, Op};
use crate::vocabulary::Site;

/// A value that fits into 64 bits.
pub(crate) trait Bits: Copy {
    const KIND: ValueKind;
    fn to_bits(self) -> u64;
    fn from_bits(bits: u64) -> Self;
}

#[derive(Debug)]
struct State<V> {
    /// The value at the start of every execution; outside of executions, the current value.
    initial: V,
    tag: Tag,
    /// G.
    g: V,
    /// G', once T' has written.
    g_prime: Option<V>,
}

/// An atomic of the program under test.
#[derive(Debug)]
pub(crate) struct AtomicCell<V>(UnsafeCell<State<V>>);

// SAFETY: inside of an execution all threads of the program run on one OS thread, and a process-wide lock lets one
// execution run at a time. Outside of executions no thread of the program exists: `spawn` refuses to make one.
unsafe impl<V> Sync for AtomicCell<V> {}

impl<V: Copy> AtomicCell<V> {
    pub(crate) const fn new(value: V) -> Self {
        Self(UnsafeCell::new(State {
            initial: value,
            tag: Tag::UNUSED,
            g: value,
            g_prime: None,
        }))
    }
}

impl<V: Bits> AtomicCell<V> {
    #[allow(clippy::mut_from_ref)]
    #[inline(always)]
    fn state(&self) -> &mut State<V> {
        // SAFETY: no other thread accesses the cell (see `Sync` above), and no borrow of it outlives a method of this
        // impl or spans a call that runs the program's code: `V` is `Copy`, and `enter` is called with none alive.
        unsafe { &mut *self.0.get() }
    }

    /// Runs the threads that have to run before this event, then returns whose event it is.
    #[inline]
    fn enter(&self, handle: Handle, site: Site) -> Access {
        let access = tau::enter(handle, site);
        self.renew(handle);
        access
    }

    #[inline]
    fn renew(&self, handle: Handle) {
        let state = self.state();
        if state.tag.renew(handle, self) {
            state.g = state.initial;
            state.g_prime = None;
        }
    }

    #[inline]
    fn object(&self, handle: Handle) -> Object {
        self.state().tag.object(handle, V::KIND)
    }

    #[inline]
    fn prime(&self) -> V {
        let state = self.state();
        state.g_prime.unwrap_or(state.g)
    }

    /// Reads the value.
    #[inline]
    pub(crate) fn load(&self, site: Site) -> V {
        let Some(handle) = current() else {
            return self.load_elsewhere(site);
        };
        match self.enter(handle, site) {
            Access::Plain => self.state().g,
            Access::PlainPrime => self.prime(),
            Access::Interfering => {
                let object = self.object(handle);
                let value = self.prime();
                tau_prime::read(handle, object, site, value.to_bits());
                value
            }
            Access::UnderTest => {
                let object = self.object(handle);
                let local = self.state().g.to_bits();
                if let Some(event) = tau::read(handle, object, site, local, |_| Op::Read(object)) {
                    self.state().g = V::from_bits(handle.get().interfering_value(event));
                }
                self.state().g
            }
        }
    }

    /// Writes the value.
    #[inline]
    pub(crate) fn store(&self, value: V, site: Site) {
        let Some(handle) = current() else {
            self.store_elsewhere(value, site);
            return;
        };
        let access = self.enter(handle, site);
        self.store_as(handle, access, value, site);
    }

    /// Writes the value, as an event of this kind that has been [entered](tau::enter).
    #[inline(always)]
    fn store_as(&self, handle: Handle, access: Access, value: V, site: Site) {
        match access {
            Access::Plain => self.state().g = value,
            Access::PlainPrime => self.state().g_prime = Some(value),
            Access::Interfering => {
                let object = self.object(handle);
                self.state().g_prime = Some(value);
                tau_prime::write(
                    handle.get(),
                    Op::Write(object),
                    object,
                    site,
                    value.to_bits(),
                );
            }
            Access::UnderTest => {
                let object = self.object(handle);
                self.state().g = value;
                tau::write(handle, object, site, value.to_bits());
            }
        }
    }

    /// Writes the value while the thread unwinds: no other thread is run.
    #[cold]
    pub(super) fn store_unwinding(&self, handle: Handle, access: Access, value: V, site: Site) {
        self.renew(handle);
        self.store_as(handle, access, value, site);
    }

    /// T reads what event `source` of T' has written, or, without a `source`, what T itself last saw. This read is no
    /// choice: T has learned of that write already.
    pub(super) fn load_known(&self, handle: Handle, source: Option<u32>, site: Site) -> V {
        self.renew(handle);
        let object = self.object(handle);
        if let Some(event) = source {
            self.state().g = V::from_bits(handle.get().interfering_value(event));
        }
        tau::read_known(handle, object, source, site, self.state().g.to_bits());
        self.state().g
    }

    /// The value, for a thread that has exclusive access to the atomic: reads the value, and may write it.
    #[allow(clippy::mut_from_ref)]
    pub(crate) fn place(&self, site: Site) -> &mut V {
        let value = self.load(site);
        match current() {
            Some(handle) if handle.get().line == Line::Interfering => {
                // A write through the reference would not be seen, and T may be paired with such a write.
                let message =
                    "`get_mut` of an atomic on the interfering thread: use `store`".to_owned();
                unsupported(handle, message, Some(site));
                self.state().g_prime.get_or_insert(value)
            }
            Some(_) => {
                self.store(value, site);
                &mut self.state().g
            }
            None => self.place_elsewhere(site),
        }
    }

    /// Reads and, if `next` says what to write, writes in the same step. `Err` gives the value that was not replaced.
    /// An update that leaves the value as it was is logged as a read.
    ///
    /// `expected` is the one value at which `next` writes, if there is just one.
    #[inline]
    pub(crate) fn update(
        &self,
        next: impl Fn(V) -> Option<V>,
        expected: Option<V>,
        site: Site,
    ) -> Result<V, V> {
        let Some(handle) = current() else {
            return self.update_elsewhere(next, expected, site);
        };
        match self.enter(handle, site) {
            Access::Plain => {
                let old = self.state().g;
                next(old).map_or(Err(old), |new| {
                    self.state().g = new;
                    Ok(old)
                })
            }
            Access::PlainPrime => {
                let old = self.prime();
                next(old).map_or(Err(old), |new| {
                    self.state().g_prime = Some(new);
                    Ok(old)
                })
            }
            Access::Interfering => {
                let object = self.object(handle);
                let old = self.prime();
                let new = next(old);
                if let Some(new) = new
                    && new.to_bits() != old.to_bits()
                {
                    self.state().g_prime = Some(new);
                    tau_prime::write(
                        handle.get(),
                        Op::Update(object),
                        object,
                        site,
                        new.to_bits(),
                    );
                } else {
                    tau_prime::read(handle, object, site, old.to_bits());
                }
                new.map_or(Err(old), |_| Ok(old))
            }
            Access::UnderTest => {
                let object = self.object(handle);
                let local = self.state().g;
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
                self.state().g = new.unwrap_or(old);
                if new.is_some_and(|new| new.to_bits() != old.to_bits()) {
                    handle.get().made_progress();
                }
                new.map_or(Err(old), |_| Ok(old))
            }
        }
    }
}
