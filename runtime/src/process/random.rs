//! Random numbers: the same in each execution and in each process, with a sequence for each thread. The date is one of them:
//! nobody knows at what time a program is started, and programs take it for a seed.
//!
//! So what depends on them is tried in one way: which lock comes first in a hash map, say. Where a program has drawn
//! any, a search ends with some executions that draw others ([`vary`]). If one of these does something else, the
//! search's promise is taken back.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use seqz_explore::hash::mix;

/// The number of other sequences that are tried at the end of a search.
pub(crate) const VARIATIONS: u64 = 16;

/// The number of the sequence that programs draw from: 0 while a search goes on.
static VARIATION: AtomicU64 = AtomicU64::new(0);

/// Whether a program has drawn numbers in this process.
static ARE_DRAWN: AtomicBool = AtomicBool::new(false);

/// Whether a program has drawn numbers in this process.
pub(crate) fn are_drawn() -> bool {
    ARE_DRAWN.load(Ordering::Relaxed)
}

/// Programs draw from another sequence from now on.
pub(crate) fn vary(variation: u64) {
    VARIATION.store(variation, Ordering::Relaxed);
}

/// How much later than usual the program is started, by its date. Nothing with the usual numbers.
pub(crate) fn started_later() -> Duration {
    const TEN_YEARS: u64 = 10 * 365 * 24 * 60 * 60;
    ARE_DRAWN.store(true, Ordering::Relaxed);
    match VARIATION.load(Ordering::Relaxed) {
        0 => Duration::ZERO,
        variation => {
            let drawn = mix(0xda7e, variation);
            let nanoseconds = mix(drawn, variation) % 1_000_000_000;
            Duration::new(drawn % TEN_YEARS, nanoseconds as u32)
        }
    }
}

/// Whether the result of `run`, which is an execution, depends on the numbers that the program draws: whether it is
/// another one with another sequence.
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

/// The number of times that each thread has drawn.
#[derive(Debug, Default)]
pub(super) struct Draws {
    by_thread: Vec<u64>,
}

impl Draws {
    /// Fills the bytes that a thread has asked for.
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

/// Fills bytes from the sequence of this seed; outside of programs one sequence is as good as any other.
pub(super) fn fill(seed: u64, drawn: &mut u64, bytes: &mut [u8]) {
    for piece in bytes.chunks_mut(8) {
        *drawn += 1;
        let number = mix(mix(0x5e92_d1a3, seed), *drawn).to_le_bytes();
        piece.copy_from_slice(&number[..piece.len()]);
    }
}
