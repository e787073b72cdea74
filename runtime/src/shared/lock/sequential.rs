//! Locks in P̂ₖ.

use std::cell::Cell;

use super::{Borrowed, G, Guarded, LockCell, PRIME, Shadow, Slot};
use crate::engine::tau::{self, Access};
use crate::engine::{
    Handle, Line, NONE, ValueKind, abort, init_locks, is_looked_at, is_not_copied, tau_prime,
};
use crate::log::{LockMode, Object, Op};
use crate::shared::{Lasts, Prime, copy_if_clone, copy_of, is_static, lasting, quietly};
use crate::vocabulary::Site;

pub(super) fn lock<V: Shadow>(
    handle: Handle,
    cell: &LockCell<V>,
    mode: LockMode,
    site: Site,
) -> bool {
    let access = cell.enter(handle, site);
    let mut object = NONE;
    match access {
        Access::Plain | Access::PlainPrime => {
            if handle.get().quiet {
                cell.require_free(handle, mode);
            } else {
                object = cell.object(handle);
                init_locks::acquire(handle, object, mode, true, site);
            }
        }
        Access::Interfering => {
            object = cell.object(handle);
            init_locks::would_block(handle, object, mode, site);
            tau_prime::acquire(handle, object, mode, true, site);
        }
        Access::UnderTest => {
            object = cell.object(handle);
            init_locks::would_block(handle, object, mode, site);
            tau::acquire(handle, object, mode, site);
        }
    }
    cell.occupy(mode);
    cell.read(handle, access, object, site)
}

pub(super) fn try_lock<V: Shadow>(
    handle: Handle,
    cell: &LockCell<V>,
    mode: LockMode,
    site: Site,
) -> Option<bool> {
    let access = cell.enter(handle, site);
    let quiet = handle.get().quiet;
    let object = if quiet { NONE } else { cell.object(handle) };
    let taken = match access {
        Access::Plain | Access::PlainPrime if quiet => cell.is_free(mode),
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
        cell.occupy(mode);
        cell.read(handle, access, object, site)
    })
}

pub(super) fn share<V: Shadow>(handle: Handle, cell: &LockCell<V>, site: Site) {
    match cell.enter(handle, site) {
        Access::Plain | Access::PlainPrime => {}
        Access::Interfering | Access::UnderTest => abort::unsupported(
            handle,
            "a write guard becomes a read guard: the sequential program has no event for it"
                .to_owned(),
            Some(site),
        ),
    }
}

pub(super) fn is_shared<V: Shadow>(handle: Handle, cell: &LockCell<V>, site: Site) {
    if !handle.get().quiet {
        let object = cell.object(handle);
        init_locks::acquire(handle, object, LockMode::Shared, false, site);
    }
    cell.occupy(LockMode::Shared);
}

/// The current line's copy, for writing. `is_guarded` says that the value will be looked at when a guard is given back.
#[inline]
pub(super) fn for_writing<V: Shadow>(
    handle: Handle,
    cell: &LockCell<V>,
    is_guarded: bool,
    site: Site,
) -> *mut V {
    let is_looked_at = is_guarded && !handle.get().quiet;
    if cell.is_prime(handle) {
        cell.keep(handle, site);
        let is_first = cell.g_prime.get().is_none();
        if is_first && let Some(copy) = cell.g.copy(handle, cell, site) {
            cell.g_prime.make(copy);
        }
        if let Some(prime) = cell.g_prime.get() {
            if is_looked_at {
                cell.borrow_mutably(PRIME, &prime.value, is_first);
            }
            return prime.value.as_ptr();
        }
        // No copy can be made, and the execution is being ended: no thread uses what is done to G.
    }
    let is_kept = cell.initial.is_none() && cell.keep_initial(handle, site);
    if is_looked_at {
        cell.borrow_mutably(G, &cell.g.value, is_kept);
    }
    cell.g.value.as_ptr()
}

