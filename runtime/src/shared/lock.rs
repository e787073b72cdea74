//! Values behind a lock: a mutex and a read-write lock are the same cell, taken in different modes.
//!
//! Taking a guard takes the lock and reads the value; dropping a guard that was borrowed mutably writes the value, then
//! gives the lock back. That the lock has been poisoned is part of the value; the poison flag itself, which can be read
//! and cleared without the lock, is a [`Poison`] beside it.

mod elsewhere;
mod poison;

use std::cell::UnsafeCell;

use poison::Poison;

use super::room::make_room;
use super::unseen::may_change_unseen;
use super::{Initial, Lasts, Shadow, Tag, copy_if_clone, copy_of, is_static, lasting, quietly};
use crate::engine::abort;
use crate::engine::tau::{self, Access};
use crate::engine::{Handle, Line, NONE, ValueKind, current, init_locks, is_not_copied, tau_prime};
use crate::log::{LockMode, Object, Op};
use crate::values::Hashing;
use crate::vocabulary::Site;

/// A protected value.
#[derive(Clone, Debug)]
pub(crate) struct Guarded<V> {
    pub value: V,
    /// Whether a thread has panicked under a guard at some time: only then does the flag need to be read.
    was_poisoned: bool,
    /// The event of T' that last set the flag before this value was written, if T' did.
    flagged: u32,
}

#[derive(Debug)]
struct State<V> {
    tag: Tag,
    /// G; outside of executions, the current value.
    g: Guarded<V>,
    /// What `g` was at the start of the execution, once `g` has been written.
    initial: Initial<Guarded<V>>,
    /// G', once T' has written.
    g_prime: Option<Guarded<V>>,
    /// The number of shared guards; negative where there is an exclusive guard.
    guards: i32,
    /// Of G and of G': what the value was when it was first borrowed mutably under the current exclusive guard.
    borrowed: [Borrowed; 2],
    hashing: Hashing,
    /// The event of T' that wrote `g_prime`, if T may see that event: the value is kept when `g_prime` is about to be
    /// written again.
    latest: u32,
    /// The values that T may see, by the event of T' that wrote them.
    kept: Vec<(u32, Guarded<V>)>,
    poison: Poison,
}

/// The index of G in arrays of both copies.
const G: usize = 0;
/// The index of G' in arrays of both copies.
const PRIME: usize = 1;

/// What a value was before it could be changed through a guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Borrowed {
    /// The value was not borrowed mutably.
    Not,
    /// The value had this [hash](crate::values::ValueHash), or its type has none.
    With(Option<u64>),
    /// The value was a row of words with room for this number of words, and the words are still there: for the copy of
    /// T' in G, and for G in what G held at the start.
    Row(usize),
}

/// A lock of the program under test with the value that it protects.
#[derive(Debug)]
pub(crate) struct LockCell<V>(UnsafeCell<State<V>>);

// SAFETY: see `AtomicCell`. Values are handed out by reference only under a guard, and the engine sees to it that on
// each line guards of one lock exclude each other; each line has its own copy of the value.
unsafe impl<V: Send> Sync for LockCell<V> {}
// SAFETY: the cell owns its values.
unsafe impl<V: Send> Send for LockCell<V> {}

impl<V> LockCell<V> {
    pub(crate) const fn new(value: V) -> Self {
        Self(UnsafeCell::new(State {
            tag: Tag::UNUSED,
            g: Guarded {
                value,
                was_poisoned: false,
                flagged: NONE,
            },
            initial: Initial::none(),
            g_prime: None,
            guards: 0,
            borrowed: [Borrowed::Not; 2],
            hashing: Hashing::Unknown,
            latest: NONE,
            kept: Vec::new(),
            poison: Poison::new(),
        }))
    }

    #[allow(clippy::mut_from_ref)]
    #[inline(always)]
    fn state(&self) -> &mut State<V> {
        // SAFETY: no other OS thread accesses the cell (see `Sync`). References to the values live in guards, which hold
        // the lock on their line; what is changed while a guard lives are the other fields, or the other copy.
        unsafe { &mut *self.0.get() }
    }

    /// The value, consuming the lock, after `settle`.
    pub(crate) fn into_inner(self) -> Guarded<V> {
        let state = self.0.into_inner();
        match current() {
            Some(handle) if handle.get().line == Line::Interfering => {
                state.g_prime.unwrap_or(state.g)
            }
            _ => state.g,
        }
    }
}

