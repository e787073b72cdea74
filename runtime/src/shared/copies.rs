//! Copies of the values that threads share: which types have copies, and what happens to a program that needs a copy of
//! another type's value.
//!
//! Without the feature `copied_if_clone`, the types of all shared values have to be `Clone`, and rustc names the types
//! that aren't. With this feature, values may have any type: where a copy of a value is needed whose type isn't
//! `Clone`, the execution ends as one that can't be followed. So a type that isn't `Clone` behind a lock only affects
//! the harnesses that come to that lock. The scheduled machine needs no copies.

use super::quietly;
use crate::engine::{Handle, unsupported};
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
        Some(self.clone())
    }

    #[inline]
    unsafe fn initial(&self) -> Self {
        self.clone()
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

/// A copy for another thread, without an event. Where the type has no copies, the execution ends here; returns `None`
/// only where the execution is being ended already.
#[inline]
pub(crate) fn copy_of<V: Shadow>(handle: Handle, value: &V, site: Site) -> Option<V> {
    let copy = quietly(handle, || value.shadow());
    if copy.is_none() {
        is_not_copied::<V>(handle, Some(site));
    }
    copy
}

/// Ends the execution, which would need a copy of a value that can't be copied.
#[cold]
#[inline(never)]
pub(crate) fn is_not_copied<V>(handle: Handle, site: Option<Site>) {
    let name = short(std::any::type_name::<V>());
    let message = format!(
        "`{name}` is shared between the threads, so it has to be `Clone`: they run one after the other, each on its own copies"
    );
    unsupported(handle, message, site);
}

/// Whether an object lies in static memory; `None` where that is not known.
pub(crate) fn is_static<C>(cell: &C) -> Option<bool> {
    #[cfg(feature = "scheduler")]
    if crate::process::knows_statics() {
        return Some(crate::process::is_static(cell));
    }
    let _ = cell;
    None
}

/// The name of a type without the modules that its parts are in.
fn short(name: &str) -> String {
    let mut short = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find("::") {
        short.push_str(&rest[..at]);
        let in_path = |c: char| c.is_alphanumeric() || "_{}#".contains(c);
        short.truncate(short.trim_end_matches(in_path).len());
        rest = &rest[at + 2..];
    }
    short.push_str(rest);
    short
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn names_are_told_without_modules() {
        let name = std::any::type_name::<Vec<Box<dyn Fn(u8, &str) -> Option<char> + Send>>>();
        assert_eq!(
            short(name),
            "Vec<Box<dyn Fn(u8, &'_ str) -> Option<char> + Send>>"
        );
        assert_eq!(
            short(std::any::type_name::<Box<dyn FnOnce() + Send>>()),
            "Box<dyn FnOnce() + Send>"
        );
        assert_eq!(
            short("a::b::{{closure}}::C<'_, [d::e_1::F; 3]>"),
            "C<'_, [F; 3]>"
        );
        assert_eq!(short("u8"), "u8");
    }
}
