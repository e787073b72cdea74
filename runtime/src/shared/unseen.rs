//! Values that may be changed without being borrowed mutably, and without an event: what is in a `Cell`, wherever it is in a
//! value.

use std::cell::Cell;
use std::iter::FusedIterator;
use std::marker::PhantomData;

/// Whether a shared reference to a value of this type may be enough to change the value with no event: the type isn't `Sync`.
/// That is so of cells and of all that has a cell in it, such as a closure, and of a trait object that doesn't say. What is
/// `Sync` is changed by events, or by `unsafe` code, of which is said that it is not followed.
///
/// `Fuse` asks an iterator again that is known to be fused, in generic code as well, and no other one. If std stops telling the
/// two apart, all types may be changed here.
#[inline]
pub(crate) fn may_change_unseen<T>() -> bool {
    struct Probe<'c, T>(&'c Cell<u32>, PhantomData<T>);
    impl<T> Iterator for Probe<'_, T> {
        type Item = ();
        #[inline]
        fn next(&mut self) -> Option<()> {
            self.0.set(self.0.get() + 1);
            None
        }
    }
    impl<T: Sync> FusedIterator for Probe<'_, T> {}
    let asked = Cell::new(0);
    let mut fused = Probe::<T>(&asked, PhantomData).fuse();
    fused.next();
    fused.next();
    asked.get() < 2
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::sync::Arc;

    use super::may_change_unseen;
    use crate::std::sync::Mutex;
    use crate::std::sync::atomic::AtomicUsize;

    fn of<T>(_: &T) -> bool {
        may_change_unseen::<T>()
    }

    #[test]
    fn cells_change_unseen_wherever_they_are() {
        assert!(may_change_unseen::<Cell<u32>>());
        assert!(may_change_unseen::<Vec<Box<(u32, RefCell<u32>)>>>());
        assert!(may_change_unseen::<Box<dyn Fn() + Send>>());
        let count = Cell::new(0);
        assert!(of(&move || count.set(count.get() + 1)));
    }

    #[test]
    fn what_has_no_cells_is_changed_by_events_alone() {
        let text = String::from("not static");
        assert!(!of(&text.as_str()));
        assert!(!of(&move || text.len()));
        assert!(!may_change_unseen::<u32>());
        assert!(!may_change_unseen::<Vec<Option<Box<[u8]>>>>());
        assert!(!may_change_unseen::<Box<dyn Fn() + Send + Sync>>());
        assert!(!may_change_unseen::<(AtomicUsize, Arc<Mutex<Cell<u32>>>)>());
    }
}
