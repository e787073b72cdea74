//! In which order T' nests its locks: which of its blocks begin inside of which others.
//!
//! T asks at each lock that it takes whether T' could wait for a lock of T's while it holds the wanted one. What T'
//! nests is noted by pairs of locks as it runs, so that the question costs nothing where T' never takes the one inside
//! of the other, however often T' takes them.

use super::bug::excludes;
use super::{Engine, Held, NONE};
use crate::log::{LockMode, Object};
use crate::memory::Buffer;

/// All pairs of locks of which T' has taken the one while it held the other.
#[derive(Debug, Default)]
pub(super) struct Nestings {
    pairs: Buffer<Nesting>,
    /// The blocks of all pairs.
    blocks: Buffer<Inner>,
    /// Per inner lock, the number of its latest pair, or [`NONE`].
    of: Buffer<u32>,
}

/// A pair of locks: the inner one is taken while the outer one is held.
#[derive(Clone, Copy, Debug)]
struct Nesting {
    outer: Held,
    inner: Held,
    /// The pair's first block; `last` is its latest.
    first: u32,
    last: u32,
    /// The number of the next pair with the same inner lock, or [`NONE`].
    next: u32,
}

/// A block of the inner lock.
#[derive(Clone, Copy, Debug)]
struct Inner {
    /// The block's number among the blocks of T'.
    block: u32,
    /// The number of the next block of the same pair, or [`NONE`].
    next: u32,
}

fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(NONE - 1)
}

impl Nestings {
    pub(super) fn clear(&mut self) {
        self.pairs.clear();
        self.blocks.clear();
        self.of.clear();
    }

    fn note(&mut self, outer: Held, inner: Held, block: u32) {
        let entry = index(self.blocks.len());
        self.blocks.push(Inner { block, next: NONE });
        let lock = inner.lock as usize;
        if lock >= self.of.len() {
            self.of.resize(lock + 1, NONE);
        }
        let mut at = self.of[lock];
        while let Some(nesting) = self.pairs.get_mut(at as usize) {
            if (nesting.outer, nesting.inner) == (outer, inner) {
                self.blocks[nesting.last as usize].next = entry;
                nesting.last = entry;
                return;
            }
            at = nesting.next;
        }
        let next = std::mem::replace(&mut self.of[lock], index(self.pairs.len()));
        self.pairs.push(Nesting {
            outer,
            inner,
            first: entry,
            last: entry,
            next,
        });
    }

    /// Adds to `found` the blocks of the pairs with this inner lock for which `wanted` holds.
    fn find(&self, inner: Object, found: &mut Vec<u32>, wanted: impl Fn(Held, Held) -> bool) {
        let mut at = self.of.get(inner as usize).copied().unwrap_or(NONE);
        while let Some(nesting) = self.pairs.get(at as usize) {
            at = nesting.next;
            if !wanted(nesting.outer, nesting.inner) {
                continue;
            }
            let mut entry = nesting.first;
            while let Some(inner) = self.blocks.get(entry as usize) {
                found.push(inner.block);
                entry = inner.next;
            }
        }
    }
}

impl Engine {
    /// Notes a block of T': T' has waited for its lock while holding the locks of the open blocks.
    #[cold]
    pub(super) fn note_nestings(&mut self, block: u32) {
        let inner = self.blocks[block as usize].held;
        for at in 0..self.open.len() {
            let outer = self.blocks[self.open[at] as usize];
            // Of several interfering threads, each has its own locks.
            if outer.acquire as usize >= self.several.first() {
                self.nestings.note(outer.held, inner, block);
            }
        }
    }

    /// The blocks of T' that begin while T' holds a lock in a way that keeps T from taking the wanted one, and with
    /// waiting for a lock that T holds.
    pub(super) fn crossing_blocks(&self, wanted: Held) -> Vec<u32> {
        let mut found = Vec::new();
        for held in &self.held {
            self.nestings.find(held.lock, &mut found, |outer, inner| {
                excludes(*held, inner) && excludes(outer, wanted)
            });
        }
        in_order(found)
    }

    /// The blocks of T' that begin with taking for reading a lock that T' holds for reading already.
    pub(super) fn rereading_blocks(&self, lock: Object) -> Vec<u32> {
        let mut found = Vec::new();
        self.nestings.find(lock, &mut found, |outer, inner| {
            outer.lock == lock && inner.mode == LockMode::Shared
        });
        in_order(found)
    }

    /// The blocks of T' that begin with waiting for the lock to write.
    pub(super) fn writing_blocks(&self, lock: Object) -> Vec<u32> {
        let writes = Held {
            lock,
            mode: LockMode::Exclusive,
        };
        let blocks = (0..).zip(&self.blocks);
        blocks
            .filter(|(_, block)| block.blocking && block.held == writes)
            .map(|(at, _)| at)
            .collect()
    }
}

/// Each block once, the earliest first.
fn in_order(mut blocks: Vec<u32>) -> Vec<u32> {
    if !blocks.is_empty() {
        blocks.sort_unstable();
        blocks.dedup();
    }
    blocks
}
