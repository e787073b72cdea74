//! Plain data that threads share without synchronisation: a `static mut`.

mod elsewhere;

use std::cell::UnsafeCell;

use super::room::make_room;
use super::{Initial, Shadow, Tag, copy_if_clone, copy_of, lasting, quietly};
use crate::engine::tau::{self, Access};
use crate::engine::{Handle, Line, ValueKind, copying, current, tau_prime};
use crate::log::{Object, Op};
use crate::values::Hashing;
use crate::vocabulary::Site;

#[derive(Debug)]
struct State<V> {
    tag: Tag,
    /// G; outside of executions, the current value.
    g: V,
    initial: Initial<V>,
    g_prime: Option<V>,
    kept: Vec<(u32, V)>,
    /// A write of T' whose value has to be kept, and is there when T' accesses the cell again, or T begins.
    pending: Option<u32>,
}

/// A `static mut` of the program under test. Every access is an event, and unordered ones are data races.
#[derive(Debug)]
pub(crate) struct PlainCell<V>(UnsafeCell<State<V>>);

// SAFETY: see `AtomicCell`. The program's own `unsafe` answers for references not overlapping, as it does for the
// `static mut` that the cell replaces.
unsafe impl<V> Sync for PlainCell<V> {}

impl<V> PlainCell<V> {
    pub(crate) const fn new(value: V) -> Self {
        Self(UnsafeCell::new(State {
            tag: Tag::UNUSED,
            g: value,
            initial: Initial::none(),
            g_prime: None,
            kept: Vec::new(),
            pending: None,
        }))
    }

    #[allow(clippy::mut_from_ref)]
    #[inline(always)]
    fn state(&self) -> &mut State<V> {
        // SAFETY: no other OS thread accesses the cell (see `Sync`), and no borrow made here outlives the method.
        unsafe { &mut *self.0.get() }
    }
}

impl<V: Shadow> PlainCell<V> {
    fn enter(&self, handle: Handle, writes: bool, site: Site) -> Access {
        let access = tau::enter(handle, site);
        let state = self.state();
        let lasts = state.tag.lasts();
        if state.tag.renew(handle, self) {
            let old = (
                state
                    .initial
                    .take()
                    .map(|initial| std::mem::replace(&mut state.g, initial)),
                state.g_prime.take(),
            );
            let mut kept = std::mem::take(&mut state.kept);
            state.pending = None;
            quietly(handle, || {
                lasts.give_up(old);
                lasts.give_up_all(&mut kept);
            });
            // The vector's memory serves the next execution.
            self.state().kept = kept;
        }
        self.settle(handle);
        if matches!(access, Access::UnderTest | Access::Interfering) {
            let object = self.object(handle);
            tau::racy_access(handle, object, writes, site);
        }
        access
    }

    /// Keeps the value of a write of T' that is over by now.
    fn settle(&self, handle: Handle) {
        let state = self.state();
        if let (Some(event), Some(prime)) = (state.pending.take(), &state.g_prime) {
            // A value that T' has copied can be copied again.
            if let Some(value) = copy_if_clone(handle, prime, Hashing::default(), None) {
                make_room(&mut state.kept);
                state.kept.push((event, value));
            }
        }
    }

    fn object(&self, handle: Handle) -> Object {
        self.state().tag.object(handle, ValueKind::Opaque)
    }

    fn read_event(&self, handle: Handle, access: Access, site: Site) {
        match access {
            Access::Plain | Access::PlainPrime => {}
            Access::Interfering => {
                let object = self.object(handle);
                tau_prime::read(handle, object, site, 0);
            }
            Access::UnderTest => {
                let object = self.object(handle);
                if let Some(event) = tau::read(handle, object, site, 0, |_| Op::Read(object)) {
                    let state = self.state();
                    // `kept` is in the order of the events.
                    if let Ok(at) = state.kept.binary_search_by_key(&event, |(at, _)| *at)
                        && let Some(copy) =
                            copy_of(handle, &state.kept[at].1, Hashing::default(), site)
                    {
                        let old = std::mem::replace(&mut state.g, copy);
                        if state.initial.is_none() {
                            state.initial.keep(old);
                        }
                    }
                }
            }
        }
    }

    /// The current line's copy for writing, with the write event; the value is written after this.
    fn write_event(&self, handle: Handle, access: Access, site: Site) -> *mut V {
        let state = self.state();
        let prime = matches!(access, Access::Interfering | Access::PlainPrime);
        if prime && state.g_prime.is_none() {
            state.g_prime = copy_of(handle, &state.g, Hashing::default(), site);
        }
        let has_prime = prime && state.g_prime.is_some();
        if !has_prime && state.initial.is_none() {
            // SAFETY: `enter` puts the value back, and a `static mut` is never dropped.
            let initial = || copying::<V, _>(handle, Some(site), || unsafe { state.g.initial() });
            let initial = lasting(self, initial);
            state.initial.keep(initial);
        }
        if prime && !has_prime {
            // The execution is being ended: no thread uses what is done to G.
            return &raw mut state.g;
        }
        if access == Access::Interfering {
            let object = self.object(handle);
            self.state().pending =
                tau_prime::write(handle.get(), Op::Write(object), object, site, 0);
        } else if access == Access::UnderTest {
            let object = self.object(handle);
            tau::write(handle, object, site, 0);
        }
        self.place_mut()
    }

    fn place_mut(&self) -> *mut V {
        let state = self.state();
        let prime = current().is_some_and(|handle| handle.get().line == Line::Interfering);
        match &mut state.g_prime {
            Some(value) if prime => value,
            _ => &raw mut state.g,
        }
    }

    /// Reads the value.
    pub(crate) fn borrow(&self, site: Site) -> *const V {
        if let Some(handle) = current() {
            let access = self.enter(handle, false, site);
            self.read_event(handle, access, site);
        } else {
            self.read_elsewhere(site);
        }
        self.place_mut()
    }

    /// Reads the value; the caller then writes through the returned pointer.
    pub(crate) fn borrow_mut(&self, site: Site) -> *mut V {
        let Some(handle) = current() else {
            self.read_elsewhere(site);
            self.write_elsewhere(None, site);
            return self.place_mut();
        };
        let access = self.enter(handle, false, site);
        self.read_event(handle, access, site);
        let access = self.enter(handle, true, site);
        self.write_event(handle, access, site)
    }

    /// Writes the value.
    pub(crate) fn set(&self, value: V, site: Site) {
        let place = match current() {
            Some(handle) => {
                let access = self.enter(handle, true, site);
                self.write_event(handle, access, site)
            }
            None => {
                self.write_elsewhere(Some(&value), site);
                self.place_mut()
            }
        };
        // SAFETY: the pointer comes from this cell, which no other thread accesses at this moment.
        unsafe { *place = value };
    }
}
