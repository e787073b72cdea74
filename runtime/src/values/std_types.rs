//! Values of std's types.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, LinkedList, VecDeque};
use std::marker::PhantomData;
use std::num::{NonZero, Saturating, Wrapping};
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;
use std::time::Duration;

use super::{Registry, ValueHash, ValueHasher};

/// Integers and the like: types whose values are told apart by their bits.
pub(super) trait Word: ValueHash {
    /// Whether the type has a sign.
    const SIGNED: bool;
}

/// Types that hold words one after the other, and whose values are told apart by the words and by the room for them.
pub(super) trait Words: ValueHash + PartialEq {
    /// The number of words that there is room for.
    fn room(&self) -> usize;
}

impl<T: Word + PartialEq> Words for Vec<T> {
    fn room(&self) -> usize {
        self.capacity()
    }
}

impl<T: Word + PartialEq> Words for VecDeque<T> {
    fn room(&self) -> usize {
        self.capacity()
    }
}

impl Words for String {
    fn room(&self) -> usize {
        self.capacity()
    }
}

macro_rules! words {
    ($signed:literal: $($ty:ty)*) => {$(
        impl Word for $ty {
            const SIGNED: bool = $signed;
        }

        impl ValueHash for $ty {
            #[inline]
            #[allow(clippy::cast_lossless, clippy::cast_sign_loss)]
            fn value_hash(&self, to: &mut ValueHasher) {
                to.word(*self as u64);
            }

            #[inline]
            fn all(values: &[Self], to: &mut ValueHasher) {
                let length = size_of_val(values);
                // SAFETY: integers and the like have no padding: all of their bytes are initialized.
                to.bytes(unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), length) });
            }
        }
    )*};
}
words!(false: u8 u16 u32 u64 usize bool char);
words!(true: i8 i16 i32 i64 isize);

impl ValueHash for u128 {
    #[allow(clippy::cast_possible_truncation)]
    fn value_hash(&self, to: &mut ValueHasher) {
        to.word(*self as u64);
        to.word((*self >> 64) as u64);
    }
}

impl ValueHash for i128 {
    fn value_hash(&self, to: &mut ValueHasher) {
        self.cast_unsigned().value_hash(to);
    }
}

// By their bits: the program can tell 0.0 from -0.0, and one NaN from another.
impl ValueHash for f32 {
    fn value_hash(&self, to: &mut ValueHasher) {
        to.word(u64::from(self.to_bits()));
    }
}

impl ValueHash for f64 {
    fn value_hash(&self, to: &mut ValueHasher) {
        to.word(self.to_bits());
    }
}

impl ValueHash for () {
    fn value_hash(&self, _: &mut ValueHasher) {}
}

impl<T: ?Sized> ValueHash for PhantomData<T> {
    fn value_hash(&self, _: &mut ValueHasher) {}
}

impl ValueHash for str {
    fn value_hash(&self, to: &mut ValueHasher) {
        to.word(self.len() as u64);
        to.bytes(self.as_bytes());
    }
}

impl ValueHash for String {
    fn value_hash(&self, to: &mut ValueHasher) {
        to.room(self.capacity());
        self.as_str().value_hash(to);
    }

    fn keep_room(&mut self, like: &Self) {
        self.reserve_exact(like.capacity().saturating_sub(self.len()));
    }
}

impl ValueHash for Duration {
    fn value_hash(&self, to: &mut ValueHasher) {
        self.as_nanos().value_hash(to);
    }
}

impl ValueHash for std::cmp::Ordering {
    #[allow(clippy::cast_sign_loss)]
    fn value_hash(&self, to: &mut ValueHasher) {
        to.word(*self as i8 as u64);
    }
}

macro_rules! non_zero {
    ($($ty:ty)*) => {$(
        impl ValueHash for NonZero<$ty> {
            fn value_hash(&self, to: &mut ValueHasher) {
                self.get().value_hash(to);
            }
        }
    )*};
}
non_zero!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

macro_rules! wrappers {
    ($($wrapper:ident)*) => {$(
        impl<T: ValueHash> ValueHash for $wrapper<T> {
            fn value_hash(&self, to: &mut ValueHasher) {
                self.0.value_hash(to);
            }

            fn keep_room(&mut self, like: &Self) {
                self.0.keep_room(&like.0);
            }
        }
    )*};
}
wrappers!(Wrapping Saturating Reverse);

/// The program can tell two of them with equal contents apart: by `ptr::eq`, and by `as_ptr`.
impl<T: ValueHash + ?Sized> ValueHash for &T {
    fn value_hash(&self, to: &mut ValueHasher) {
        to.place(std::ptr::from_ref::<T>(self).cast());
        (**self).value_hash(to);
    }
}

