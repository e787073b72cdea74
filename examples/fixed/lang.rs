//! A range that keeps its hash: `../lang.rs` with the bug taken out.
//!
//! The hash is computed in a variable of the thread's own, and stored when it is finished.

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
        let kept = self.hash.load(Ordering::Relaxed);
        if kept != 0 {
            return kept;
        }
        let hash = mix(mix(17, self.from), self.to);
        self.hash.store(hash, Ordering::Relaxed);
        hash
    }
}

fn mix(hash: u32, value: u32) -> u32 {
    hash.wrapping_mul(37).wrapping_add(value)
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
