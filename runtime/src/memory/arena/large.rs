//! Memory that a program on the scheduled machine gets from the system, since it is too large for a region, or no
//! region has space left.
//!
//! This memory is noted, so that it can be given back when the execution is over and nothing of the execution is
//! dropped. Only one program runs at a time, so there is one list.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::outside;

/// The noted allocations, by address.
static NOTED: Mutex<BTreeMap<usize, Layout>> = Mutex::new(BTreeMap::new());

/// The number of noted allocations: hardly ever above 0.
static COUNT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Whether a program on the scheduled machine runs on this OS thread.
    pub(super) static IS_NOTED: Cell<bool> = const { Cell::new(false) };
    /// Whether this OS thread is using the list, whose own memory is not to be noted.
    static AT_IT: Cell<bool> = const { Cell::new(false) };
}

/// Whether any allocation is noted.
#[inline]
pub(super) fn any() -> bool {
    COUNT.load(Ordering::Relaxed) != 0
}

fn with<R>(then: impl FnOnce(&mut BTreeMap<usize, Layout>) -> R) -> R {
    outside(|| {
        let mut noted = NOTED.lock().unwrap_or_else(PoisonError::into_inner);
        AT_IT.set(true);
        let result = then(&mut noted);
        AT_IT.set(false);
        COUNT.store(noted.len(), Ordering::Relaxed);
        result
    })
}

/// Notes an allocation that the program has been given, if the program runs on the scheduled machine.
#[cold]
#[inline(never)]
pub(super) fn note(memory: *mut u8, layout: Layout) {
    if IS_NOTED.get() && !memory.is_null() {
        with(|noted| noted.insert(memory.expose_provenance(), layout));
    }
}

/// Forgets an allocation that is about to be freed or moved, where [any] is noted. Returns whether this one was.
#[cold]
#[inline(never)]
pub(super) fn forget(memory: *mut u8) -> bool {
    !AT_IT.get() && with(|noted| noted.remove(&memory.addr())).is_some()
}

/// Whether an address lies in a noted allocation.
pub(super) fn contains(address: usize) -> bool {
    any()
        && with(|noted| {
            let before = noted.range(..=address).next_back();
            before.is_some_and(|(start, layout)| address - start < layout.size())
        })
}

/// Forgets all noted allocations, without freeing them.
pub(super) fn keep() {
    if any() {
        with(BTreeMap::clear);
    }
}

/// Frees all noted allocations, to which nothing refers any more.
pub(super) fn free() {
    if !any() {
        return;
    }
    let noted = with(std::mem::take);
    for (start, layout) in noted {
        // SAFETY: the system has given this memory, and it has not been freed: a free removes it from the noted ones.
        unsafe { System.dealloc(std::ptr::with_exposed_provenance_mut(start), layout) };
    }
}
