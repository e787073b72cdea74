//! The last accesses of each byte of memory.

use std::collections::BTreeMap;

use seqz_explore::Thread;

use crate::vocabulary::Site;

/// The number of steps known to come before, by thread.
pub(super) type Clock = Vec<u32>;

/// Adds to a clock what another one knows.
pub(super) fn join(into: &mut Clock, other: &Clock) {
    if into.len() < other.len() {
        into.resize(other.len(), 0);
    }
    for (mine, theirs) in into.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}

/// What an access does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// It reads plain data.
    Reads,
    /// It writes plain data.
    Writes,
    /// It is an operation on an atomic or a lock, or makes a reference to what may have one in it.
    Uses,
    /// It gives the memory back.
    Frees,
}

impl How {
    /// Whether two accesses race if nothing orders them.
    const fn conflicts(self, other: Self) -> bool {
        match (self, other) {
            (Self::Frees, _) | (_, Self::Frees) => true,
            (Self::Uses, _) | (_, Self::Uses) | (Self::Reads, Self::Reads) => false,
            (Self::Writes, _) | (_, Self::Writes) => true,
        }
    }
}

/// An access to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Access {
    pub(super) thread: Thread,
    /// The entry of the access's thread in its own clock, at the access.
    pub(super) step: u32,
    pub(super) how: How,
    pub(super) site: Option<Site>,
}

impl Access {
    /// Whether this access comes before all that a thread with this clock does now.
    fn is_before(&self, clock: &Clock) -> bool {
        let known = clock.get(usize::from(self.thread)).copied().unwrap_or(0);
        self.step <= known
    }
}

/// Some bytes with the same past.
#[derive(Clone, Debug, Default)]
struct Stretch {
    end: usize,
    /// The latest write, and the latest other access of either kind of each thread since.
    accesses: Vec<Access>,
}

/// The last accesses of each byte.
#[derive(Debug, Default)]
pub(super) struct Shadow {
    /// Stretches that don't overlap, by the address of the first byte.
    stretches: BTreeMap<usize, Stretch>,
}

impl Shadow {
    /// Makes a border between stretches at this address.
    fn split(&mut self, at: usize) {
        let Some((&start, stretch)) = self.stretches.range_mut(..at).next_back() else {
            return;
        };
        debug_assert!(start < at, "the range is open");
        if stretch.end > at {
            let rest = stretch.clone();
            stretch.end = at;
            self.stretches.insert(at, rest);
        }
    }

    /// Forgets all accesses of these bytes.
    pub(super) fn forget(&mut self, start: usize, end: usize) {
        self.split(start);
        self.split(end);
        let gone: Vec<usize> = self
            .stretches
            .range(start..end)
            .map(|(at, _)| *at)
            .collect();
        for at in gone {
            self.stretches.remove(&at);
        }
    }

    /// Notes an access to these bytes by a thread with this clock. Returns an earlier access with which it races.
    pub(super) fn access(
        &mut self,
        (start, end): (usize, usize),
        access: Access,
        clock: &Clock,
    ) -> Option<Access> {
        self.split(start);
        self.split(end);
        let mut racing = None;
        let mut gaps = Vec::new();
        let mut reached = start;
        for (&at, stretch) in self.stretches.range_mut(start..end) {
            if at > reached {
                gaps.push((reached, at));
            }
            reached = stretch.end;
            let past = &mut stretch.accesses;
            racing = racing.or_else(|| {
                let mut past = past.iter();
                past.find(|other| {
                    let conflicts = other.how.conflicts(access.how);
                    conflicts && other.thread != access.thread && !other.is_before(clock)
                })
                .copied()
            });
            match access.how {
                How::Frees => past.clear(),
                // Operations on an atomic are still to be held against the end of its memory.
                How::Writes => past.retain(|other| other.how == How::Uses),
                how => past.retain(|other| other.how != how || other.thread != access.thread),
            }
            past.push(access);
        }
        if reached < end {
            gaps.push((reached, end));
        }
        for (at, end) in gaps {
            let accesses = vec![access];
            self.stretches.insert(at, Stretch { end, accesses });
        }
        racing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(thread: Thread, step: u32, writes: bool) -> Access {
        let how = if writes { How::Writes } else { How::Reads };
        Access {
            thread,
            step,
            how,
            site: None,
        }
    }

    #[test]
    fn bytes_have_pasts_of_their_own() {
        let mut shadow = Shadow::default();
        let (first, second) = (vec![1, 0], vec![0, 1]);
        assert_eq!(shadow.access((0, 8), access(0, 1, true), &first), None);
        // Beside it, nothing is known.
        assert_eq!(shadow.access((8, 16), access(1, 1, true), &second), None);
        let both = shadow.access((4, 12), access(1, 1, false), &second);
        assert_eq!(both.map(|access| access.thread), Some(0));
        // The read of the middle is known there alone.
        let write = shadow.access((8, 12), access(0, 2, true), &vec![2, 0]);
        assert_eq!(write.map(|access| access.thread), Some(1));
        assert_eq!(shadow.access((0, 4), access(0, 2, true), &vec![2, 0]), None);
    }

    #[test]
    fn what_comes_before_does_not_race() {
        let mut shadow = Shadow::default();
        assert_eq!(shadow.access((0, 4), access(0, 3, true), &vec![3]), None);
        assert_eq!(
            shadow.access((0, 4), access(1, 1, false), &vec![3, 1]),
            None
        );
        assert_eq!(
            shadow.access((0, 4), access(2, 1, false), &vec![3, 0, 1]),
            None
        );
        let write = access(0, 4, true);
        let racing = shadow.access((0, 4), write, &vec![4, 1, 0]);
        assert_eq!(racing.map(|access| access.thread), Some(2));
        shadow.forget(0, 2);
        assert_eq!(
            shadow.access((0, 2), access(3, 1, true), &vec![0, 0, 0, 1]),
            None
        );
        let rest = shadow.access((0, 4), access(4, 1, false), &vec![0, 0, 0, 1, 1]);
        assert_eq!(rest, Some(write));
    }

    #[test]
    fn memory_is_given_back_after_all_that_uses_it() {
        let mut shadow = Shadow::default();
        let uses = Access {
            how: How::Uses,
            ..access(0, 1, false)
        };
        let frees = |thread, step| Access {
            how: How::Frees,
            ..access(thread, step, false)
        };
        assert_eq!(shadow.access((0, 8), access(1, 1, true), &vec![0, 1]), None);
        assert_eq!(shadow.access((0, 1), uses, &vec![1, 0]), None);
        // A later write does not cover the operation.
        assert_eq!(shadow.access((0, 8), access(1, 2, true), &vec![0, 2]), None);
        let racing = shadow.access((0, 8), frees(1, 3), &vec![0, 3]);
        assert_eq!(racing, Some(uses));
        assert_eq!(shadow.access((0, 1), uses, &vec![1, 3]), None);
        assert_eq!(shadow.access((0, 8), frees(1, 4), &vec![1, 4]), None);
    }
}
