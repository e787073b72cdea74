//! The functions that hash values, by type.

use std::any::TypeId;
use std::cell::Cell;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::{Hash as _, Hasher};
use std::marker::PhantomData;
use std::mem;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, PoisonError, RwLock};

use crate::memory::outside;

use super::std_types::{self, Word, Words};
use super::{Sameness, ValueHash, ValueHasher};

/// Hashes a value of the type that it is registered for.
pub(crate) type Function = unsafe fn(*const (), &mut ValueHasher);

/// Gives a copy of the type that it is registered for the room that a value has.
pub(crate) type KeepRoom = unsafe fn(*mut (), *const ());

/// How values are told apart in general.
#[derive(Debug)]
pub(crate) struct Known {
    feed: Function,
    keep_room: KeepRoom,
}

impl Known {
    const fn of<T: ValueHash>() -> Self {
        Self {
            feed: feed::<T>,
            keep_room: keep_room::<T>,
        }
    }
}

/// How rows of words, as vectors of integers and texts, are told apart. Their sizes mostly suffice.
#[derive(Debug)]
pub(crate) struct Row {
    /// Returns the number of words that there is room for.
    room: unsafe fn(*const ()) -> usize,
    /// Returns whether two rows have the same words.
    are_same: unsafe fn(*const (), *const ()) -> bool,
    feed: Function,
    keep_room: KeepRoom,
}

impl Row {
    const fn of<T: Words>() -> Self {
        /// # Safety
        /// `value` points to a valid `T`.
        unsafe fn room<T: Words>(value: *const ()) -> usize {
            // SAFETY: the caller's promise.
            unsafe { &*value.cast::<T>() }.room()
        }
        /// # Safety
        /// Both point to valid `T`s.
        unsafe fn are_same<T: Words>(one: *const (), other: *const ()) -> bool {
            // SAFETY: the caller's promise.
            unsafe { *one.cast::<T>() == *other.cast::<T>() }
        }
        Self {
            room: room::<T>,
            are_same: are_same::<T>,
            feed: feed::<T>,
            keep_room: keep_room::<T>,
        }
    }
}

static FUNCTIONS: LazyLock<RwLock<HashMap<TypeId, Hashing>>> = LazyLock::new(|| {
    // It may well be an event of some program that asks first.
    outside(|| {
        let mut functions = HashMap::new();
        std_types::register(&mut Registry(&mut functions));
        RwLock::new(functions)
    })
});

/// Where generated code says which types it has that can be hashed.
#[derive(Debug)]
pub struct Registry<'r>(&'r mut HashMap<TypeId, Hashing>);

