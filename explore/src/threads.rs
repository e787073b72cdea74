//! Sets of threads as bit sets.

use crate::event::Thread;

/// The most threads that one execution may ever create.
pub const MAX_THREADS: usize = 128;

/// A set of threads. Two words: sets are asked at every event, and shifts of 128-bit numbers are slow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ThreadSet([u64; 2]);

impl ThreadSet {
    /// No thread.
    pub const EMPTY: Self = Self([0; 2]);

    /// Just this thread.
    #[inline]
    #[must_use]
    pub const fn only(thread: Thread) -> Self {
        let mut set = Self::EMPTY;
        set.insert(thread);
        set
    }

    /// Whether there is none.
    #[inline]
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0[0] | self.0[1] == 0
    }

    /// How many there are.
    #[inline]
    #[must_use]
    pub const fn len(self) -> u32 {
        if self.0[1] == 0 && self.0[0].is_power_of_two() {
            return 1;
        }
        self.0[0].count_ones() + self.0[1].count_ones()
    }

    /// Whether the thread is in.
    #[inline]
    #[must_use]
    pub const fn contains(self, thread: Thread) -> bool {
        self.0[word(thread)] >> (thread % 64) & 1 == 1
    }

    /// Puts a thread in.
    #[inline]
    pub const fn insert(&mut self, thread: Thread) {
        self.0[word(thread)] |= 1 << (thread % 64);
    }

    /// Takes a thread out.
    #[inline]
    pub const fn remove(&mut self, thread: Thread) {
        self.0[word(thread)] &= !(1 << (thread % 64));
    }

    /// The lowest thread.
    #[inline]
    #[must_use]
    pub const fn first(self) -> Option<Thread> {
        if self.0[0] != 0 {
            Some(self.0[0].trailing_zeros() as Thread)
        } else if self.0[1] != 0 {
            Some(64 + self.0[1].trailing_zeros() as Thread)
        } else {
            None
        }
    }

    /// The `n`-th lowest thread, from 0.
    #[inline]
    #[must_use]
    pub fn nth(self, n: u32) -> Option<Thread> {
        self.iter().nth(n as usize)
    }

    /// Those in either.
    #[inline]
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self([self.0[0] | other.0[0], self.0[1] | other.0[1]])
    }

    /// Those in both.
    #[inline]
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self([self.0[0] & other.0[0], self.0[1] & other.0[1]])
    }

    /// Those in `self` and not in `other`.
    #[inline]
    #[must_use]
    pub const fn difference(self, other: Self) -> Self {
        Self([self.0[0] & !other.0[0], self.0[1] & !other.0[1]])
    }

    /// From the lowest to the highest.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = Thread> {
        let mut rest = self;
        std::iter::from_fn(move || {
            let first = rest.first()?;
            let word = &mut rest.0[word(first)];
            *word &= *word - 1;
            Some(first)
        })
    }
}

/// Which word a thread is in. A number past the last possible one must not be met.
const fn word(thread: Thread) -> usize {
    debug_assert!((thread as usize) < MAX_THREADS);
    (thread / 64 % 2) as usize
}

impl FromIterator<Thread> for ThreadSet {
    fn from_iter<I: IntoIterator<Item = Thread>>(threads: I) -> Self {
        let mut set = Self::EMPTY;
        for thread in threads {
            set.insert(thread);
        }
        set
    }
}
