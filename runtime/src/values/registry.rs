//! Which function hashes the values of which type.

use std::any::TypeId;
use std::cell::Cell;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::{Hash as _, Hasher};
use std::marker::PhantomData;
use std::mem;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, PoisonError, RwLock};

use crate::buffer::outside;

use super::{ValueHash, ValueHasher, std_types};

/// Hashes a value of the type that it is registered for.
type Function = unsafe fn(*const (), &mut ValueHasher);

/// What there is for a type.
#[derive(Clone, Copy, Debug)]
enum Known {
    /// Its values are words, and need no hash.
    Word(Function),
    Hashed(Function),
}

static FUNCTIONS: LazyLock<RwLock<HashMap<TypeId, Known>>> = LazyLock::new(|| {
    // It may well be an event of some program that asks first.
    outside(|| {
        let mut functions = HashMap::new();
        std_types::register(&mut Registry(&mut functions));
        RwLock::new(functions)
    })
});

/// Where generated code says which types it has that can be hashed.
#[derive(Debug)]
pub struct Registry<'r>(&'r mut HashMap<TypeId, Known>);

impl Registry<'_> {
    /// Lets a program register its types.
    pub fn fill(register: impl FnOnce(&mut Registry<'_>)) {
        let mut functions = FUNCTIONS.write().unwrap_or_else(PoisonError::into_inner);
        outside(|| register(&mut Registry(&mut functions)));
        ADDITIONS.fetch_add(1, Ordering::Relaxed);
    }

    /// Values of this type can be hashed. The answer is whether that was not known.
    pub fn add<T: ValueHash>(&mut self) -> bool {
        match self.0.entry(identity::<T>()) {
            Entry::Vacant(place) => {
                place.insert(Known::Hashed(feed::<T>));
                true
            }
            Entry::Occupied(_) => false,
        }
    }

    /// Values of this type are hashed as a single word, which no two of them share.
    pub(super) fn add_word<T: ValueHash>(&mut self) {
        self.0.insert(identity::<T>(), Known::Word(feed::<T>));
    }

    /// Values of this type can be hashed, and those of the collections of it that are used most.
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

/// How often [`FUNCTIONS`] has been added to.
static ADDITIONS: AtomicU32 = AtomicU32::new(0);

/// How many types are looked up without [`FUNCTIONS`].
const CACHED: usize = 16;

/// What was found for a type, and how often [`FUNCTIONS`] had been added to then.
type Found = (TypeId, u32, Option<Known>);

thread_local! {
    static CACHE: [Cell<Option<Found>>; CACHED] = const { [const { Cell::new(None) }; CACHED] };
}

/// What there is for the type: looked up at every event of a lock, so that the answer is kept.
#[inline]
fn known<T>() -> Option<Known> {
    let ty = identity::<T>();
    let at = slot(ty);
    let additions = ADDITIONS.load(Ordering::Relaxed);
    let kept = CACHE.with(|cache| cache[at].get());
    match kept {
        Some((of, then, known)) if of == ty && then == additions => known,
        _ => look_up(ty, at, additions),
    }
}

/// Where a type's entry is.
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
fn look_up(ty: TypeId, at: usize, additions: u32) -> Option<Known> {
    let functions = FUNCTIONS.read().unwrap_or_else(PoisonError::into_inner);
    let known = functions.get(&ty).copied();
    drop(functions);
    CACHE.with(|cache| cache[at].set(Some((ty, additions, known))));
    known
}

/// The hash of a value, if values of its type can be hashed. Integers and other words are their own, sign-extended: so
/// events tell them as they do those of atomics.
#[inline]
pub(crate) fn hash_of<T>(value: &T) -> Option<u64> {
    hash(value, known::<T>()?)
}

fn hash<T>(value: &T, known: Known) -> Option<u64> {
    let (function, is_word) = match known {
        Known::Word(function) => (function, true),
        Known::Hashed(function) => (function, false),
    };
    let mut hasher = ValueHasher::default();
    // SAFETY: the function was registered for this type: `identity` is injective up to lifetimes, of which `ValueHash`
    // makes no difference.
    unsafe { function(std::ptr::from_ref(value).cast(), &mut hasher) };
    if is_word {
        Some(hasher.last)
    } else {
        hasher.finish()
    }
}

/// Whether values of this type are known to have hashes.
#[inline]
pub(super) fn is_known<T>() -> bool {
    known::<T>().is_some()
}

/// # Safety
/// `value` points to a valid `T`.
unsafe fn feed<T: ValueHash>(value: *const (), to: &mut ValueHasher) {
    // SAFETY: the caller's promise.
    unsafe { &*value.cast::<T>() }.value_hash(to);
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