impl<V: Shadow> LockCell<V> {
    fn enter(&self, handle: Handle, site: Site) -> Access {
        let access = tau::enter(handle, site);
        self.renew(handle);
        access
    }

    fn renew(&self, handle: Handle) {
        let state = self.state();
        let lasts = state.tag.lasts();
        if state.tag.renew(handle, self) {
            state.guards = 0;
            state.borrowed = [Borrowed::Not; 2];
            state.latest = NONE;
            state.poison.begin();
            if !state.initial.is_none() || state.g_prime.is_some() || !state.kept.is_empty() {
                self.forget(handle, lasts);
            }
        }
    }

    /// Forgets the values of another execution.
    #[cold]
    fn forget(&self, handle: Handle, lasts: Lasts) {
        let state = self.state();
        let is_lost = state.initial.is_lost();
        let old = (
            state
                .initial
                .take()
                .map(|initial| std::mem::replace(&mut state.g, initial)),
            state.g_prime.take(),
        );
        let mut kept = std::mem::take(&mut state.kept);
        quietly(handle, || {
            lasts.give_up(old);
            lasts.give_up_all(&mut kept);
        });
        // The vector's memory serves the next execution.
        self.state().kept = kept;
        if is_lost {
            is_not_copied::<V>(handle, None);
        }
    }

    /// Called when the value of T' is about to be changed: keeps what T may see of it.
    #[inline]
    fn keep(&self, handle: Handle, site: Site) {
        if self.state().latest != NONE {
            self.keep_latest(handle, site);
        }
    }

    #[inline(never)]
    fn keep_latest(&self, handle: Handle, site: Site) {
        let hashing = self.state().hashing;
        let Some(value) = self.current_prime().copy(handle, hashing, site) else {
            return;
        };
        let state = self.state();
        let event = std::mem::replace(&mut state.latest, NONE);
        make_room(&mut state.kept);
        state.kept.push((event, value));
    }

    fn object(&self, handle: Handle) -> Object {
        self.state().tag.object(handle, ValueKind::Opaque)
    }

    /// Takes the lock, waiting where it is taken, and reads the value. Returns the poison flag.
    #[inline(never)]
    pub(crate) fn lock(&self, mode: LockMode, site: Site) -> bool {
        let Some(handle) = current() else {
            return self.lock_elsewhere(mode, site);
        };
        let access = self.enter(handle, site);
        let mut object = NONE;
        match access {
            Access::Plain | Access::PlainPrime => {
                if handle.get().quiet {
                    self.require_free(mode);
                } else {
                    object = self.object(handle);
                    init_locks::acquire(handle, object, mode, true, site);
                }
            }
            Access::Interfering => {
                object = self.object(handle);
                init_locks::would_block(handle, object, mode, site);
                tau_prime::acquire(handle, object, mode, true, site);
            }
            Access::UnderTest => {
                object = self.object(handle);
                init_locks::would_block(handle, object, mode, site);
                tau::acquire(handle, object, mode, site);
            }
        }
        self.occupy(mode);
        self.read(handle, access, object, site)
    }

    /// An exclusive guard is about to become a shared one: the lock is taken in shared mode as well, before the
    /// exclusive guard gives it back.
    pub(crate) fn share(&self, site: Site) {
        let Some(handle) = current() else {
            self.share_elsewhere(site);
            return;
        };
        match self.enter(handle, site) {
            Access::Plain | Access::PlainPrime => {}
            Access::Interfering | Access::UnderTest => abort::unsupported(
                handle,
                "a write guard becomes a read guard: the sequential program has no event for it"
                    .to_owned(),
                Some(site),
            ),
        }
    }

    /// The exclusive guard has given the lock back.
    pub(crate) fn is_shared(&self, site: Site) {
        if let Some(handle) = current()
            && !handle.get().quiet
        {
            let object = self.object(handle);
            init_locks::acquire(handle, object, LockMode::Shared, false, site);
        }
        self.occupy(LockMode::Shared);
    }

    fn is_free(&self, mode: LockMode) -> bool {
        match mode {
            LockMode::Exclusive => self.state().guards == 0,
            LockMode::Shared => self.state().guards >= 0,
        }
    }

    /// Notes that there is one more guard.
    fn occupy(&self, mode: LockMode) {
        match mode {
            LockMode::Exclusive => self.state().guards = -1,
            LockMode::Shared => self.state().guards += 1,
        }
    }

