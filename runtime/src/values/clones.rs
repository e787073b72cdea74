//! Whether a clone is the same value as what it was made of.
//!
//! P̂ₖ copies values by their `Clone`, which may be the program's own code, or that of a crate that is not followed, and may make
//! any value: one with a new number, say, or one that leaves out what had been computed. Hashes tell that, of values that have
//! one. Of all others it is known where each part of the value was cloned by a `Clone` that clones parts one by one: one that is
//! derived, or one of std's. Types with such a `Clone` are [`ClonedByParts`].
//!
//! What a type is has to be asked in code that is generic in it, which takes specialisation. So without the feature
//! `copied_if_clone`, nothing is known of values without a hash. Those who need that feature are the searches that promise
//! something.

#[cfg(feature = "copied_if_clone")]
mod std_types;

use super::registry::Hashing;

/// What is known of a clone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sameness {
    /// It is the same value, as far as safe code can tell.
    Same,
    /// It may be the same value, but a part of it has a destructor of the program's own, which runs for each of the two.
    Destroys,
    /// It may be another value.
    NotKnown,
    /// It is another value.
    Another,
}

impl Sameness {
    /// What is known of a clone of which another part is that.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        self.max(other)
    }
}

/// A type whose `Clone` clones its parts one by one, and does nothing else, or one with a destructor.
///
/// Implemented by the runtime and by generated code only.
pub trait ClonedByParts {
    /// Gives the parts of a clone the room that the value's parts have, as far as `clone` leaves room out. Returns what is known
    /// of the clone then.
    fn complete_parts(&mut self, like: &Self) -> Sameness;

    /// What is known of a clone that can't be changed where it is: the key of a map.
    fn compare_parts(&self, like: &Self) -> Sameness;
}

/// Types without parts, or with such as are shared by all clones: a handle leads where it leads, and what is there is the same for
/// all who have one.
macro_rules! whole {
    ($([$($param:tt)*] $ty:ty;)*) => {$(
        impl<$($param)*> $crate::values::ClonedByParts for $ty {
            fn complete_parts(&mut self, _: &Self) -> $crate::values::Sameness {
                $crate::values::Sameness::Same
            }

            fn compare_parts(&self, _: &Self) -> $crate::values::Sameness {
                $crate::values::Sameness::Same
            }
        }
    )*};
}
pub(crate) use whole;

/// Completes a clone of any type, as [`ClonedByParts::complete_parts`] does. `hashing` is that of the type.
#[inline]
pub(crate) fn complete<T>(clone: &mut T, like: &T, hashing: &mut Hashing) -> Sameness {
    if hashing.is_of_words::<T>() || !cfg!(feature = "copied_if_clone") {
        let by_hash = hashing.complete_copy(clone, like);
        return by_hash.unwrap_or(Sameness::NotKnown);
    }
    complete_part(clone, like)
}

/// Completes a part of a clone.
#[inline]
pub fn complete_part<T>(clone: &mut T, like: &T) -> Sameness {
    #[cfg(feature = "copied_if_clone")]
    return clone.complete(like);
    #[cfg(not(feature = "copied_if_clone"))]
    {
        let _ = (clone, like);
        Sameness::NotKnown
    }
}

/// Compares a part of a clone, as [`ClonedByParts::compare_parts`] does.
#[inline]
pub fn compare_part<T>(clone: &T, like: &T) -> Sameness {
    #[cfg(feature = "copied_if_clone")]
    return clone.compare(like);
    #[cfg(not(feature = "copied_if_clone"))]
    {
        let _ = (clone, like);
        Sameness::NotKnown
    }
}

/// What is known of clones, for all types.
#[cfg(feature = "copied_if_clone")]
trait Judged {
    fn complete(&mut self, like: &Self) -> Sameness;
    fn compare(&self, like: &Self) -> Sameness;
}

#[cfg(feature = "copied_if_clone")]
impl<T> Judged for T {
    default fn complete(&mut self, like: &Self) -> Sameness {
        if is_copy::<T>() {
            return be_bits(self, like);
        }
        Hashing::default()
            .complete_copy(self, like)
            .unwrap_or(Sameness::NotKnown)
    }

    default fn compare(&self, like: &Self) -> Sameness {
        if is_copy::<T>() && !Hashing::default().can_hash(like) {
            // The trait's documentation requires it of all `Clone`s of such types.
            return Sameness::Same;
        }
        Hashing::default()
            .compare_copy(self, like)
            .unwrap_or(Sameness::NotKnown)
    }
}

#[cfg(feature = "copied_if_clone")]
impl<T: ClonedByParts> Judged for T {
    fn complete(&mut self, like: &Self) -> Sameness {
        if is_copy::<T>() {
            return be_bits(self, like);
        }
        self.complete_parts(like)
    }

    fn compare(&self, like: &Self) -> Sameness {
        self.compare_parts(like)
    }
}

/// Makes a clone of a type that is `Copy` what a copy would be, whatever its `Clone` has done.
#[cfg(feature = "copied_if_clone")]
fn be_bits<T>(clone: &mut T, like: &T) -> Sameness {
    debug_assert!(is_copy::<T>());
    // SAFETY: both are valid for values of the type, which are bits and own nothing.
    unsafe { std::ptr::copy(like, clone, 1) };
    Sameness::Same
}

/// A copy of a value that is known to be bits, without asking its `Clone`.
#[inline]
pub(crate) fn bits<T>(value: &T) -> Option<T> {
    #[cfg(feature = "copied_if_clone")]
    if is_copy::<T>() {
        // SAFETY: the type is `Copy`, so that its bits are another valid value.
        return Some(unsafe { std::ptr::read(value) });
    }
    let _ = value;
    None
}

/// Whether values of the type are bits that can be copied. The lifetimes of the type are not looked at.
#[cfg(feature = "copied_if_clone")]
#[inline]
pub(super) fn is_copy<T>() -> bool {
    trait IsCopy {
        fn is_copy() -> bool;
    }
    impl<T> IsCopy for T {
        default fn is_copy() -> bool {
            false
        }
    }
    impl<T: Copy> IsCopy for T {
        fn is_copy() -> bool {
            true
        }
    }
    T::is_copy()
}
