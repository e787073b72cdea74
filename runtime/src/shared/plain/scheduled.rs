//! Plain data on the scheduled machine.

use super::{PlainCell, Shadow};
use crate::scheduled::Handle;
use crate::values::hash_of;
use crate::vocabulary::{Kind, Object, Site};

pub(super) fn read<V: Shadow>(machine: Handle, cell: &PlainCell<V>, site: Site) -> *mut V {
    let object = enter(machine, cell, Kind::Read, site);
    let found = machine.found(object, || hash(cell));
    machine.did(Kind::Read, object, found, found, site);
    cell.g.as_ptr()
}

/// The event of a write of `value`, which the caller does; `None` where the value is written later, through a reference.
pub(super) fn write<V: Shadow>(
    machine: Handle,
    cell: &PlainCell<V>,
    value: Option<&V>,
    site: Site,
) -> *mut V {
    let object = enter(machine, cell, Kind::Write, site);
    keep_initial(machine, cell);
    let found = machine.found(object, || hash(cell));
    let left = match value {
        Some(value) if machine.tells_values() => hash_of(value).unwrap_or_else(|| machine.fresh()),
        _ => found,
    };
    machine.did(Kind::Write, object, found, left, site);
    if value.is_none() {
        // SAFETY: a `static mut` is never dropped, and its value is of this type.
        unsafe { machine.writes_late(object, cell.g.as_ptr().cast(), contents::<V>, site) };
    }
    cell.g.as_ptr()
}

/// The place of the value, for accesses that aren't seen, of any kind.
pub(super) fn pointer<V: Shadow>(machine: Handle, cell: &PlainCell<V>) -> *mut V {
    renew(machine, cell);
    keep_initial(machine, cell);
    cell.g.as_ptr()
}

/// Keeps the value before the first write, for the next execution.
fn keep_initial<V: Shadow>(machine: Handle, cell: &PlainCell<V>) {
    if cell.initial.is_none() {
        // SAFETY: it is the current thread's turn, and what the program refers to is for its `unsafe` code to answer for.
        // `renew` puts the value back, and a `static mut` is never dropped.
        let initial = machine.outside(|| unsafe { cell.g.get().initial() });
        cell.initial.keep(initial);
    }
}

/// Puts the initial value back in an execution's first access.
fn renew<V: Shadow>(machine: Handle, cell: &PlainCell<V>) {
    let lasts = cell.tag.lasts();
    if cell.tag.renew(machine.generation(), cell) {
        // SAFETY: references to the value end with the execution that made them.
        unsafe {
            if let Some(initial) = cell.initial.take() {
                lasts.give_up(cell.g.replace(initial));
            }
        }
    }
}

/// Waits for the thread's turn for an event of this kind. Returns the object.
fn enter<V: Shadow>(machine: Handle, cell: &PlainCell<V>, kind: Kind, site: Site) -> Object {
    renew(machine, cell);
    let object = cell.tag.name(machine, cell);
    machine.plain(object);
    machine.turn(kind, object, 0, site);
    object
}

/// The hash of the value.
fn hash<V>(cell: &PlainCell<V>) -> Option<u64> {
    // SAFETY: it is the current thread's turn, and what the program refers to is for its `unsafe` code to answer for.
    hash_of(unsafe { cell.g.get() })
}

/// The hash of a value.
///
/// # Safety
/// `value` points to a `V` that no thread is writing.
unsafe fn contents<V>(value: *const ()) -> Option<u64> {
    // SAFETY: the caller's promise.
    hash_of(unsafe { &*value.cast::<V>() })
}
