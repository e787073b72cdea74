//! Types of std whose `Clone` clones parts.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::cmp::Reverse;
use std::collections::hash_map::{DefaultHasher, RandomState};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::ffi::{CStr, CString, OsStr, OsString};
use std::hash::{BuildHasherDefault, Hash};
use std::num::{ParseFloatError, ParseIntError, Saturating, Wrapping};
use std::ops::{Bound, ControlFlow, Range, RangeFrom, RangeInclusive};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::Poll;
use std::thread::Thread;
use std::{slice, str, vec};

use super::{ClonedByParts, Sameness, compare_part, complete_part, is_copy};

super::whole! {
    [T: ?Sized] Arc<T>;
    [T: ?Sized] Weak<T>;
    [] Thread;
    [H] BuildHasherDefault<H>;
    [] RandomState;
    [] DefaultHasher;
    [] Box<str>;
    [] Box<CStr>;
    [] Box<OsStr>;
    [] Box<Path>;
    [] CString;
    [] ParseIntError;
    [] ParseFloatError;
    [] str::Chars<'_>;
    [] str::CharIndices<'_>;
    [] str::Bytes<'_>;
    [T] slice::Iter<'_, T>;
}

/// Types whose clones may have less room, and which have no other parts.
macro_rules! roomy {
    ($($ty:ty: $length:ident;)*) => {$(
        impl ClonedByParts for $ty {
            fn complete_parts(&mut self, like: &Self) -> Sameness {
                self.reserve_exact(like.capacity().saturating_sub(self.$length().len()));
                Sameness::Same
            }

            // As for a key with a hash, the room makes no difference.
            fn compare_parts(&self, _: &Self) -> Sameness {
                Sameness::Same
            }
        }
    )*};
}
roomy! {
    String: as_str;
    OsString: as_os_str;
    PathBuf: as_os_str;
}

/// What is known of parts that can be changed where they are.
fn complete_all<'p, T: 'p>(
    clones: impl Iterator<Item = &'p mut T>,
    like: impl Iterator<Item = &'p T>,
) -> Sameness {
    clones.zip(like).fold(Sameness::Same, |all, (clone, like)| {
        all.and(complete_part(clone, like))
    })
}

/// What is known of parts that can't be changed where they are.
fn compare_all<'p, T: 'p>(
    clones: impl Iterator<Item = &'p T>,
    like: impl Iterator<Item = &'p T>,
) -> Sameness {
    clones.zip(like).fold(Sameness::Same, |all, (clone, like)| {
        all.and(compare_part(clone, like))
    })
}

/// std copies rows of bits as such, without asking their `Clone`.
impl<T> ClonedByParts for Vec<T> {
    fn complete_parts(&mut self, like: &Self) -> Sameness {
        self.reserve_exact(like.capacity().saturating_sub(self.len()));
        if is_copy::<T>() {
            return Sameness::Same;
        }
        complete_all(self.iter_mut(), like.iter())
    }

    fn compare_parts(&self, like: &Self) -> Sameness {
        if is_copy::<T>() {
            return Sameness::Same;
        }
        compare_all(self.iter(), like.iter())
    }
}

impl<T> ClonedByParts for VecDeque<T> {
    fn complete_parts(&mut self, like: &Self) -> Sameness {
        self.reserve_exact(like.capacity().saturating_sub(self.len()));
        complete_all(self.iter_mut(), like.iter())
    }

    fn compare_parts(&self, like: &Self) -> Sameness {
        compare_all(self.iter(), like.iter())
    }
}

/// Types that give out their parts, to be changed and to be looked at.
macro_rules! mutable {
    ($([$($param:tt)*] $ty:ty;)*) => {$(
        impl<$($param)*> ClonedByParts for $ty {
            fn complete_parts(&mut self, like: &Self) -> Sameness {
                complete_all(self.iter_mut(), like.iter())
            }

            fn compare_parts(&self, like: &Self) -> Sameness {
                compare_all(self.iter(), like.iter())
            }
        }
    )*};
}
mutable! {
    [T] Option<T>;
    [T] LinkedList<T>;
    [T] Box<[T]>;
    [T, const N: usize] [T; N];
}

