//! Locks where no program runs.

use super::{LockCell, Shadow};
use crate::log::LockMode;
use crate::vocabulary::Site;

pub(super) fn lock<V: Shadow>(cell: &LockCell<V>, mode: LockMode, site: Site) -> bool {
    try_lock(cell, mode, site).expect("the lock is held already: waiting for it would never end")
}

pub(super) fn try_lock<V: Shadow>(cell: &LockCell<V>, mode: LockMode, site: Site) -> Option<bool> {
    cell.is_free(mode).then(|| {
        cell.occupy(mode);
        is_poisoned(cell, site)
    })
}

pub(super) const fn share<V: Shadow>(_cell: &LockCell<V>, _site: Site) {}

pub(super) fn is_shared<V: Shadow>(cell: &LockCell<V>, _site: Site) {
    cell.occupy(LockMode::Shared);
}

pub(super) fn unlock<V: Shadow>(
    cell: &LockCell<V>,
    mode: LockMode,
    _places: (Site, Option<Site>),
    poisons: bool,
) {
    cell.vacate(mode);
    if poisons {
        cell.poison.rests.set(true);
    }
}

pub(super) const fn for_writing<V: Shadow>(
    cell: &LockCell<V>,
    _is_guarded: bool,
    _site: Site,
) -> *mut V {
    cell.g.value.as_ptr()
}

pub(super) fn settle<V: Shadow>(cell: &mut LockCell<V>, _writes: bool, site: Site) -> bool {
    is_poisoned(cell, site)
}

pub(super) fn clear_poison<V: Shadow>(cell: &LockCell<V>, _site: Site) {
    cell.poison.rests.set(false);
}

pub(super) const fn is_poisoned<V: Shadow>(cell: &LockCell<V>, _site: Site) -> bool {
    cell.poison.rests.get()
}