impl Registry<'_> {
    /// Lets a program register its types.
    pub fn fill(register: impl FnOnce(&mut Registry<'_>)) {
        let mut functions = FUNCTIONS.write().unwrap_or_else(PoisonError::into_inner);
        outside(|| register(&mut Registry(&mut functions)));
        ADDITIONS.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that values of this type can be hashed. Returns whether that was not known.
    pub fn add<T: ValueHash>(&mut self) -> bool {
        match self.0.entry(identity::<T>()) {
            Entry::Vacant(place) => {
                place.insert(Hashing::By(const { &Known::of::<T>() }));
                true
            }
            Entry::Occupied(_) => false,
        }
    }

    /// Notes that values of this type are single words, as integers are.
    pub(super) fn add_word<T: Word>(&mut self) {
        let known = if T::SIGNED {
            Hashing::SignedWord
        } else {
            Hashing::Word
        };
        self.0.insert(identity::<T>(), known);
    }

    /// Notes that values of this type are rows of words.
    pub(super) fn add_row<T: Words>(&mut self) {
        self.0
            .insert(identity::<T>(), Hashing::Row(const { &Row::of::<T>() }));
    }

    /// Notes that values of this type can be hashed, and values of the collections of it that are used most.
    pub fn add_local<T: ValueHash>(&mut self) {
        self.add::<T>();
        self.add::<Box<T>>();
        self.add::<Option<T>>();
        self.add::<Option<Box<T>>>();
        self.add::<Vec<T>>();
        self.add::<Vec<Option<T>>>();
        self.add::<VecDeque<T>>();
        self.add_maps::<T>();
    }

    /// The maps to values of this type whose keys are what an inferred key mostly is.
    pub(super) fn add_maps<T: ValueHash>(&mut self) {
        self.add::<HashMap<i32, T>>();
        self.add::<HashMap<u32, T>>();
        self.add::<HashMap<u64, T>>();
        self.add::<HashMap<usize, T>>();
        self.add::<HashMap<String, T>>();
        self.add::<HashMap<&'static str, T>>();
        self.add::<BTreeMap<i32, T>>();
        self.add::<BTreeMap<u32, T>>();
        self.add::<BTreeMap<u64, T>>();
        self.add::<BTreeMap<usize, T>>();
        self.add::<BTreeMap<String, T>>();
    }
}

/// The number of times that [`FUNCTIONS`] has been added to.
static ADDITIONS: AtomicU32 = AtomicU32::new(0);

/// The number of types that are looked up without [`FUNCTIONS`].
const CACHED: usize = 16;

/// What was found for a type, and the value of [`ADDITIONS`] then.
struct Found {
    ty: Cell<Option<TypeId>>,
    then: Cell<u32>,
    known: Cell<Hashing>,
}

thread_local! {
    static CACHE: [Found; CACHED] = const {
        [const {
            Found {
                ty: Cell::new(None),
                then: Cell::new(0),
                known: Cell::new(Hashing::Unknown),
            }
        }; CACHED]
    };
}

/// How values of the type are hashed: asked at every event of a lock, so that the result is kept.
#[inline]
fn known<T>() -> Hashing {
    let ty = identity::<T>();
    let at = slot(ty);
    let additions = ADDITIONS.load(Ordering::Relaxed);
    CACHE.with(|cache| {
        let found = &cache[at];
        if found.ty.get() == Some(ty) && found.then.get() == additions {
            found.known.get()
        } else {
            look_up(ty, found, additions)
        }
    })
}

/// The index of a type's entry in the cache.
#[inline]
fn slot(ty: TypeId) -> usize {
    /// What a type's identity feeds is a hash already.
    struct Word(u64);
    impl Hasher for Word {
        fn finish(&self) -> u64 {
            self.0
        }
        fn write(&mut self, bytes: &[u8]) {
            for byte in bytes {
                self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
            }
        }
        fn write_u64(&mut self, word: u64) {
            self.0 ^= word;
        }
    }
    let mut word = Word(0);
    ty.hash(&mut word);
    word.finish() as usize % CACHED
}

#[cold]
#[inline(never)]
fn look_up(ty: TypeId, found: &Found, additions: u32) -> Hashing {
    let functions = FUNCTIONS.read().unwrap_or_else(PoisonError::into_inner);
    let known = functions.get(&ty).copied().unwrap_or_default();
    drop(functions);
    found.ty.set(Some(ty));
    found.then.set(additions);
    found.known.set(known);
    known
}

/// The hash of a value, if values of its type can be hashed. Integers and other words are their own, sign-extended: so
/// events tell them as they do those of atomics.
#[inline]
pub(crate) fn hash_of<T>(value: &T) -> Option<u64> {
    known::<T>().hash(value)
}

#[inline(never)]
fn hash_by<T>(value: &T, function: Function) -> Option<u64> {
    feed_by(value, function, ValueHasher::default())
}

/// The hash of a value that is to be compared with the hash of a copy; `None` where it has a part that can't be hashed.
#[inline(never)]
fn copy_hash_by<T>(value: &T, function: Function) -> Option<u64> {
    feed_by(value, function, ValueHasher::of_copy())
}

fn feed_by<T>(value: &T, function: Function, mut hasher: ValueHasher) -> Option<u64> {
    // SAFETY: the function was registered for this type: `identity` is injective up to lifetimes, of which `ValueHash`
    // makes no difference.
    unsafe { function(std::ptr::from_ref(value).cast(), &mut hasher) };
    hasher.finish()
}

/// The word of a value that is one, by what is known of its type.
#[inline]
fn word<T>(value: &T, signed: bool) -> u64 {
    let from = std::ptr::from_ref(value);
    // SAFETY: `T` was registered as an integer or the like, so that all of its bytes are initialized; of no other type is
    // more read than there is.
    unsafe {
        match (size_of::<T>(), signed) {
            (1, false) => u64::from(from.cast::<u8>().read()),
            (1, true) => i64::from(from.cast::<i8>().read()).cast_unsigned(),
            (2, false) => u64::from(from.cast::<u16>().read_unaligned()),
            (2, true) => i64::from(from.cast::<i16>().read_unaligned()).cast_unsigned(),
            (4, false) => u64::from(from.cast::<u32>().read_unaligned()),
            (4, true) => i64::from(from.cast::<i32>().read_unaligned()).cast_unsigned(),
            (8, _) => from.cast::<u64>().read_unaligned(),
            _ => 0,
        }
    }
}

/// How values of one type are hashed. It is kept beside the values, so that it is looked up once.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Hashing {
    /// The type has to be looked up, or its values can't be hashed.
    #[default]
    Unknown,
    /// Values are unsigned integers or the like, which are words, and need no hash.
    Word,
    /// Values are signed integers or the like.
    SignedWord,
    /// Values are rows of words.
    Row(&'static Row),
    By(&'static Known),
}

impl Hashing {
    /// The hash of a value; always of the same type.
    #[inline]
    pub(crate) fn hash_of<T>(&mut self, value: &T) -> Option<u64> {
        self.find::<T>();
        self.hash(value)
    }

    #[inline]
    fn hash<T>(self, value: &T) -> Option<u64> {
        match self {
            Self::Word => Some(word(value, false)),
            Self::SignedWord => Some(word(value, true)),
            Self::Row(row) => hash_by(value, row.feed),
            Self::By(known) => hash_by(value, known.feed),
            Self::Unknown => None,
        }
    }

    /// Makes what has come out of the value's `clone` the same value, as far as the room that a clone leaves out goes. Returns
    /// what hashes tell of it then; `None` where they tell nothing. Always of the same type.
    #[inline]
    pub(crate) fn complete_copy<T>(&mut self, copy: &mut T, value: &T) -> Option<Sameness> {
        self.find::<T>();
        let keep_room = match self {
            Self::Unknown => return None,
            Self::Word | Self::SignedWord => return Some(Sameness::Same),
            Self::Row(row) => row.keep_room,
            Self::By(known) => known.keep_room,
        };
        // SAFETY: it was registered for this type, see `hash_by`.
        unsafe {
            keep_room(
                std::ptr::from_mut(copy).cast(),
                std::ptr::from_ref(value).cast(),
            )
        };
        self.compare_copy(copy, value)
    }

    /// Whether values of the type are words or rows of words, whose clones are known; always of the same type.
    #[inline]
    pub(super) fn is_of_words<T>(&mut self) -> bool {
        self.find::<T>();
        matches!(self, Self::Word | Self::SignedWord | Self::Row(_))
    }

    /// What hashes tell of a clone of the value; `None` where they tell nothing. Always of the same type.
    #[inline]
    pub(crate) fn compare_copy<T>(&mut self, copy: &T, value: &T) -> Option<Sameness> {
        self.find::<T>();
        let feed = match self {
            Self::Unknown => return None,
            // What std's own words and rows of words clone is known.
            Self::Word | Self::SignedWord | Self::Row(_) => return Some(Sameness::Same),
            Self::By(known) => known.feed,
        };
        let of_value = copy_hash_by(value, feed)?;
        let is_same = copy_hash_by(copy, feed) == Some(of_value);
        Some(if is_same {
            Sameness::Same
        } else {
            Sameness::Another
        })
    }

    /// Whether the value has a hash; always of the same type.
    #[cfg(feature = "copied_if_clone")]
    pub(super) fn can_hash<T>(&mut self, value: &T) -> bool {
        self.hash_of(value).is_some()
    }

    #[inline]
    fn find<T>(&mut self) {
        if matches!(self, Self::Unknown) {
            *self = known::<T>();
        }
    }

    /// The number of words that a value has room for, if values of its type are rows of words; always of the same type.
    #[inline]
    pub(crate) fn room<T>(&mut self, value: &T) -> Option<usize> {
        self.find::<T>();
        match self {
            // SAFETY: it was registered for this type, see `hash_by`.
            Self::Row(row) => Some(unsafe { (row.room)(std::ptr::from_ref(value).cast()) }),
            _ => None,
        }
    }

    /// Whether a row has this room, and the words of another one; always of the same type, which `room` has been asked about.
    #[inline]
    pub(crate) fn is_row_like<T>(&self, value: &T, room: usize, other: &T) -> bool {
        let Self::Row(row) = self else { return false };
        let (value, other) = (std::ptr::from_ref(value), std::ptr::from_ref(other));
        // SAFETY: it was registered for this type, see `hash_by`.
        unsafe { (row.room)(value.cast()) == room && (row.are_same)(value.cast(), other.cast()) }
    }
}

/// Whether values of this type are known to have hashes.
#[inline]
pub(super) fn is_known<T>() -> bool {
    !matches!(known::<T>(), Hashing::Unknown)
}

/// # Safety
/// `value` points to a valid `T`.
unsafe fn feed<T: ValueHash>(value: *const (), to: &mut ValueHasher) {
    // SAFETY: the caller's promise.
    unsafe { &*value.cast::<T>() }.value_hash(to);
}

/// # Safety
/// Both point to valid `T`s, and nobody else uses the first one.
unsafe fn keep_room<T: ValueHash>(copy: *mut (), value: *const ()) {
    // SAFETY: the caller's promise.
    unsafe { &mut *copy.cast::<T>() }.keep_room(unsafe { &*value.cast::<T>() });
}

/// The identity of a type, its lifetimes left out: that of the same type with `'static` everywhere.
pub(crate) fn identity<T>() -> TypeId {
    trait Identity {
        fn identity(&self) -> TypeId
        where
            Self: 'static;
    }
    impl<T> Identity for PhantomData<T> {
        fn identity(&self) -> TypeId
        where
            Self: 'static,
        {
            TypeId::of::<T>()
        }
    }
    let phantom = PhantomData::<T>;
    let short: &dyn Identity = &phantom;
    // SAFETY: only the lifetime is changed, and only so that the method may be called, which reads nothing: lifetimes are not
    // there any more when the program runs.
    let long: &(dyn Identity + 'static) = unsafe { mem::transmute(short) };
    long.identity()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_are_types_without_lifetimes() {
        fn of_value<T>(_: &T) -> TypeId {
            identity::<T>()
        }
        let text = String::from("not static");
        let borrowed: &str = &text;
        assert_eq!(of_value(&borrowed), TypeId::of::<&'static str>());
        assert_eq!(identity::<Vec<u8>>(), TypeId::of::<Vec<u8>>());
        assert_ne!(identity::<u32>(), identity::<i32>());
        assert_ne!(identity::<Vec<u8>>(), identity::<Option<u8>>());
    }
}