/// Types that give out their parts to be looked at.
macro_rules! fixed {
    ($($name:ident)*) => {$(
        impl<T> ClonedByParts for $name<T> {
            fn complete_parts(&mut self, like: &Self) -> Sameness {
                self.compare_parts(like)
            }

            fn compare_parts(&self, like: &Self) -> Sameness {
                compare_all(self.iter(), like.iter())
            }
        }
    )*};
}
fixed!(BTreeSet);

impl<T: Ord> ClonedByParts for BinaryHeap<T> {
    fn complete_parts(&mut self, like: &Self) -> Sameness {
        self.reserve_exact(like.capacity().saturating_sub(self.len()));
        self.compare_parts(like)
    }

    fn compare_parts(&self, like: &Self) -> Sameness {
        compare_all(self.iter(), like.iter())
    }
}

impl<T, S> ClonedByParts for HashSet<T, S> {
    // A clone is a set of the same buckets.
    fn complete_parts(&mut self, like: &Self) -> Sameness {
        self.compare_parts(like)
    }

    fn compare_parts(&self, like: &Self) -> Sameness {
        compare_part(self.hasher(), like.hasher()).and(compare_all(self.iter(), like.iter()))
    }
}

impl<K: Eq + Hash, V, S> ClonedByParts for HashMap<K, V, S> {
    // A clone is a map of the same buckets, so that its entries come in the same order.
    fn complete_parts(&mut self, like: &Self) -> Sameness {
        compare_part(self.hasher(), like.hasher())
            .and(compare_all(self.keys(), like.keys()))
            .and(complete_all(self.values_mut(), like.values()))
    }

    fn compare_parts(&self, like: &Self) -> Sameness {
        compare_part(self.hasher(), like.hasher())
            .and(compare_all(self.keys(), like.keys()))
            .and(compare_all(self.values(), like.values()))
    }
}

impl<K, V> ClonedByParts for BTreeMap<K, V> {
    fn complete_parts(&mut self, like: &Self) -> Sameness {
        compare_all(self.keys(), like.keys()).and(complete_all(self.values_mut(), like.values()))
    }

    fn compare_parts(&self, like: &Self) -> Sameness {
        compare_all(self.keys(), like.keys()).and(compare_all(self.values(), like.values()))
    }
}

impl<T> ClonedByParts for vec::IntoIter<T> {
    fn complete_parts(&mut self, like: &Self) -> Sameness {
        complete_all(self.as_mut_slice().iter_mut(), like.as_slice().iter())
    }

    fn compare_parts(&self, like: &Self) -> Sameness {
        compare_all(self.as_slice().iter(), like.as_slice().iter())
    }
}

/// Types whose parts are fields.
macro_rules! fields {
    ($([$($param:tt)*] $ty:ty: ($($at:tt)+);)*) => {$(
        impl<$($param)*> ClonedByParts for $ty {
            fn complete_parts(&mut self, like: &Self) -> Sameness {
                Sameness::Same$(.and(complete_part(&mut self.$at, &like.$at)))+
            }

            fn compare_parts(&self, like: &Self) -> Sameness {
                Sameness::Same$(.and(compare_part(&self.$at, &like.$at)))+
            }
        }
    )*};
}
fields! {
    [T] Wrapping<T>: (0);
    [T] Saturating<T>: (0);
    [T] Reverse<T>: (0);
    [T] Range<T>: (start end);
    [T] RangeFrom<T>: (start);
    [A] (A,): (0);
    [A, B] (A, B): (0 1);
    [A, B, C] (A, B, C): (0 1 2);
    [A, B, C, D] (A, B, C, D): (0 1 2 3);
    [A, B, C, D, E] (A, B, C, D, E): (0 1 2 3 4);
    [A, B, C, D, E, F] (A, B, C, D, E, F): (0 1 2 3 4 5);
    [A, B, C, D, E, F, G] (A, B, C, D, E, F, G): (0 1 2 3 4 5 6);
    [A, B, C, D, E, F, G, H] (A, B, C, D, E, F, G, H): (0 1 2 3 4 5 6 7);
}

