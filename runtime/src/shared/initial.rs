//! What an object holds when an execution begins, kept from the moment at which the object is first changed.

use std::mem::ManuallyDrop;

#[cfg(feature = "copied_if_clone")]
use super::Shadow;
use super::Slot;

/// The value that an object holds when an execution begins, once that value is kept.
///
/// With the feature `copied_if_clone`, this may be the value's own bits rather than a copy, see
/// [`super::Shadow::initial`]: the bits are put back where they came from, or forgotten, and never dropped here.
#[derive(Debug)]
pub(crate) struct Initial<V>(Slot<State<V>>);

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
        Self(Slot::new(State::Unchanged))
    }

    #[inline]
    const fn state(&self) -> &State<V> {
        // SAFETY: `keep` and `lose` replace a state in which there is no value to refer to; `take` is its caller's to answer for.
        unsafe { self.0.get() }
    }

    /// Whether the object has not been changed.
    #[inline]
    pub(crate) const fn is_none(&self) -> bool {
        matches!(self.state(), State::Unchanged)
    }

    /// Whether the object has been changed for good.
    pub(crate) const fn is_lost(&self) -> bool {
        matches!(self.state(), State::Lost)
    }

    #[inline]
    pub(crate) fn keep(&self, value: V) {
        self.begin(State::Kept(ManuallyDrop::new(value)));
    }

    /// Notes that the object is about to be changed for good.
    pub(crate) fn lose(&self) {
        self.begin(State::Lost);
    }

    #[inline]
    fn begin(&self, state: State<V>) {
        debug_assert!(self.is_none(), "an execution begins once");
        if self.is_none() {
            // SAFETY: there is no value, so that there is no reference to one.
            unsafe { self.0.replace(state) };
        }
    }

    /// What the object held at the start, if that is kept.
    #[inline]
    pub(crate) fn get(&self) -> Option<&V> {
        match self.state() {
            State::Kept(value) => Some(value),
            State::Unchanged | State::Lost => None,
        }
    }

    /// Takes what the object held at the start, where an execution is over.
    ///
    /// # Safety
    /// No reference to what the object held is used any more.
    #[inline]
    pub(crate) unsafe fn take(&self) -> Option<V> {
        // SAFETY: the caller's promise.
        match unsafe { self.0.replace(State::Unchanged) } {
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
        // SAFETY: the object is dropped, so that nothing refers to what is in it.
        drop(unsafe { self.take() });
    }
}
