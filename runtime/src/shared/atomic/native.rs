//! Atomics where no program runs.

use super::{AtomicCell, Bits};
use crate::vocabulary::Site;

#[inline]
pub(super) fn load<V: Bits>(cell: &AtomicCell<V>, _site: Site) -> V {
    cell.initial.get()
}

#[inline]
pub(super) fn store<V: Bits>(cell: &AtomicCell<V>, value: V, _site: Site) {
    cell.initial.set(value);
}

#[inline]
pub(super) fn update<V: Bits>(
    cell: &AtomicCell<V>,
    next: impl Fn(V) -> Option<V>,
    _expected: Option<V>,
    _site: Site,
) -> Result<V, V> {
    let old = cell.initial.get();
    next(old).map_or(Err(old), |new| {
        cell.initial.set(new);
        Ok(old)
    })
}

pub(super) fn place<V: Bits>(cell: &mut AtomicCell<V>, _site: Site) -> &mut V {
    cell.initial.get_mut()
}
