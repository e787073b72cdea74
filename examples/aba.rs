//! A pool of blocks, whose free list is changed by compare-and-exchange, and the ABA problem.
//!
//! Source: folklore since the IBM System/370; Treiber, *Systems Programming: Coping with Parallelism* (1986).
//!
//! The bug: `take` reads the head of the list and what comes after it, and exchanges the one for the other if the head is
//! still the same. It can be the same block again, but with another one after it.
//!
//! Threads: one that takes two blocks meets one that takes two and gives the first back. Three reads of the former see
//! writes of the latter: the head, which is back where it was, and the owners of both blocks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

const BLOCKS: usize = 4;

struct Pool {
    /// The first free block; [`BLOCKS`] stands for none.
    head: AtomicUsize,
    /// The free block after each free block.
    next: [AtomicUsize; BLOCKS],
    taken: [AtomicBool; BLOCKS],
}

impl Pool {
    fn new() -> Self {
        Self {
            head: AtomicUsize::new(0),
            next: std::array::from_fn(|block| AtomicUsize::new(block + 1)),
            taken: Default::default(),
        }
    }

    fn take(&self) -> Option<usize> {
        loop {
            let block = self.head.load(Ordering::SeqCst);
            if block == BLOCKS {
                return None;
            }
            let next = self.next[block].load(Ordering::SeqCst);
            if self.exchange_head(block, next) {
                let taken = self.taken[block].swap(true, Ordering::SeqCst);
                assert!(!taken, "a block is handed out twice");
                return Some(block);
            }
        }
    }

    fn give_back(&self, block: usize) {
        self.taken[block].store(false, Ordering::SeqCst);
        loop {
            let next = self.head.load(Ordering::SeqCst);
            self.next[block].store(next, Ordering::SeqCst);
            if self.exchange_head(next, block) {
                return;
            }
        }
    }

    fn exchange_head(&self, old: usize, new: usize) -> bool {
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
