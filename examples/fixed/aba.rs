//! A pool of blocks, whose free list is changed by compare-and-exchange: `../aba.rs` with the bug taken out.
//!
//! The head carries a count of its changes, so that it is never the same again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;

const BLOCKS: usize = 4;

fn pack(changes: u32, block: usize) -> u64 {
    u64::from(changes) << 32 | block as u64
}

fn unpack(head: u64) -> (u32, usize) {
    ((head >> 32) as u32, (head & u64::from(u32::MAX)) as usize)
}

struct Pool {
    /// How often the head was changed, and the first free block; [`BLOCKS`] stands for none.
    head: AtomicU64,
    /// The free block after each free block.
    next: [AtomicUsize; BLOCKS],
    taken: [AtomicBool; BLOCKS],
}

impl Pool {
    fn new() -> Self {
        Self {
            head: AtomicU64::new(pack(0, 0)),
            next: std::array::from_fn(|block| AtomicUsize::new(block + 1)),
            taken: Default::default(),
        }
    }

    fn take(&self) -> Option<usize> {
        loop {
            let head = self.head.load(Ordering::SeqCst);
            let (_, block) = unpack(head);
            if block == BLOCKS {
                return None;
            }
            let next = self.next[block].load(Ordering::SeqCst);
            if self.exchange_head(head, next) {
                let taken = self.taken[block].swap(true, Ordering::SeqCst);
                assert!(!taken, "a block is handed out twice");
                return Some(block);
            }
        }
    }

    fn give_back(&self, block: usize) {
        self.taken[block].store(false, Ordering::SeqCst);
        loop {
            let head = self.head.load(Ordering::SeqCst);
            let (_, next) = unpack(head);
            self.next[block].store(next, Ordering::SeqCst);
            if self.exchange_head(head, block) {
                return;
            }
        }
    }

    fn exchange_head(&self, old: u64, block: usize) -> bool {
        let (changes, _) = unpack(old);
        let new = pack(changes + 1, block);
        let exchanged = self
            .head
            .compare_exchange(old, new, Ordering::SeqCst, Ordering::SeqCst);
        exchanged.is_ok()
    }
}

#[test]
fn a_block_comes_back() {
    let pool = Arc::new(Pool::new());
    let taker = {
        let pool = Arc::clone(&pool);
        thread::spawn(move || {
            pool.take();
            pool.take();
        })
    };
    let returner = {
        let pool = Arc::clone(&pool);
        thread::spawn(move || {
            let first = pool.take();
            pool.take();
            if let Some(block) = first {
                pool.give_back(block);
            }
        })
    };
    taker.join().unwrap();
    returner.join().unwrap();
}
