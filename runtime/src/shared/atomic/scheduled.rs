//! Atomics on the scheduled machine.

use std::sync::atomic::Ordering;

use super::{AtomicCell, Bits};
use crate::scheduled::Handle;
use crate::vocabulary::{Kind, Object, Site};

#[inline]
pub(super) fn load<V: Bits>(machine: Handle, cell: &AtomicCell<V>, site: Site) -> V {
    act(machine, cell, (Kind::Read, 0), site, |value| {
        (Kind::Read, value, value)
    })
}

#[inline]
pub(super) fn store<V: Bits>(machine: Handle, cell: &AtomicCell<V>, value: V, site: Site) {
    act(machine, cell, (Kind::Write, 0), site, |_| {
        (Kind::Write, value, ())
    });
}

#[inline]
pub(super) fn update<V: Bits>(
    machine: Handle,
    cell: &AtomicCell<V>,
    next: impl Fn(V) -> Option<V>,
    expected: Option<V>,
    site: Site,
) -> Result<V, V> {
    let announced = match expected {
        Some(expected) => (Kind::CompareExchange, expected.to_bits()),
        None => (Kind::Update, 0),
    };
    act(machine, cell, announced, site, |old| match next(old) {
        Some(new) => (Kind::Update, new, Ok(old)),
        None => (Kind::FailedUpdate, old, Err(old)),
    })
}

pub(super) fn place<V: Bits>(machine: Handle, cell: &mut AtomicCell<V>, site: Site) -> &mut V {
    // What has exclusive access sees the latest value, as whatever was done before happens before it.
    crate::scheduled::announces(Ordering::Relaxed, Ordering::Relaxed);
    let value = load(machine, cell, site);
    crate::scheduled::announces(Ordering::Relaxed, Ordering::Relaxed);
    store(machine, cell, value, site);
    cell.tag.forget();
    cell.g.get_mut()
}

/// The object's number.
pub(super) fn identity<V: Bits>(machine: Handle, cell: &AtomicCell<V>) -> u64 {
    machine.place_of_object(object(machine, cell))
}

#[inline]
fn object<V: Bits>(machine: Handle, cell: &AtomicCell<V>) -> Object {
    cell.renew(machine.generation());
    cell.tag.name(machine, cell)
}

/// Waits for the turn of the current thread, which has announced this operation, acts, and says what was done. `next`
/// returns the kind of what is done, the value that is left, and the result.
#[inline]
fn act<V: Bits, R>(
    machine: Handle,
    cell: &AtomicCell<V>,
    (announced, expected): (Kind, u64),
    site: Site,
    next: impl FnOnce(V) -> (Kind, V, R),
) -> R {
    let object = object(machine, cell);
    machine.turn(announced, object, expected, site);
    let found = cell.g.get();
    if machine.is_weak() {
        return act_weakly(machine, cell, (announced, object), site, next);
    }
    let (kind, left, result) = next(found);
    cell.g.set(left);
    machine.did(kind, object, found.to_bits(), left.to_bits(), site);
    machine.pause(site);
    result
}

/// Acts in the turn of the current thread on what the search says that it reads.
#[cold]
fn act_weakly<V: Bits, R>(
    machine: Handle,
    cell: &AtomicCell<V>,
    (announced, object): (Kind, Object),
    site: Site,
    next: impl FnOnce(V) -> (Kind, V, R),
) -> R {
    let held = cell.g.get();
    let found = if announced == Kind::Write {
        held
    } else {
        V::from_bits(machine.source(held.to_bits()))
    };
    let (kind, left, result) = next(found);
    if matches!(kind, Kind::Write | Kind::Update) {
        cell.g.set(left);
    }
    machine.did(kind, object, found.to_bits(), left.to_bits(), site);
    if kind == Kind::Update {
        machine.end_if_void();
    }
    machine.pause(site);
    result
}
