//! The blocks that T is inside of: its lock blocks and its x-live blocks, as the steps that T' must not take meanwhile.

use super::index;
use super::interned::{Interned, Map};
use super::other::{Other, Uses};
use crate::log::{LockMode, Object};

/// The numbers of the sets of blocks that T is inside of at a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Inside {
    /// The number of the set of T's x-live blocks.
    pub(super) live: u32,
    /// The number of the set of T's lock blocks.
    pub(super) held: u32,
}

/// All sets of blocks that have come up.
#[derive(Clone, Debug, Default)]
pub(super) struct States {
    /// Bits of the steps that write any of the objects that are live.
    live: Interned<u64>,
    /// By the number of a set of x-live blocks and an object: the set with this object added or removed.
    toggled: Map<(u32, Object), u32>,
    /// The locks that are held, sorted.
    held: Interned<(Object, bool)>,
    taken: Map<(u32, Object, bool), u32>,
    given_back: Map<(u32, Object, bool), u32>,
    /// Bits of the steps that T' must not take.
    stops: Interned<u64>,
    both: Map<Inside, u32>,
    /// The number of words in a row of such bits.
    words: usize,
}

fn flip(bits: &mut [u64], step: u32) {
    bits[step as usize / 64] ^= 1 << (step % 64);
}

impl States {
    /// Number 0 is the empty set, of either kind.
    pub(super) fn new(last: u32) -> Self {
        let mut made = Self {
            words: last as usize / 64 + 1,
            ..Self::default()
        };
        made.live.number(&vec![0; made.words]);
        made.held.number(&[]);
        made
    }

    /// Adds an x-live block to a set, or removes it.
    pub(super) fn toggle(&mut self, live: u32, x: Object, uses: &Uses) -> u32 {
        if let Some(&known) = self.toggled.get(&(live, x)) {
            return known;
        }
        let mut bits = self.live.get(live).to_vec();
        for &step in &uses.writes {
            flip(&mut bits, step);
        }
        let other = self.live.number(&bits);
        self.toggled.insert((live, x), other);
        self.toggled.insert((other, x), live);
        other
    }

    /// Adds or removes the x-live blocks of many objects at once, without keeping the sets in between.
    pub(super) fn toggle_all(
        &mut self,
        live: u32,
        all: impl Iterator<Item = Object>,
        other: &Other,
    ) -> u32 {
        let mut bits = self.live.get(live).to_vec();
        for x in all {
            for &step in &other.of(x).writes {
                flip(&mut bits, step);
            }
        }
        self.live.number(&bits)
    }

    /// Adds a lock to a set.
    pub(super) fn take(&mut self, held: u32, lock: Object, mode: LockMode) -> u32 {
        let taken = (lock, mode == LockMode::Exclusive);
        let key = (held, taken.0, taken.1);
        if let Some(&known) = self.taken.get(&key) {
            return known;
        }
        let mut all = self.held.get(held).to_vec();
        let at = all.partition_point(|&other| other < taken);
        all.insert(at, taken);
        let number = self.held.number(&all);
        self.taken.insert(key, number);
        number
    }

    /// Removes a lock from a set.
    pub(super) fn give_back(&mut self, held: u32, lock: Object, mode: LockMode) -> u32 {
        let given = (lock, mode == LockMode::Exclusive);
        let key = (held, given.0, given.1);
        if let Some(&known) = self.given_back.get(&key) {
            return known;
        }
        let mut all = self.held.get(held).to_vec();
        if let Some(at) = all.iter().position(|&other| other == given) {
            all.remove(at);
        }
        let number = self.held.number(&all);
        self.given_back.insert(key, number);
        number
    }

    /// The number of the steps that T' must not take.
    pub(super) fn stops(&mut self, inside: Inside, other: &Other) -> u32 {
        if let Some(&known) = self.both.get(&inside) {
            return known;
        }
        let mut bits = self.live.get(inside.live).to_vec();
        for &(lock, exclusive) in self.held.get(inside.held) {
            let mode = if exclusive {
                LockMode::Exclusive
            } else {
                LockMode::Shared
            };
            for &(first, _) in other.of(lock).excluding(mode) {
                // The step that leads into the block.
                bits[(first - 1) as usize / 64] |= 1 << ((first - 1) % 64);
            }
        }
        let number = self.stops.number(&bits);
        self.both.insert(inside, number);
        number
    }

    /// The bits with that number.
    pub(super) fn bits(&self, stops: u32) -> &[u64] {
        self.stops.get(stops)
    }

    /// The number of words that all sets take up.
    pub(super) fn size(&self) -> usize {
        self.live.size() + self.stops.size() + self.toggled.len()
    }
}

/// The most toggles of a row that are made one by one.
pub(super) const FEW: usize = 4;

/// A list of objects for each row: the objects whose x-live blocks of T begin or end at the row. An object that is
/// there twice counts as absent.
#[derive(Clone, Debug, Default)]
pub(super) struct Toggles {
    /// Per row, the index of the latest entry.
    latest: Vec<Option<u32>>,
    entries: Vec<(Object, Option<u32>)>,
}

impl Toggles {
    /// Resets the lists to row 0 alone.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.latest.clear();
        self.latest.push(None);
    }

    /// Makes rows up to this one.
    pub(super) fn resize(&mut self, rows: usize) {
        self.latest.resize(rows, None);
    }

    pub(super) fn add(&mut self, row: usize, x: Object) {
        let entry = index(self.entries.len());
        let before = self.latest[row].replace(entry);
        self.entries.push((x, before));
    }

    pub(super) fn of(&self, row: usize) -> impl Iterator<Item = Object> {
        let mut next = self.latest[row];
        std::iter::from_fn(move || {
            let (x, before) = self.entries[next? as usize];
            next = before;
            Some(x)
        })
    }
}