    /// Two guards that exclude each other must not exist, even in an execution that has been ended.
    fn require_free(&self, mode: LockMode) {
        if !self.is_free(mode) {
            if let Some(handle) = current() {
                abort::unwind(handle);
            }
            // Only reached in a destructor that takes a lock whose guard is still alive further up the stack.
            eprintln!("a destructor waits for ever for a lock that its own thread holds");
            std::process::abort();
        }
    }

    /// Takes the lock if that needs no waiting, and reads the value. Returns the poison flag, or `None` if the lock was
    /// not taken.
    pub(crate) fn try_lock(&self, mode: LockMode, site: Site) -> Option<bool> {
        let Some(handle) = current() else {
            return self.try_lock_elsewhere(mode, site);
        };
        let access = self.enter(handle, site);
        let quiet = handle.get().quiet;
        let object = if quiet { NONE } else { self.object(handle) };
        let taken = match access {
            Access::Plain | Access::PlainPrime if quiet => self.is_free(mode),
            Access::Plain | Access::PlainPrime => {
                init_locks::acquire(handle, object, mode, false, site)
            }
            Access::Interfering => {
                !init_locks::is_held(handle, object, mode)
                    && tau_prime::acquire(handle, object, mode, false, site)
            }
            Access::UnderTest => {
                !init_locks::is_held(handle, object, mode)
                    && tau::try_acquire(handle, object, mode, site)
            }
        };
        taken.then(|| {
            self.occupy(mode);
            self.read(handle, access, object, site)
        })
    }

    /// The read event of a guard that has just been taken, of this object where the read is an event. Returns the
    /// poison flag.
    #[inline(always)]
    fn read(&self, handle: Handle, access: Access, object: Object, site: Site) -> bool {
        match access {
            Access::Plain | Access::PlainPrime => {}
            Access::Interfering => tau_prime::read(handle, object, site, 0),
            Access::UnderTest => {
                if let Some(event) = tau::read(handle, object, site, 0, |_| Op::Read(object)) {
                    self.inject(handle, event, site);
                }
            }
        }
        self.seen_by(access).was_poisoned && self.read_poison(handle, access, site)
    }

    /// The value that an access of this kind sees.
    fn seen_by(&self, access: Access) -> &Guarded<V> {
        match access {
            Access::Plain | Access::UnderTest => &self.state().g,
            Access::PlainPrime | Access::Interfering => self.current_prime(),
        }
    }

    fn current_prime(&self) -> &Guarded<V> {
        let state = self.state();
        state.g_prime.as_ref().unwrap_or(&state.g)
    }

    /// Gives T the value that event `event` of T' wrote.
    #[inline(never)]
    fn inject(&self, handle: Handle, event: u32, site: Site) {
        let state = self.state();
        let hashing = state.hashing;
        let value = if event == state.latest {
            self.current_prime()
        } else {
            // `kept` is in the order of the events.
            let Ok(at) = state.kept.binary_search_by_key(&event, |(at, _)| *at) else {
                return;
            };
            &state.kept[at].1
        };
        if let Some(copy) = value.copy(handle, hashing, site) {
            let old = self.replace_g(copy);
            handle.give_up(old);
        }
    }

    /// Whether the copy of T' is to be used: on the line of T', and after the join through a guard that was taken on
    /// that line.
    fn is_prime(&self, handle: Handle) -> bool {
        let engine = handle.get();
        engine.line == Line::Interfering
            || (engine.inherits_any() && engine.inherits(self.object(handle)))
    }

    /// The current line's copy, for reading.
    pub(crate) fn value(&self) -> *const V {
        match current() {
            Some(handle) if self.is_prime(handle) => &raw const self.current_prime().value,
            _ => &raw const self.state().g.value,
        }
    }

    /// Notes that the value is borrowed mutably, and may have changed when the guard is given back. `is_kept` says that
    /// a copy of the value stays until then: see [`Borrowed::Row`].
    fn borrow_mutably(&self, copy: usize, value: &V, is_kept: bool) {
        let state = self.state();
        if state.borrowed[copy] == Borrowed::Not {
            let room = is_kept.then(|| state.hashing.room(value)).flatten();
            state.borrowed[copy] = room.map_or_else(
                || Borrowed::With(state.hashing.hash_of(value)),
                Borrowed::Row,
            );
        }
    }