pub(super) fn unlock<V: Shadow>(
    handle: Handle,
    cell: &LockCell<V>,
    mode: LockMode,
    (taken, written): (Site, Option<Site>),
    poisons: bool,
) {
    cell.vacate(mode);
    let access = if handle.get().moves_no_thread() {
        tau::enter_unwinding(handle)
    } else {
        tau::enter(handle, taken)
    };
    if handle.get().quiet {
        return;
    }
    let object = cell.object(handle);
    let inherits_any = access == Access::UnderTest && handle.get().inherits_any();
    let inherited = inherits_any && handle.get().inherits(object);
    if written.is_some_and(|site| std::ptr::eq(site, taken)) {
        cell.note_look(handle, access, object, taken);
    }
    // A guard given back with the value that it was taken with has only read.
    let written = if poisons || inherited {
        cell.before_release(handle, (taken, written), poisons, inherited)
    } else {
        written.filter(|_| cell.has_changed(usize::from(access == Access::Interfering)))
    };
    if let Some(site) = written {
        match access {
            Access::Plain | Access::PlainPrime => {}
            Access::Interfering => cell.write_prime(handle, object, site),
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

pub(super) fn settle<V: Shadow>(
    handle: Handle,
    cell: &mut LockCell<V>,
    writes: bool,
    site: Site,
) -> bool {
    let access = cell.enter(handle, site);
    let object = match access {
        Access::Plain | Access::PlainPrime => NONE,
        Access::Interfering | Access::UnderTest => cell.object(handle),
    };
    let poisoned = cell.read(handle, access, object, site);
    if writes {
        match access {
            Access::UnderTest => tau::write(handle, object, site, 0),
            // The value is about to be written: what T could see is only known after the write. Since the lock is
            // exclusively borrowed, no thread can look at the value before T' has given the borrow up, which needs
            // another event.
            Access::Interfering => {
                for_writing(handle, cell, false, site);
                cell.write_prime(handle, object, site);
            }
            Access::Plain | Access::PlainPrime => {}
        }
    }
    poisoned
}

pub(super) fn clear_poison<V: Shadow>(handle: Handle, cell: &LockCell<V>, site: Site) {
    cell.renew(handle);
    cell.poison.clear(handle, site);
}

pub(super) fn is_poisoned<V: Shadow>(handle: Handle, cell: &LockCell<V>, site: Site) -> bool {
    cell.renew(handle);
    cell.poison.load(site)
}

impl<V: Shadow> LockCell<V> {
    /// A guard is given back through which the value was not borrowed mutably. It counts as a write where the value has no hash:
    /// says so where that may hide an execution.
    #[cold]
    #[inline(never)]
    fn note_look(&self, handle: Handle, access: Access, object: Object, taken: Site) {
        let copy = usize::from(access == Access::Interfering);
        let matters = match access {
            Access::Plain | Access::PlainPrime => false,
            Access::Interfering => true,
            Access::UnderTest => tau::interferes(handle, object),
        };
        if matters && self.borrowed[copy].get() == Borrowed::With(None) {
            is_looked_at::<V>(handle, taken);
        }
    }

    fn enter(&self, handle: Handle, site: Site) -> Access {
        let access = tau::enter(handle, site);
        self.renew(handle);
        access
    }

    fn renew(&self, handle: Handle) {
        let lasts = self.tag.lasts();
        if self.tag.renew(handle.get().generation, self) {
            self.guards.set(0);
            self.borrowed[G].set(Borrowed::Not);
            self.borrowed[PRIME].set(Borrowed::Not);
            self.latest.set(NONE);
            self.poison.begin();
            if !self.initial.is_none() || self.g_prime.get().is_some() || !self.kept.is_empty() {
                self.forget(handle, lasts);
            }
        }
    }

    /// Forgets the values of another execution.
    #[cold]
    fn forget(&self, handle: Handle, lasts: Lasts) {
        let is_lost = self.initial.is_lost();
        // SAFETY: references to the values end with the execution that made them.
        let old = unsafe {
            let initial = self.initial.take();
            (initial.map(|it| self.g.replace(it)), self.g_prime.take())
        };
        quietly(handle, || {
            lasts.give_up(old);
            self.kept.give_up(lasts);
        });
        if is_lost {
            is_not_copied::<V>(handle, None);
        }
    }

    /// Called when the value of T' is about to be changed: keeps what T may see of it.
    #[inline]
    fn keep(&self, handle: Handle, site: Site) {
        if self.latest.get() != NONE {
            self.keep_latest(handle, site);
        }
    }

    #[inline(never)]
    fn keep_latest(&self, handle: Handle, site: Site) {
        if let Some(value) = self.current_prime().copy(handle, self, site) {
            self.kept.push(self.latest.replace(NONE), value);
        }
    }

    fn object(&self, handle: Handle) -> Object {
        if self.tag.is_of_earlier_round(handle) {
            self.begin_round(handle);
        }
        self.tag.object(handle, ValueKind::Opaque)
    }

    /// Both threads of a round begin with the same value, and so do all interfering threads. No round begins while the lock is
    /// held.
    #[cold]
    fn begin_round(&self, handle: Handle) {
        let of_t_prime = match self.tag.begin_round(handle) {
            Prime::Stays => return,
            Prime::OfAnother => {
                self.keep_of_another(handle);
                self.borrowed[PRIME].set(Borrowed::Not);
                false
            }
            Prime::Lasts => true,
            Prime::IsOver => false,
        };
        self.latest.set(NONE);
        // SAFETY: the lock is about to be taken for the first time in this round, so that nothing refers to the value.
        match unsafe { self.g_prime.take() } {
            Some(prime) if of_t_prime => self.replace_g(handle, prime),
            Some(prime) => handle.give_up(prime),
            None => {}
        }
        // The poison flag, too, is what it is when the round begins.
        self.g.flagged.set(NONE);
    }

    /// The copy of T' is that of an interfering thread whose run is over: keeps what T may see of it.
    fn keep_of_another(&self, handle: Handle) {
        let latest = self.latest.get();
        if latest == NONE {
            return;
        }
        let guarded = self.current_prime();
        // SAFETY: no guard of that thread is used any more.
        let value = unsafe { guarded.value.get() };
        // A value that T' has copied can be copied again.
        if let Some(copy) = copy_if_clone(handle, value, self.hashing.get(), None) {
            self.kept.push(latest, guarded.with(copy));
        }
    }

    /// Two guards that exclude each other must not exist, even in an execution that has been ended.
    fn require_free(&self, handle: Handle, mode: LockMode) {
        if !self.is_free(mode) {
            abort::unwind(handle);
            // Only reached in a destructor that takes a lock whose guard is still alive further up the stack.
            eprintln!("a destructor waits for ever for a lock that its own thread holds");
            std::process::abort();
        }
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
        let seen = match access {
            Access::Plain | Access::UnderTest => &self.g,
            Access::PlainPrime | Access::Interfering => self.current_prime(),
        };
        seen.was_poisoned.get() && self.poison.read(handle, access, &self.g, site)
    }

    fn current_prime(&self) -> &Guarded<V> {
        self.g_prime.get().unwrap_or(&self.g)
    }

    /// Gives T the value that event `event` of T' wrote.
    #[inline(never)]
    fn inject(&self, handle: Handle, event: u32, site: Site) {
        let copy = |value: &Guarded<V>| value.copy(handle, self, site);
        let copy = if event == self.latest.get() {
            copy(self.current_prime())
        } else {
            self.kept.with(event, copy).flatten()
        };
        if let Some(copy) = copy {
            self.replace_g(handle, copy);
        }
    }

    /// Whether the copy of T' is to be used: on the line of T', and after the join through a guard that was taken on
    /// that line.
    fn is_prime(&self, handle: Handle) -> bool {
        let engine = handle.get();
        engine.line == Line::Interfering
            || (engine.inherits_any() && engine.inherits(self.object(handle)))
    }

    /// The current line's copy.
    pub(super) fn copy_of_line(&self, handle: Handle) -> &Guarded<V> {
        if self.is_prime(handle) {
            self.current_prime()
        } else {
            &self.g
        }
    }

    /// G is about to be written for the first time. Returns whether its value is kept.
    fn keep_initial(&self, handle: Handle, site: Site) -> bool {
        let copied = lasting(self, || {
            // SAFETY: the current thread is about to borrow the value mutably under its guard, and has not yet.
            let value = unsafe { self.g.value.get() };
            copy_if_clone(handle, value, self.hashing.get(), Some(site))
        });
        match copied {
            Some(initial) => {
                self.initial.keep(self.g.with(initial));
                return true;
            }
            // The execution is being ended.
            None if V::is_copied() => self.initial.lose(),
            None => self.keep_bits(handle, site),
        }
        false
    }

    /// The value, which can't be copied, is about to be changed. Only the value of an object that outlives the
    /// execution has to be put back.
    #[cold]
    fn keep_bits(&self, handle: Handle, site: Site) {
        if is_static(self) == Some(true) {
            // SAFETY: the current thread is about to borrow the value mutably under its guard, and has not yet. `forget`
            // puts the value back, and `Initial` forgets the value where `forget` is not called.
            let value = unsafe { self.g.value.get().initial() };
            self.initial.keep(self.g.with(value));
            return;
        }
        self.initial.lose();
        if is_static(self).is_none() {
            is_not_copied::<V>(handle, Some(site));
        }
    }

    /// The rare part of [`unlock`]: the guard poisons the lock, or was taken on the line of T' and is T's now.
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
        for_writing(handle, self, false, taken);
        self.poison
            .set(handle, (&self.g, self.g_prime.get()), taken);
        written.or(Some(taken))
    }

    fn write_prime(&self, handle: Handle, object: Object, site: Site) {
        let kept = tau_prime::write(handle.get(), Op::Write(object), object, site, 0);
        if let Some(event) = kept {
            self.keep(handle, site);
            self.latest.set(event);
            if self.g_prime.get().is_none() {
                // T' has written G itself, which T is going to write.
                self.keep_latest(handle, site);
            }
        }
    }

    /// Gives T what was written through a guard that had been taken on the line of T'.
    fn inherit(&self, handle: Handle, site: Site) {
        if let Some(copy) = self.current_prime().copy(handle, self, site) {
            self.replace_g(handle, copy);
        }
    }

    /// Gives G another value, keeping the value that G had at the start of the execution.
    fn replace_g(&self, handle: Handle, value: Guarded<V>) {
        // SAFETY: T has just taken the lock, or gives it back, so that nothing refers to its value.
        let old = unsafe { self.g.replace(value) };
        if self.initial.is_none() {
            self.initial.keep(old);
        } else {
            handle.give_up(old);
        }
    }
}

impl<V> Guarded<V> {
    /// A copy of the flags, with this `value`.
    const fn with(&self, value: V) -> Self {
        Self {
            value: Slot::new(value),
            was_poisoned: Cell::new(self.was_poisoned.get()),
            flagged: Cell::new(self.flagged.get()),
        }
    }

    /// Takes over what another one holds, and returns what was here.
    ///
    /// # Safety
    /// No reference to the value that was here is used any more.
    pub(super) unsafe fn replace(&self, other: Self) -> Self {
        self.was_poisoned.swap(&other.was_poisoned);
        self.flagged.swap(&other.flagged);
        Self {
            // SAFETY: the caller's promise.
            value: Slot::new(unsafe { self.value.replace(other.value.into_inner()) }),
            was_poisoned: other.was_poisoned,
            flagged: other.flagged,
        }
    }
}

impl<V: Shadow> Guarded<V> {
    /// A copy of what is in `cell`: see [`copy_of`].
    #[inline]
    fn copy(&self, handle: Handle, cell: &LockCell<V>, site: Site) -> Option<Self> {
        // SAFETY: no guard's reference to the value is used: the lock has just been taken, or is given back, or the value is
        // that of the line that doesn't run.
        let value = unsafe { self.value.get() };
        Some(self.with(copy_of(handle, value, cell.hashing.get(), site)?))
    }
}
