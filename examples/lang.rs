//! A range of numbers that computes its hash when it is first asked for it, and keeps it.
//!
//! Source: Lang of the RV-Causal paper, a failing assertion in Apache Commons Lang (LANG-481): the ranges that keep their
//! hash.
//!
//! The bug: the hash is computed in the field where it is kept, and 0 stands for one that is not there yet. Whoever asks
//! meanwhile takes what is not finished for the hash.
//!
//! Threads: two that ask for the hash of one range. One read of either sees the other's write.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

struct Range {
    from: u32,
    to: u32,
    /// 0 if nobody has asked for it yet.
    hash: AtomicU32,
}

impl Range {
    fn new(from: u32, to: u32) -> Self {
        Self {
            from,
            to,
            hash: AtomicU32::new(0),
        }
    }

    fn hash(&self) -> u32 {
        if self.hash.load(Ordering::Relaxed) == 0 {
            self.hash.store(17, Ordering::Relaxed);
            self.mix(self.from);
            self.mix(self.to);
        }
        self.hash.load(Ordering::Relaxed)
    }

    fn mix(&self, value: u32) {
        let hash = self.hash.load(Ordering::Relaxed);
        let mixed = hash.wrapping_mul(37).wrapping_add(value);
        self.hash.store(mixed, Ordering::Relaxed);
    }
}

#[test]
fn two_ask_for_a_hash() {
    let alone = Range::new(3, 8).hash();
    let range = Arc::new(Range::new(3, 8));
    let asking = [(); 2].map(|()| {
        let range = Arc::clone(&range);
        thread::spawn(move || range.hash())
    });
    for thread in asking {
        let hash = thread.join().unwrap();
        assert_eq!(hash, alone, "equal ranges have different hashes");
    }
}