    /// Whether the value has been changed under the exclusive guard that is given back; true where that is not known.
    fn has_changed(&self, copy: usize) -> bool {
        let state = self.state();
        let value = match &state.g_prime {
            Some(prime) if copy == PRIME => &prime.value,
            _ => &state.g.value,
        };
        match std::mem::replace(&mut state.borrowed[copy], Borrowed::Not) {
            Borrowed::With(Some(before)) => state.hashing.hash_of(value) != Some(before),
            Borrowed::With(None) | Borrowed::Not => true,
            Borrowed::Row(room) => {
                let before = match copy {
                    PRIME => Some(&state.g),
                    _ => state.initial.get(),
                };
                before.is_none_or(|it| !state.hashing.is_row_like(value, room, &it.value))
            }
        }
    }

    /// The current line's copy, for writing under a guard.
    pub(crate) fn value_mut(&self, site: Site) -> *mut V {
        self.for_writing(true, site)
    }

    /// An exclusive guard has just been taken. In P̂ₖ, a value that may change without being borrowed mutably is borrowed so
    /// now; returns whether it is. The scheduled machine runs guards of one lock in all orders, whatever they change.
    #[inline]
    pub(crate) fn borrow_unseen(&self, site: Site) -> bool {
        let borrows = may_change_unseen::<V>() && current().is_some();
        if borrows {
            self.value_mut(site);
        }
        borrows
    }

    /// The current line's copy, for writing with the write event that [`Self::settle`] has made.
    pub(crate) fn settled_mut(&self, site: Site) -> *mut V {
        self.for_writing(false, site)
    }

    /// The current line's copy, for writing. `is_guarded` says that the value will be looked at when a guard is given back.
    #[inline]
    fn for_writing(&self, is_guarded: bool, site: Site) -> *mut V {
        let state = self.state();
        let Some(handle) = current() else {
            self.before_write_elsewhere(is_guarded);
            return &raw mut state.g.value;
        };
        let is_looked_at = is_guarded && !handle.get().quiet;
        if self.is_prime(handle) {
            self.keep(handle, site);
            let is_first = state.g_prime.is_none();
            if is_first {
                state.g_prime = state.g.copy(handle, state.hashing, site);
            }
            if let Some(prime) = &mut state.g_prime {
                if is_looked_at {
                    self.borrow_mutably(PRIME, &prime.value, is_first);
                }
                return &raw mut prime.value;
            }
            // No copy can be made, and the execution is being ended: no thread uses what is done to G.
        }
        let mut is_kept = false;
        if state.initial.is_none() {
            let copied = lasting(self, || {
                let copy = copy_if_clone(handle, &state.g.value, state.hashing, Some(site));
                copy.map(|value| state.g.with(value))
            });
            match copied {
                Some(initial) => {
                    state.initial.keep(initial);
                    is_kept = true;
                }
                // The execution is being ended.
                None if V::is_copied() => state.initial.lose(),
                None => self.keep_bits(handle, site),
            }
        }
        if is_looked_at {
            self.borrow_mutably(G, &state.g.value, is_kept);
        }
        &raw mut state.g.value
    }

    /// The value, which can't be copied, is about to be changed. Only the value of an object that outlives the
    /// execution has to be put back.
    #[cold]
    fn keep_bits(&self, handle: Handle, site: Site) {
        let state = self.state();
        if is_static(self) == Some(true) {
            // SAFETY: `forget` puts the value back, and `Initial` forgets the value where `forget` is not called.
            let value = unsafe { state.g.value.initial() };
            state.initial.keep(state.g.with(value));
            return;
        }
        state.initial.lose();
        if is_static(self).is_none() {
            is_not_copied::<V>(handle, Some(site));
        }
    }