impl<T: ValueHash + ?Sized> ValueHash for Box<T> {
    fn value_hash(&self, to: &mut ValueHasher) {
        (**self).value_hash(to);
    }

    fn keep_room(&mut self, like: &Self) {
        (**self).keep_room(like);
    }
}

impl<T: ValueHash + ToOwned<Owned: ValueHash> + ?Sized> ValueHash for Cow<'_, T> {
    fn value_hash(&self, to: &mut ValueHasher) {
        to.word(u64::from(matches!(self, Cow::Owned(_))));
        match self {
            Cow::Borrowed(value) => value.value_hash(to),
            Cow::Owned(value) => to.fixed(value),
        }
    }
}

/// The program can tell two of them with equal contents apart by `Arc::ptr_eq`.
impl<T: ValueHash + ?Sized> ValueHash for Arc<T> {
    fn value_hash(&self, to: &mut ValueHasher) {
        to.place(Arc::as_ptr(self).cast());
        (**self).value_hash(to);
    }
}

impl<T: ValueHash> ValueHash for Option<T> {
    fn value_hash(&self, to: &mut ValueHasher) {
        to.word(u64::from(self.is_some()));
        if let Some(value) = self {
            value.value_hash(to);
        }
    }

    fn keep_room(&mut self, like: &Self) {
        if let (Some(value), Some(like)) = (self, like) {
            value.keep_room(like);
        }
    }
}

impl<T: ValueHash, E: ValueHash> ValueHash for Result<T, E> {
    fn value_hash(&self, to: &mut ValueHasher) {
        to.word(u64::from(self.is_ok()));
        match self {
            Ok(value) => value.value_hash(to),
            Err(error) => error.value_hash(to),
        }
    }

    fn keep_room(&mut self, like: &Self) {
        match (self, like) {
            (Ok(value), Ok(like)) => value.keep_room(like),
            (Err(error), Err(like)) => error.keep_room(like),
            _ => {}
        }
    }
}

impl<T: ValueHash> ValueHash for Range<T> {
    fn value_hash(&self, to: &mut ValueHasher) {
        self.start.value_hash(to);
        self.end.value_hash(to);
    }
}

/// std does not show whether a range has been gone through.
impl<T: ValueHash + PartialOrd> ValueHash for RangeInclusive<T> {
    fn value_hash(&self, to: &mut ValueHasher) {
        self.start().value_hash(to);
        self.end().value_hash(to);
        to.word(u64::from(self.is_empty()));
    }
}

impl<T: Copy + ValueHash> ValueHash for Cell<T> {
    fn value_hash(&self, to: &mut ValueHasher) {
        self.get().value_hash(to);
    }
}

impl<T: ValueHash> ValueHash for RefCell<T> {
    fn value_hash(&self, to: &mut ValueHasher) {
        // A borrow that outlives a lock's guard has been leaked.
        to.word(u64::from(self.try_borrow_mut().is_ok()));
        match self.try_borrow() {
            Ok(value) => value.value_hash(to),
            Err(_) => to.opaque(),
        }
    }

    fn keep_room(&mut self, like: &Self) {
        if let Ok(like) = like.try_borrow() {
            self.get_mut().keep_room(&like);
        }
    }
}

impl<T: ValueHash> ValueHash for [T] {
    fn value_hash(&self, to: &mut ValueHasher) {
        to.word(self.len() as u64);
        T::all(self, to);
    }

    fn keep_room(&mut self, like: &Self) {
        for (part, like) in self.iter_mut().zip(like) {
            part.keep_room(like);
        }
    }
}

impl<T: ValueHash, const N: usize> ValueHash for [T; N] {
    fn value_hash(&self, to: &mut ValueHasher) {
        T::all(self, to);
    }

    fn keep_room(&mut self, like: &Self) {
        self.as_mut_slice().keep_room(like.as_slice());
    }
}

impl<T: ValueHash> ValueHash for Vec<T> {
    fn value_hash(&self, to: &mut ValueHasher) {
        to.room(self.capacity());
        self.as_slice().value_hash(to);
    }

    fn keep_room(&mut self, like: &Self) {
        self.reserve_exact(like.capacity().saturating_sub(self.len()));
        self.as_mut_slice().keep_room(like.as_slice());
    }
}

macro_rules! sequences {
    ($($name:ident)*) => {$(
        impl<T: ValueHash> ValueHash for $name<T> {
            fn value_hash(&self, to: &mut ValueHasher) {
                to.word(self.len() as u64);
                self.iter().for_each(|part| to.fixed(part));
            }
        }
    )*};
}
sequences!(LinkedList BTreeSet);

