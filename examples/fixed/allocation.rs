//! An allocator of blocks: `../allocation.rs` with the bug taken out.
//!
//! `allocate` marks a block under the lock under which it was found free.

use std::sync::{Arc, Mutex};
use std::thread;

const HALF: usize = 2;

/// Which blocks of a half are in use.
type Half = Mutex<[bool; HALF]>;

struct Blocks {
    halves: [Half; 2],
}

impl Blocks {
    /// With one block of the lower half in use.
    fn new() -> Self {
        Self {
            halves: [Half::new([true, false]), Half::new([false; HALF])],
        }
    }

    fn allocate(&self) -> bool {
        self.halves.iter().any(|half| {
            let mut half = half.lock().unwrap();
            let Some(block) = half.iter().position(|used| !used) else {
                return false;
            };
            let used = std::mem::replace(&mut half[block], true);
            drop(half);
            assert!(!used, "a block is allocated twice");
            true
        })
    }
}

#[test]
fn two_blocks_for_each() {
    let blocks = Arc::new(Blocks::new());
    let users = [(); 2].map(|()| {
        let blocks = Arc::clone(&blocks);
        thread::spawn(move || {
            blocks.allocate();
            blocks.allocate();
        })
    });
    for user in users {
        user.join().unwrap();
    }
}
