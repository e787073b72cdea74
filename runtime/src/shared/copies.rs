//! Copies of the values that threads share: which types have copies, and what happens to a program that needs a copy of
//! another type's value.
//!
//! Without the feature `copied_if_clone`, the types of all shared values have to be `Clone`, and rustc names the types
//! that aren't. With this feature, values may have any type: where a copy of a value is needed whose type isn't
//! `Clone`, the execution ends as one that can't be followed. So a type that isn't `Clone` behind a lock only affects
//! the harnesses that come to that lock. The scheduled machine needs no copies.

use crate::engine::{
    Handle, copying, is_another, is_copied, is_destroyed_twice, is_not_copied, may_be_another,
};
use crate::values::{Hashing, Sameness, clones};
use crate::vocabulary::Site;

/// What a value that two threads share has to be able to do: P̂ₖ keeps a copy of it for each thread.
///
/// Implemented for everything that is `Clone`; with the feature `copied_if_clone` for everything.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is shared between threads and can't be copied",
    label = "`{Self}` would have to be `Clone`",
    note = "the sequential program keeps one copy of each shared value for T and one for T'; derive or implement `Clone` for `{Self}`"
)]
pub trait Shadow: Sized {
    /// A copy of the value; `None` where its type isn't `Clone`.
    #[must_use]
    fn shadow(&self) -> Option<Self>;

    /// The value that an object in static memory starts every execution with, taken before the object is changed for
    /// the first time.
    ///
    /// # Safety
    /// The returned value must be put back in the place that it was taken from, or, where it [is no
    /// copy](Self::is_copied), forgotten.
    #[must_use]
    unsafe fn initial(&self) -> Self;

    /// Whether [`initial`](Self::initial) is a copy, rather than the value's own bits.
    #[must_use]
    fn is_copied() -> bool;
}

#[cfg(feature = "copied_if_clone")]
impl<V> Shadow for V {
    default fn shadow(&self) -> Option<Self> {
        None
    }

    default unsafe fn initial(&self) -> Self {
        // SAFETY: `self` is a valid value. What a static starts with was made by the compiler and owns nothing
        // elsewhere, so that the value's bits are as good as another evaluation of its initializer. Where the value
        // does own memory (in a static that is filled at run time), the caller forgets the bits: such an object is made
        // anew.
        unsafe { std::ptr::read(self) }
    }

    default fn is_copied() -> bool {
        false
    }
}

// With `copied_if_clone`, which of the two a type has is decided where its lifetimes are not known: a type that is
// `Clone` for some lifetimes only is cloned for all. Only code that relies on its own `Clone` being there for `'static`
// alone, to keep what the value borrows, would notice.
impl<V: Clone> Shadow for V {
    #[inline]
    fn shadow(&self) -> Option<Self> {
        Some(clones::bits(self).unwrap_or_else(|| self.clone()))
    }

    #[inline]
    unsafe fn initial(&self) -> Self {
        clones::bits(self).unwrap_or_else(|| self.clone())
    }

    #[inline]
    fn is_copied() -> bool {
        true
    }
}

/// The bound of a type parameter whose values are part of what a lock protects. The transformation writes this bound
/// into generic code of the program.
///
/// Where all values are copied, the bound is `Clone`. With the feature `copied_if_clone` the bound requires nothing, so
/// that the program's types need no more than in the program as it was written.
#[cfg(not(feature = "copied_if_clone"))]
pub trait Copied: Clone {}

#[cfg(not(feature = "copied_if_clone"))]
impl<V: Clone> Copied for V {}

/// The bound of a type parameter whose values are part of what a lock protects: requires nothing.
#[cfg(feature = "copied_if_clone")]
pub trait Copied {}

#[cfg(feature = "copied_if_clone")]
impl<V: ?Sized> Copied for V {}

/// A copy for another thread, without an event, by what may be known of the type. Where no copy can be made, or none that is the
/// same value, the execution ends here; returns `None` only where the execution is being ended already.
#[inline]
pub(crate) fn copy_of<V: Shadow>(
    handle: Handle,
    value: &V,
    hashing: Hashing,
    site: Site,
) -> Option<V> {
    let copy = copy_if_clone(handle, value, hashing, Some(site));
    match copy {
        Some(_) => is_copied(handle),
        None => is_not_copied::<V>(handle, Some(site)),
    }
    copy
}

/// A copy as [`copy_of`] makes it; `None` as well where the type isn't `Clone`.
#[inline]
pub(crate) fn copy_if_clone<V: Shadow>(
    handle: Handle,
    value: &V,
    mut hashing: Hashing,
    site: Option<Site>,
) -> Option<V> {
    let mut copy = copying::<V, _>(handle, site, || value.shadow())?;
    match clones::complete(&mut copy, value, &mut hashing) {
        Sameness::Same => {}
        Sameness::Destroys => is_destroyed_twice::<V>(handle, site),
        Sameness::NotKnown => may_be_another::<V>(handle, site),
        Sameness::Another => {
            is_another::<V>(handle, site);
            return None;
        }
    }
    Some(copy)
}

/// Whether an object lies in static memory; `None` where that is not known.
pub(crate) fn is_static<C>(cell: &C) -> Option<bool> {
    crate::process::knows_statics().then(|| crate::process::is_static(cell))
}
