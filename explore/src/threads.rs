//! Sets of threads as bit sets.

use crate::event::Thread;

/// The most threads that one execution may ever create.
pub const MAX_THREADS: usize = 128;

/// A set of threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ThreadSet(u128);

impl ThreadSet {
    /// No thread.
    pub const EMPTY: Self = Self(0);

    /// Just this thread.
    #[inline]
    #[must_use]
    pub const fn only(thread: Thread) -> Self {
        Self(1 << thread)
    }

    /// Whether there is none.
    #[inline]
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many there are.
    #[inline]
    #[must_use]
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether the thread is in.
    #[inline]
    #[must_use]
    pub const fn contains(self, thread: Thread) -> bool {
        self.0 >> thread & 1 == 1
    }

    /// Puts a thread in.
    #[inline]
    pub const fn insert(&mut self, thread: Thread) {
        self.0 |= 1 << thread;
    }

    /// Takes a thread out.
    #[inline]
    pub const fn remove(&mut self, thread: Thread) {
        self.0 &= !(1 << thread);
    }

    /// The lowest thread.
    #[inline]
    #[must_use]
    pub const fn first(self) -> Option<Thread> {
        if self.0 == 0 {
            None
        } else {
            Some(self.0.trailing_zeros() as Thread)
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
        Self(self.0 | other.0)
    }

    /// Those in both.
    #[inline]
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Those in `self` and not in `other`.
    #[inline]
    #[must_use]
    pub const fn difference(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// From the lowest to the highest.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = Thread> {
        let mut rest = self;
        std::iter::from_fn(move || {
            let first = rest.first()?;
            rest.0 &= rest.0 - 1;
            Some(first)
        })
    }
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
