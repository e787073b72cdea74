//! Locks on the scheduled machine.

use std::cell::Cell;

use super::{Borrowed, G, Guarded, LockCell, Shadow, Slot};
use crate::log::LockMode;
use crate::scheduled::Handle;
use crate::vocabulary::hash::mix;
use crate::vocabulary::{Kind, Object, Site};

/// Mixed into the hash of a value whose lock was poisoned.
const POISONED: u64 = 0x9015_0ed1_0c4e_d5a1;

pub(super) fn lock<V: Shadow>(
    machine: Handle,
    cell: &LockCell<V>,
    mode: LockMode,
    site: Site,
) -> bool {
    let object = object(machine, cell);
    machine.lock(object, mode, site, || contents(machine, cell, object));
    reads_poison(machine, object, site)
}

pub(super) fn try_lock<V: Shadow>(
    machine: Handle,
    cell: &LockCell<V>,
    mode: LockMode,
    site: Site,
) -> Option<bool> {
    let object = object(machine, cell);
    let taken = machine.try_lock(object, mode, site, || contents(machine, cell, object));
    taken.then(|| reads_poison(machine, object, site))
}

pub(super) fn share<V: Shadow>(machine: Handle, cell: &LockCell<V>, site: Site) {
    machine.share(object(machine, cell), site);
}

pub(super) const fn is_shared<V: Shadow>(_machine: Handle, _cell: &LockCell<V>, _site: Site) {}

pub(super) fn unlock<V: Shadow>(
    machine: Handle,
    cell: &LockCell<V>,
    mode: LockMode,
    (taken, written): (Site, Option<Site>),
    poisons: bool,
) {
    let object = object(machine, cell);
    if poisons {
        machine.poison(object, taken);
    }
    let is_known =
        written.is_none_or(|site| !std::ptr::eq(site, taken)) || cell.knows_change(machine, object);
    if !is_known {
        machine.note_look();
    }
    // A guard given back with the value that it was taken with has only read. Where events carry values, the value says so. The
    // machine runs guards of one lock in all orders, so that of a guard that may have changed its value unseen no more has to be
    // known.
    let changed = || machine.tells_values() || cell.has_changed(G) && is_known;
    let written = poisons || (written.is_some() && changed());
    machine.unlock(object, mode, written, taken, || {
        contents(machine, cell, object)
    });
}

/// The value, for writing. Keeps the value that a static starts every execution with.
pub(super) fn for_writing<V: Shadow>(
    machine: Handle,
    cell: &LockCell<V>,
    is_guarded: bool,
    _site: Site,
) -> *mut V {
    if is_guarded && !machine.tells_values() {
        cell.borrow_mutably(G, &cell.g.value, false);
    }
    if cell.initial.is_none() && machine.is_static(std::ptr::from_ref(cell).addr()) {
        // SAFETY: the current thread is about to borrow the value mutably under its guard, and has not yet. `object` puts
        // the value back, and `Initial` forgets the value where `object` is not called.
        let value = machine.outside(|| unsafe { cell.g.value.get().initial() });
        cell.initial.keep(Guarded {
            value: Slot::new(value),
            was_poisoned: Cell::new(false),
            flagged: Cell::new(crate::engine::NONE),
        });
    }
    cell.g.value.as_ptr()
}

pub(super) fn settle<V: Shadow>(
    machine: Handle,
    cell: &mut LockCell<V>,
    writes: bool,
    site: Site,
) -> bool {
    let object = object(machine, cell);
    if !machine.is_weak() {
        // Under weak memory, what has exclusive access learns of nobody.
        machine.turn(Kind::Read, object, 0, site);
        let found = machine.found(object, || contents(machine, cell, object));
        machine.did(Kind::Read, object, found, found, site);
    }
    let poisoned = reads_poison(machine, object, site);
    if writes {
        cell.tag.forget();
        cell.poison.rests.set(poisoned);
    }
    poisoned
}

pub(super) fn clear_poison<V: Shadow>(machine: Handle, cell: &LockCell<V>, site: Site) {
    machine.refuse_weakly("a lock whose poison is cleared", site);
    machine.clear_poison(object(machine, cell), site);
}

pub(super) fn is_poisoned<V: Shadow>(machine: Handle, cell: &LockCell<V>, site: Site) -> bool {
    machine.refuse_weakly("whether a lock is poisoned, without taking it", site);
    machine.is_poisoned(object(machine, cell), site)
}

impl<V: Shadow> LockCell<V> {
    /// Whether it can be told of the value, which was not borrowed mutably, whether it has changed under the guard that is given
    /// back.
    #[cold]
    #[inline(never)]
    fn knows_change(&self, machine: Handle, object: Object) -> bool {
        if machine.tells_values() {
            contents(machine, self, object).is_some()
        } else {
            self.borrowed[G].get() != Borrowed::With(None)
        }
    }
}

/// The object's number.
pub(super) fn identity<V: Shadow>(machine: Handle, cell: &LockCell<V>) -> u64 {
    machine.place_of_object(object(machine, cell))
}

/// The poison flag, as the current thread, which has just taken the lock, sees it.
fn reads_poison(machine: Handle, object: Object, site: Site) -> bool {
    machine.was_poisoned(object) && machine.is_poisoned(object, site)
}

/// The hash of the value, and of whether the lock was poisoned, if the value's type is known.
#[cold]
#[inline(never)]
fn contents<V: Shadow>(machine: Handle, cell: &LockCell<V>, object: Object) -> Option<u64> {
    // SAFETY: the current thread has just taken the lock, or gives it back: nothing changes the value.
    let hash = crate::values::hash_of(unsafe { cell.g.value.get() })?;
    Some(if machine.was_poisoned(object) {
        mix(POISONED, hash)
    } else {
        hash
    })
}

fn object<V: Shadow>(machine: Handle, cell: &LockCell<V>) -> Object {
    let lasts = cell.tag.lasts();
    if cell.tag.renew(machine.generation(), cell) {
        cell.poison.rests.set(false);
        cell.borrowed[G].set(Borrowed::Not);
        // SAFETY: references to the value end with the execution that made them.
        let old = unsafe { cell.initial.take().map(|it| cell.g.replace(it)) };
        if let Some(old) = old {
            lasts.give_up(old);
        }
    }
    let object = cell.tag.name(machine, cell);
    if cell.poison.rests.take() {
        machine.stays_poisoned(object);
    }
    object
}
