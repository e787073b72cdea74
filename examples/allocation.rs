//! An allocator of blocks, in two halves with a lock each.
//!
//! Source: the allocation vector of the IBM benchmark of concurrent programs with bugs (Eytani, Ur 2004).
//!
//! The bug: `allocate` finds a free block under the lock of its half, gives the lock back, and takes it again to mark
//! the block. In between another thread can find the same one.
//!
//! Threads: two that allocate two blocks each. One read of either, of the marks when it makes its own, sees the
//! other's.

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

    /// The half of a free block, and where in it.
    fn find(&self) -> Option<(&Half, usize)> {
        self.halves.iter().find_map(|half| {
            let used = half.lock().unwrap();
            let block = used.iter().position(|used| !used)?;
            Some((half, block))
        })
    }

    fn allocate(&self) -> bool {
        let Some((half, block)) = self.find() else {
            return false;
        };
        let used = std::mem::replace(&mut half.lock().unwrap()[block], true);
        assert!(!used, "a block is allocated twice");
        true
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
