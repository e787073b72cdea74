//! What an object holds when an execution begins, kept from the moment at which the object is first changed.

use std::mem::ManuallyDrop;

#[cfg(feature = "copied_if_clone")]
use super::Shadow;

/// The value that an object holds when an execution begins, once that value is kept.
///
/// With the feature `copied_if_clone`, this may be the value's own bits rather than a copy, see
/// [`super::Shadow::initial`]: the bits are put back where they came from, or forgotten, and never dropped here.
#[derive(Debug)]
pub(crate) struct Initial<V>(State<V>);

#[derive(Debug)]
enum State<V> {
    /// The object has not been changed.
    Unchanged,
    Kept(ManuallyDrop<V>),
    /// The object has been changed, and its value at the start is lost. Used for objects that end with the execution.
    Lost,
}

impl<V> Initial<V> {
    pub(crate) const fn none() -> Self {
        Self(State::Unchanged)
    }

    /// Whether the object has not been changed.
    #[inline]
    pub(crate) const fn is_none(&self) -> bool {
        matches!(self.0, State::Unchanged)
    }

    /// Whether the object has been changed for good.
    pub(crate) const fn is_lost(&self) -> bool {
        matches!(self.0, State::Lost)
    }

    #[inline]
    pub(crate) fn keep(&mut self, value: V) {
        debug_assert!(self.is_none(), "an execution begins once");
        self.0 = State::Kept(ManuallyDrop::new(value));
    }

    /// Notes that the object is about to be changed for good.
    pub(crate) fn lose(&mut self) {
        debug_assert!(self.is_none(), "an execution begins once");
        self.0 = State::Lost;
    }

    /// What the object held at the start, if that is kept.
    #[inline]
    pub(crate) fn get(&self) -> Option<&V> {
        match &self.0 {
            State::Kept(value) => Some(value),
            State::Unchanged | State::Lost => None,
        }
    }

    #[inline]
    pub(crate) fn take(&mut self) -> Option<V> {
        match std::mem::replace(&mut self.0, State::Unchanged) {
            State::Kept(value) => Some(ManuallyDrop::into_inner(value)),
            State::Unchanged | State::Lost => None,
        }
    }
}

impl<V> Drop for Initial<V> {
    fn drop(&mut self) {
        #[cfg(feature = "copied_if_clone")]
        if !V::is_copied() {
            return;
        }
        drop(self.take());
    }
}
