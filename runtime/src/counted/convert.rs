//! What an `Arc` can be made of.

use std::borrow::Cow;
use std::ffi::{CStr, CString, OsStr, OsString};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc as Handle;

use super::Arc;

impl<T, const OBSERVED: bool> From<T> for Arc<T, OBSERVED> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

/// The types of which std makes an `Arc`.
macro_rules! from {
    ($([$($generics:tt)*] $from:ty => $to:ty;)*) => {$(
        impl<$($generics)* const OBSERVED: bool> From<$from> for Arc<$to, OBSERVED> {
            fn from(value: $from) -> Self {
                Self::first(Handle::from(value))
            }
        }
    )*};
}

from! {
    [T: ?Sized,] Box<T> => T;
    [T,] Vec<T> => [T];
    [T: Clone,] &[T] => [T];
    [T: Clone,] &mut [T] => [T];
    [T, const N: usize,] [T; N] => [T];
    [] &str => str;
    [] &mut str => str;
    [] String => str;
    [] &CStr => CStr;
    [] CString => CStr;
    [] &OsStr => OsStr;
    [] OsString => OsStr;
    [] &Path => Path;
    [] PathBuf => Path;
}

impl<'a, B, const OBSERVED: bool> From<Cow<'a, B>> for Arc<B, OBSERVED>
where
    B: ToOwned + ?Sized,
    Handle<B>: From<&'a B> + From<B::Owned>,
{
    fn from(value: Cow<'a, B>) -> Self {
        Self::first(Handle::from(value))
    }
}

impl<const OBSERVED: bool> From<Arc<str, OBSERVED>> for Arc<[u8], OBSERVED> {
    fn from(value: Arc<str, OBSERVED>) -> Self {
        Self::of(Handle::from(Arc::handle(value)))
    }
}

impl<T, const N: usize, const OBSERVED: bool> TryFrom<Arc<[T], OBSERVED>>
    for Arc<[T; N], OBSERVED>
{
    type Error = Arc<[T], OBSERVED>;

    fn try_from(value: Arc<[T], OBSERVED>) -> Result<Self, Self::Error> {
        Handle::try_from(Arc::handle(value))
            .map(Self::of)
            .map_err(Arc::of)
    }
}

impl<T, const OBSERVED: bool> FromIterator<T> for Arc<[T], OBSERVED> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self::first(Handle::from_iter(items))
    }
}

impl<T: Default, const OBSERVED: bool> Default for Arc<T, OBSERVED> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

// std may give all empty strings and slices one allocation; here each default has an allocation of its own.
impl<const OBSERVED: bool> Default for Arc<str, OBSERVED> {
    fn default() -> Self {
        Self::from("")
    }
}

impl<T, const OBSERVED: bool> Default for Arc<[T], OBSERVED> {
    fn default() -> Self {
        Self::from(Vec::new())
    }
}

impl<const OBSERVED: bool> Default for Arc<CStr, OBSERVED> {
    fn default() -> Self {
        Self::from(c"")
    }
}

impl<T: ?Sized, const OBSERVED: bool> Default for Pin<Arc<T, OBSERVED>>
where
    Arc<T, OBSERVED>: Default,
{
    fn default() -> Self {
        // SAFETY: an `Arc` never moves the value that it leads to.
        unsafe { Pin::new_unchecked(Arc::default()) }
    }
}