    /// Gives the lock back. `written` is the place where the value was last borrowed mutably, if it was; `poisons`
    /// tells that the thread began to panic under the guard.
    pub(crate) fn unlock(&self, mode: LockMode, taken: Site, written: Option<Site>, poisons: bool) {
        let state = self.state();
        state.guards = if mode == LockMode::Shared {
            (state.guards - 1).max(0)
        } else {
            0
        };
        let Some(handle) = current() else {
            self.unlock_elsewhere(mode, taken, written, poisons);
            return;
        };
        let access = if handle.get().moves_no_thread() {
            tau::enter_unwinding(handle)
        } else {
            tau::enter(handle, taken)
        };
        if handle.get().quiet {
            return;
        }
        let object = self.object(handle);
        let inherits_any = access == Access::UnderTest && handle.get().inherits_any();
        let inherited = inherits_any && handle.get().inherits(object);
        // A guard given back with the value that it was taken with has only read.
        let written = if poisons || inherited {
            self.before_release(handle, (taken, written), poisons, inherited)
        } else {
            written.filter(|_| self.has_changed(usize::from(access == Access::Interfering)))
        };
        if let Some(site) = written {
            match access {
                Access::Plain | Access::PlainPrime => {}
                Access::Interfering => self.write_prime(handle, object, site),
                Access::UnderTest => tau::write(handle, object, site, 0),
            }
        }
        if init_locks::forget(handle, object, mode) {
            return;
        }
        match access {
            Access::Plain | Access::PlainPrime => {}
            Access::Interfering => tau_prime::release(handle, object, mode, taken),
            Access::UnderTest => tau::release(handle, object, mode, taken),
        }
    }

    /// The rare part of [`Self::unlock`]: the guard poisons the lock, or was taken on the line of T' and is T's now.
    /// Returns the place where the value was written, if the write is an event.
    #[cold]
    #[inline(never)]
    fn before_release(
        &self,
        handle: Handle,
        (taken, written): (Site, Option<Site>),
        poisons: bool,
        inherited: bool,
    ) -> Option<Site> {
        let is_prime = inherited || handle.get().line == Line::Interfering;
        let changed = written.filter(|_| self.has_changed(usize::from(is_prime)));
        if inherited && (poisons || written.is_some()) {
            self.inherit(handle, written.unwrap_or(taken));
        }
        if !poisons {
            return changed;
        }
        self.set_poison(handle, taken);
        written.or(Some(taken))
    }

    fn write_prime(&self, handle: Handle, object: Object, site: Site) {
        let kept = tau_prime::write(handle.get(), Op::Write(object), object, site, 0);
        if let Some(event) = kept {
            self.keep(handle, site);
            self.state().latest = event;
            if self.state().g_prime.is_none() {
                // T' has written G itself, which T is going to write.
                self.keep_latest(handle, site);
            }
        }
    }

    /// Gives T what was written through a guard that had been taken on the line of T'.
    fn inherit(&self, handle: Handle, site: Site) {
        let hashing = self.state().hashing;
        if let Some(copy) = self.current_prime().copy(handle, hashing, site) {
            let old = self.replace_g(copy);
            handle.give_up(old);
        }
    }

    /// Gives G another value, keeping the value that G had at the start of the execution. Returns the value that is not
    /// needed any more.
    fn replace_g(&self, value: Guarded<V>) -> Option<Guarded<V>> {
        let state = self.state();
        let old = std::mem::replace(&mut state.g, value);
        if state.initial.is_none() {
            state.initial.keep(old);
            None
        } else {
            Some(old)
        }
    }

    /// A read, and a write if `writes`, through exclusive access to the lock itself. Returns the poison flag.
    pub(crate) fn settle(&self, writes: bool, site: Site) -> bool {
        let Some(handle) = current() else {
            return self.settle_elsewhere(writes, site);
        };
        let access = self.enter(handle, site);
        let object = match access {
            Access::Plain | Access::PlainPrime => NONE,
            Access::Interfering | Access::UnderTest => self.object(handle),
        };
        let poisoned = self.read(handle, access, object, site);
        if writes {
            match access {
                Access::UnderTest => tau::write(handle, object, site, 0),
                // The value is about to be written: what T could see is only known after the write. Since the lock is
                // exclusively borrowed, no thread can look at the value before T' has given the borrow up, which needs
                // another event.
                Access::Interfering => {
                    self.settled_mut(site);
                    self.write_prime(handle, object, site);
                }
                Access::Plain | Access::PlainPrime => {}
            }
        }
        poisoned
    }
}

impl<V> Guarded<V> {
    /// A copy of the flags, with this `value`.
    const fn with(&self, value: V) -> Self {
        Self {
            value,
            was_poisoned: self.was_poisoned,
            flagged: self.flagged,
        }
    }
}

impl<V: Shadow> Guarded<V> {
    /// See [`copy_of`].
    #[inline]
    fn copy(&self, handle: Handle, hashing: Hashing, site: Site) -> Option<Self> {
        Some(self.with(copy_of(handle, &self.value, hashing, site)?))
    }
}