impl<T: ValueHash> ValueHash for VecDeque<T> {
    fn value_hash(&self, to: &mut ValueHasher) {
        to.room(self.capacity());
        to.word(self.len() as u64);
        self.iter().for_each(|part| part.value_hash(to));
    }

    fn keep_room(&mut self, like: &Self) {
        self.reserve_exact(like.capacity().saturating_sub(self.len()));
        for (part, like) in self.iter_mut().zip(like) {
            part.keep_room(like);
        }
    }
}

impl<K: ValueHash, V: ValueHash> ValueHash for BTreeMap<K, V> {
    fn value_hash(&self, to: &mut ValueHasher) {
        to.word(self.len() as u64);
        for (key, value) in self {
            to.fixed(key);
            value.value_hash(to);
        }
    }

    fn keep_room(&mut self, like: &Self) {
        for (value, like) in self.values_mut().zip(like.values()) {
            value.keep_room(like);
        }
    }
}

// With std's random keys only: the order of the entries of another map is the same in every run, and a program may build
// on it.
impl<K: ValueHash, V: ValueHash> ValueHash for HashMap<K, V> {
    fn value_hash(&self, to: &mut ValueHasher) {
        to.room(self.capacity());
        to.unordered(self.iter(), |(key, value), to| {
            to.fixed(key);
            value.value_hash(to);
        });
    }

    // A clone is a map of the same buckets, so that its entries come in the same order.
    fn keep_room(&mut self, like: &Self) {
        for (value, like) in self.values_mut().zip(like.values()) {
            value.keep_room(like);
        }
    }
}

impl<T: ValueHash> ValueHash for HashSet<T> {
    fn value_hash(&self, to: &mut ValueHasher) {
        to.room(self.capacity());
        to.unordered(self.iter(), |part, to| to.fixed(part));
    }
}

macro_rules! tuples {
    ($(($($name:ident $at:tt),+);)*) => {$(
        impl<$($name: ValueHash),+> ValueHash for ($($name,)+) {
            fn value_hash(&self, to: &mut ValueHasher) {
                $(self.$at.value_hash(to);)+
            }

            fn keep_room(&mut self, like: &Self) {
                $(self.$at.keep_room(&like.$at);)+
            }
        }
    )*};
}
tuples! {
    (A 0);
    (A 0, B 1);
    (A 0, B 1, C 2);
    (A 0, B 1, C 2, D 3);
    (A 0, B 1, C 2, D 3, E 4);
    (A 0, B 1, C 2, D 3, E 4, F 5);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
}

/// Registers what a program has behind its locks without naming the type: what literals and std's functions give.
pub(super) fn register(registry: &mut Registry<'_>) {
    macro_rules! plain {
        ($($ty:ty)*) => {$(
            registry.add_word::<$ty>();
            registry.add_row::<Vec<$ty>>();
            registry.add_row::<VecDeque<$ty>>();
        )*};
    }
    registry.add_row::<String>();
    plain!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize bool char);
    macro_rules! each {
        ($($ty:ty)*) => {$(
            registry.add::<$ty>();
            registry.add::<Box<$ty>>();
            registry.add::<Option<$ty>>();
            registry.add::<Vec<$ty>>();
            registry.add::<VecDeque<$ty>>();
            registry.add::<(bool, $ty)>();
            registry.add::<($ty, bool)>();
            registry.add::<($ty, $ty)>();
        )*};
    }
    macro_rules! ordered {
        ($($ty:ty)*) => {$(
            each!($ty);
            registry.add::<HashSet<$ty>>();
            registry.add::<BTreeSet<$ty>>();
        )*};
    }
    macro_rules! pairs {
        ($($ty:ty)*) => {$(
            registry.add::<(i32, $ty)>();
            registry.add::<(u32, $ty)>();
            registry.add::<(u64, $ty)>();
            registry.add::<(usize, $ty)>();
            registry.add::<(String, $ty)>();
            registry.add::<Vec<(i32, $ty)>>();
            registry.add::<Vec<(u32, $ty)>>();
            registry.add::<Vec<(usize, $ty)>>();
            registry.add::<Vec<Vec<$ty>>>();
            registry.add::<Vec<Option<$ty>>>();
            registry.add_maps::<$ty>();
        )*};
    }
    each!(() f32 f64 Duration);
    ordered!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize bool char String & 'static str);
    pairs!(i32 u32 u64 usize bool String & 'static str);
}
