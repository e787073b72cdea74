//! Sets of threads as bit sets.

use crate::event::Thread;

/// The most threads that one execution may ever create.
pub const MAX_THREADS: usize = 128;

/// A set of threads.
///
/// Two words, of which the second is hardly ever needed: sets are asked at every event, and shifts of 128-bit numbers are
/// slow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ThreadSet {
    low: u64,
    high: u64,
}

impl ThreadSet {
    /// The set without threads.
    pub const EMPTY: Self = Self { low: 0, high: 0 };

    /// The set of this thread alone.
    #[inline]
    #[must_use]
    pub const fn only(thread: Thread) -> Self {
        if thread < 64 {
            Self {
                low: 1 << thread,
                high: 0,
            }
        } else {
            Self {
                low: 0,
                high: 1 << (thread - 64),
            }
        }
    }

    /// Whether the set is empty.
    #[inline]
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.low | self.high == 0
    }

    /// The number of threads in the set.
    #[inline]
    #[must_use]
    pub const fn len(self) -> u32 {
        if self.high != 0 {
            return self.low.count_ones() + self.high.count_ones();
        }
        // It is asked at each event, most sets are small, and code for any processor counts bits at length.
        let (mut rest, mut count) = (self.low, 0);
        while rest != 0 {
            rest &= rest - 1;
            count += 1;
        }
        count
    }

    /// Whether the set contains the thread.
    #[inline]
    #[must_use]
    pub const fn contains(self, thread: Thread) -> bool {
        if thread < 64 {
            self.low >> thread & 1 == 1
        } else {
            self.high >> (thread - 64) & 1 == 1
        }
    }

    /// Adds a thread to the set.
    #[inline]
    pub const fn insert(&mut self, thread: Thread) {
        if thread < 64 {
            self.low |= 1 << thread;
        } else {
            self.high |= 1 << (thread - 64);
        }
    }

    /// Removes a thread from the set.
    #[inline]
    pub const fn remove(&mut self, thread: Thread) {
        if thread < 64 {
            self.low &= !(1 << thread);
        } else {
            self.high &= !(1 << (thread - 64));
        }
    }

    /// The lowest thread.
    #[inline]
    #[must_use]
    pub const fn first(self) -> Option<Thread> {
        if self.low != 0 {
            Some(self.low.trailing_zeros() as Thread)
        } else if self.high != 0 {
            Some(64 + self.high.trailing_zeros() as Thread)
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

    /// The threads that are in one of the sets or in both.
    #[inline]
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self {
            low: self.low | other.low,
            high: self.high | other.high,
        }
    }

    /// The threads that are in both sets.
    #[inline]
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self {
            low: self.low & other.low,
            high: self.high & other.high,
        }
    }

    /// The threads that are in `self` and not in `other`.
    #[inline]
    #[must_use]
    pub const fn difference(self, other: Self) -> Self {
        Self {
            low: self.low & !other.low,
            high: self.high & !other.high,
        }
    }

    /// The threads of the set, from the lowest to the highest.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = Thread> {
        let mut rest = self;
        std::iter::from_fn(move || {
            let first = rest.first()?;
            if rest.low != 0 {
                rest.low &= rest.low - 1;
            } else {
                rest.high &= rest.high - 1;
            }
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
