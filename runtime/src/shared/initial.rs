//! What an object holds when an execution begins, kept from the moment at which it is changed.

use std::mem::ManuallyDrop;

/// The value, once it is kept.
///
/// With the feature `uncopied` it is the value's own bits rather than a copy, see [`super::Shadow::initial`]: they are put back
/// where they came from, or forgotten, and never dropped here.
#[derive(Debug)]
pub(crate) struct Initial<V>(Option<ManuallyDrop<V>>);

impl<V> Initial<V> {
    pub(crate) const fn none() -> Self {
        Self(None)
    }

    #[inline]
    pub(crate) const fn is_none(&self) -> bool {
        self.0.is_none()
    }

    #[inline]
    pub(crate) fn keep(&mut self, value: V) {
        debug_assert!(self.0.is_none(), "an execution begins once");
        self.0 = Some(ManuallyDrop::new(value));
    }

    #[inline]
    pub(crate) fn take(&mut self) -> Option<V> {
        self.0.take().map(ManuallyDrop::into_inner)
    }
}

#[cfg(not(feature = "uncopied"))]
impl<V> Drop for Initial<V> {
    fn drop(&mut self) {
        drop(self.take());
    }
}
