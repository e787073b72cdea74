//! Hashes of values: what of a shared value the program can tell apart.
//!
//! A search over the values that threads observe needs to know when two values are the same. For an atomic its bits
//! tell that. What a lock protects may be of any type `T`, and the lock's own code is generic and knows no more of `T`
//! than that it can be copied. Rust has no specialisation, so the function that hashes values of a type is found at run
//! time, by the type's identity: see [`registry`]. It is there for
//! - the types of [`std_types`], alone and in the usual containers;
//! - the program's own types, for which the transformation writes [`ValueHash`] next to the definition, and types made of
//!   them that the source names.
//!
//! Values of all other types, and of types that have a part of such a type, are *opaque*: their hash is that of the history
//! that made them, see `seqz_runtime::scheduled::values`.
//!
//! # What is part of a value
//! Everything that safe code can find out about it, the capacity of a collection and where a reference leads among it. There
//! are these exceptions, all of which would make a program depend on what std does not promise: where on the heap the
//! parts of a value lie, except the identity of an `Arc`; where in its buffer a `VecDeque` begins; the order in which a hash
//! map with std's random keys gives out its entries.
//!
//! Objects that have events of their own (locks, atomics) count as what they are, not as what is in them: a look inside
//! is an event, which tells what it found.

pub mod clones;
mod local;
mod registry;
mod std_types;

pub use clones::{ClonedByParts, Sameness};
pub use local::{Opaque, Part, Roomless, Roomy, Type, Unregistered, local};
pub(crate) use registry::Hashing;
pub use registry::Registry;
pub(crate) use registry::{hash_of, identity};

/// Values that can be told apart by a hash.
///
/// Implemented by the runtime and by generated code only: an implementation must hold for all lifetimes in its type alike,
/// must feed everything into the hash that the program can find out about the value, and must not run code of the program.
pub trait ValueHash {
    /// Feeds the value into a hash. How much is fed must show from what has been fed before.
    fn value_hash(&self, to: &mut ValueHasher);

    /// Feeds values that lie one after the other. The caller has fed how many there are.
    #[inline]
    fn all(values: &[Self], to: &mut ValueHasher)
    where
        Self: Sized,
    {
        values.iter().for_each(|value| value.value_hash(to));
    }

    /// Gives a copy the room that the value has, as far as a clone leaves room out: the capacity of a vector, say.
    #[inline]
    fn keep_room(&mut self, like: &Self) {
        let _ = like;
    }
}

/// A hash of a value that is being made.
#[derive(Debug, Default)]
pub struct ValueHasher {
    hash: u64,
    opaque: bool,
    /// Whether the value is compared with a copy of it.
    compares_copy: bool,
    /// Whether the part that is fed can't be changed where it is: a key of a map.
    is_fixed: bool,
}

impl ValueHasher {
    /// Feeds a word.
    #[inline]
    pub fn word(&mut self, word: u64) {
        self.hash = mix_in(self.hash, word);
    }

    /// Makes the hash of a value that is to be compared with the hash of a copy.
    const fn of_copy() -> Self {
        Self {
            hash: 0,
            opaque: false,
            compares_copy: true,
            is_fixed: false,
        }
    }

    /// Feeds the number of elements that a collection has room for. A copy can't be given the room of a part that is fixed, as
    /// the key of a map: there the room makes no difference between a value and its copy.
    #[inline]
    fn room(&mut self, elements: usize) {
        if !(self.compares_copy && self.is_fixed) {
            self.word(elements as u64);
        }
    }

    /// Feeds a part that can't be changed where it is.
    fn fixed(&mut self, part: &(impl ValueHash + ?Sized)) {
        let before = std::mem::replace(&mut self.is_fixed, true);
        part.value_hash(self);
        self.is_fixed = before;
    }

    /// Feeds bytes, of which the caller has said how many there are.
    #[inline]
    fn bytes(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.word(u64::from_le_bytes(*word));
        }
        if !rest.is_empty() {
            // The last bytes, with bytes before them if there are any, so that they are a word.
            let last = bytes.last_chunk::<8>().copied();
            self.word(last.map_or_else(
                || {
                    rest.iter()
                        .fold(0, |word, &byte| word << 8 | u64::from(byte))
                },
                u64::from_le_bytes,
            ));
        }
    }

    /// Feeds where something lies on the heap, told in a way that does not depend on the schedule. Where nothing is scheduled,
    /// hashes are compared within one execution only, and addresses will do.
    pub(crate) fn place(&mut self, address: *const ()) {
        if let Some(machine) = crate::scheduled::current() {
            self.word(machine.place_of(address.addr()));
            return;
        }
        self.word(address.addr() as u64);
    }

    /// Notes that the value has a part that can't be hashed.
    pub const fn opaque(&mut self) {
        self.opaque = true;
    }

    /// Feeds the parts of a collection whose order means nothing.
    pub(crate) fn unordered<I: ExactSizeIterator>(
        &mut self,
        parts: I,
        mut feed: impl FnMut(I::Item, &mut Self),
    ) {
        self.word(parts.len() as u64);
        let mut sum = 0_u64;
        for part in parts {
            let mut of_part = Self {
                hash: 0,
                opaque: false,
                ..*self
            };
            feed(part, &mut of_part);
            self.opaque |= of_part.opaque;
            sum = sum.wrapping_add(mix(SEED, of_part.hash));
        }
        self.word(sum);
    }

    /// The hash, or nothing if there was a part that can't be hashed.
    pub(crate) fn finish(&self) -> Option<u64> {
        (!self.opaque).then(|| mix(SEED, self.hash))
    }
}

const SEED: u64 = 0x5e9_2f0d_11c3_7a65;

/// Mixes the next word into a hash: a multiplication of which no half is lost. Values may be long.
#[inline]
const fn mix_in(hash: u64, word: u64) -> u64 {
    let wide = (hash.rotate_left(23) ^ word ^ SEED) as u128 * 0x9e37_79b9_7f4a_7c15_u64 as u128;
    (wide as u64) ^ ((wide >> 64) as u64)
}

/// Mixes a word into a hash. Programs that are not scheduled hash values too, and have no other crate to do it.
#[inline]
const fn mix(hash: u64, word: u64) -> u64 {
    let word = hash.rotate_left(5) ^ word.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    // The finaliser of SplitMix64.
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}
