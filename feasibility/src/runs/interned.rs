//! Sequences that are kept once each and have numbers.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// A map that is quick where keys are short.
pub(super) type Map<K, V> = HashMap<K, V, BuildHasherDefault<Quick>>;

/// Multiplies and rotates.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Quick(u64);

impl Quick {
    #[inline]
    const fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(26) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

impl Hasher for Quick {
    #[inline]
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.mix(u64::from(byte));
        }
    }

    #[inline]
    fn write_u32(&mut self, word: u32) {
        self.mix(u64::from(word));
    }

    #[inline]
    fn write_u64(&mut self, word: u64) {
        self.mix(word);
    }

    #[inline]
    fn write_usize(&mut self, word: usize) {
        self.mix(word as u64);
    }
}

/// Sequences, each of them once.
#[derive(Clone, Debug)]
pub(super) struct Interned<T> {
    items: Vec<T>,
    /// The range of each sequence among the items.
    places: Vec<(usize, usize)>,
    /// By hash, the number of the latest sequence with that hash; `before` has for each sequence the previous one with
    /// its hash.
    latest: Map<u64, u32>,
    before: Vec<Option<u32>>,
}

impl<T> Default for Interned<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            places: Vec::new(),
            latest: Map::default(),
            before: Vec::new(),
        }
    }
}

impl<T: Copy + Eq + Hash> Interned<T> {
    /// The number of this sequence.
    pub(super) fn number(&mut self, sequence: &[T]) -> u32 {
        let mut hasher = Quick::default();
        for item in sequence {
            item.hash(&mut hasher);
        }
        let new = super::index(self.places.len());
        let latest = self.latest.entry(hasher.finish()).or_insert(new);
        let mut before = None;
        if *latest != new {
            let mut next = Some(*latest);
            while let Some(at) = next {
                let (from, to) = self.places[at as usize];
                if self.items[from..to] == *sequence {
                    return at;
                }
                next = self.before[at as usize];
            }
            before = Some(std::mem::replace(latest, new));
        }
        let from = self.items.len();
        self.items.extend_from_slice(sequence);
        self.places.push((from, self.items.len()));
        self.before.push(before);
        new
    }

    pub(super) fn get(&self, number: u32) -> &[T] {
        let (from, to) = self.places[number as usize];
        &self.items[from..to]
    }

    /// The number of items in all sequences.
    pub(super) fn size(&self) -> usize {
        self.items.len()
    }
}