impl<T> ClonedByParts for RangeInclusive<T> {
    fn complete_parts(&mut self, like: &Self) -> Sameness {
        self.compare_parts(like)
    }

    fn compare_parts(&self, like: &Self) -> Sameness {
        compare_part(self.start(), like.start()).and(compare_part(self.end(), like.end()))
    }
}

impl<T> ClonedByParts for Box<T> {
    fn complete_parts(&mut self, like: &Self) -> Sameness {
        complete_part(&mut **self, &**like)
    }

    fn compare_parts(&self, like: &Self) -> Sameness {
        compare_part(&**self, &**like)
    }
}

impl<T> ClonedByParts for Pin<Box<T>> {
    fn complete_parts(&mut self, like: &Self) -> Sameness {
        self.compare_parts(like)
    }

    fn compare_parts(&self, like: &Self) -> Sameness {
        compare_part(&**self, &**like)
    }
}

impl<T: Copy> ClonedByParts for Cell<T> {
    fn complete_parts(&mut self, _: &Self) -> Sameness {
        Sameness::Same
    }

    fn compare_parts(&self, _: &Self) -> Sameness {
        Sameness::Same
    }
}

impl<T> ClonedByParts for RefCell<T> {
    fn complete_parts(&mut self, like: &Self) -> Sameness {
        // A borrow that is still there has been leaked, and a clone has none.
        like.try_borrow().map_or(Sameness::Another, |like| {
            complete_part(self.get_mut(), &like)
        })
    }

    fn compare_parts(&self, like: &Self) -> Sameness {
        match (self.try_borrow(), like.try_borrow()) {
            (Ok(clone), Ok(like)) => compare_part(&*clone, &like),
            _ => Sameness::Another,
        }
    }
}

impl<T> ClonedByParts for OnceCell<T> {
    fn complete_parts(&mut self, like: &Self) -> Sameness {
        match (self.get_mut(), like.get()) {
            (Some(clone), Some(like)) => complete_part(clone, like),
            _ => Sameness::Same,
        }
    }

    fn compare_parts(&self, like: &Self) -> Sameness {
        compare_all(self.get().into_iter(), like.get().into_iter())
    }
}

impl<T: ToOwned + ?Sized> ClonedByParts for Cow<'_, T> {
    fn complete_parts(&mut self, like: &Self) -> Sameness {
        match (self, like) {
            (Cow::Owned(clone), Cow::Owned(like)) => complete_part(clone, like),
            _ => Sameness::Same,
        }
    }

    fn compare_parts(&self, like: &Self) -> Sameness {
        match (self, like) {
            (Cow::Owned(clone), Cow::Owned(like)) => compare_part(clone, like),
            _ => Sameness::Same,
        }
    }
}

/// Enums whose variants have at most one part.
macro_rules! variants {
    ($([$($param:tt)*] $ty:ty: $($variant:path)+;)*) => {$(
        impl<$($param)*> ClonedByParts for $ty {
            fn complete_parts(&mut self, like: &Self) -> Sameness {
                match (self, like) {
                    $(($variant(clone), $variant(like)) => complete_part(clone, like),)+
                    #[allow(unreachable_patterns)]
                    _ => Sameness::Same,
                }
            }

            fn compare_parts(&self, like: &Self) -> Sameness {
                match (self, like) {
                    $(($variant(clone), $variant(like)) => compare_part(clone, like),)+
                    #[allow(unreachable_patterns)]
                    _ => Sameness::Same,
                }
            }
        }
    )*};
}
variants! {
    [T, E] Result<T, E>: Ok Err;
    [T] Poll<T>: Poll::Ready;
    [T] Bound<T>: Bound::Included Bound::Excluded;
    [B, C] ControlFlow<B, C>: ControlFlow::Break ControlFlow::Continue;
}
