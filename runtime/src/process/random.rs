//! Random numbers: the same in each execution and in each process, and of each thread's own.
//!
//! So what goes by them is tried in one way: which lock comes first in a hash map, say. Where a program has drawn any, a search
//! ends with some executions that draw others ([`vary`]). If one of them does something else, that takes the promise.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use seqz_explore::hash::mix;

/// So many other sequences are tried at the end of a search.
pub(crate) const VARIATIONS: u64 = 16;

/// Which sequence programs draw from: 0 while a search goes on.
static VARIATION: AtomicU64 = AtomicU64::new(0);

/// A program has drawn numbers.
static ARE_DRAWN: AtomicBool = AtomicBool::new(false);

/// Whether a program has drawn numbers in this process.
pub(crate) fn are_drawn() -> bool {
    ARE_DRAWN.load(Ordering::Relaxed)
}

/// Programs draw from another sequence from now on.
pub(crate) fn vary(variation: u64) {
    VARIATION.store(variation, Ordering::Relaxed);
}

/// Whether what `run` comes to, which is an execution, goes by the numbers that the program draws: whether another sequence
/// makes it come to something else.
pub(crate) fn decide<R: PartialEq>(mut run: impl FnMut() -> R) -> bool {
    if !are_drawn() {
        return false;
    }
    let usual = run();
    let decide = (1..=VARIATIONS).any(|variation| {
        vary(variation);
        run() != usual
    });
    vary(0);
    decide
}

/// How many times each thread has drawn.
#[derive(Debug, Default)]
pub(super) struct Draws {
    by_thread: Vec<u64>,
}

impl Draws {
    /// Fills what a thread has asked for.
    pub(super) fn fill(&mut self, thread: u32, bytes: &mut [u8]) {
        let at = thread as usize;
        if self.by_thread.len() <= at {
            self.by_thread.resize(at + 1, 0);
        }
        ARE_DRAWN.store(true, Ordering::Relaxed);
        let variation = VARIATION.load(Ordering::Relaxed);
        let seed = (u64::from(thread) + 1) ^ variation << 32;
        fill(seed, &mut self.by_thread[at], bytes);
    }

    #[inline]
    pub(super) fn restart(&mut self) {
        self.by_thread.clear();
    }
}

/// The same outside of programs, where one sequence is as good as any other.
pub(super) fn fill(seed: u64, drawn: &mut u64, bytes: &mut [u8]) {
    for piece in bytes.chunks_mut(8) {
        *drawn += 1;
        let number = mix(mix(0x5e92_d1a3, seed), *drawn).to_le_bytes();
        piece.copy_from_slice(&number[..piece.len()]);
    }
}
