//! Plain data where no program runs.

use super::{PlainCell, Shadow};
use crate::vocabulary::Site;

pub(super) const fn read<V: Shadow>(cell: &PlainCell<V>, _site: Site) -> *mut V {
    cell.g.as_ptr()
}

pub(super) const fn write<V: Shadow>(
    cell: &PlainCell<V>,
    _value: Option<&V>,
    _site: Site,
) -> *mut V {
    cell.g.as_ptr()
}

pub(super) const fn pointer<V: Shadow>(cell: &PlainCell<V>) -> *mut V {
    cell.g.as_ptr()
}
