//! A work-stealing queue: `../work_stealing.rs` with the bug taken out.
//!
//! `pop` makes its claim before it looks at the thief's.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

const ITEMS: usize = 2;

#[derive(Default)]
struct Queue {
    /// The oldest item that nobody has claimed. Thieves move it, under the lock.
    head: AtomicUsize,
    /// One behind the newest item. Only the owner moves it.
    tail: AtomicUsize,
    lock: Mutex<()>,
    taken: [AtomicBool; ITEMS],
}

impl Queue {
    fn push(&self) {
        let tail = self.tail.load(Ordering::SeqCst);
        self.tail.store(tail + 1, Ordering::SeqCst);
    }

    /// The newest item, for the owner.
    fn pop(&self) -> Option<usize> {
        let tail = self.tail.load(Ordering::SeqCst).checked_sub(1)?;
        self.tail.store(tail, Ordering::SeqCst);
        if self.head.load(Ordering::SeqCst) <= tail {
            return Some(tail);
        }
        // A thief may be about to give up its claim.
        let _locked = self.lock.lock().unwrap();
        if self.head.load(Ordering::SeqCst) <= tail {
            return Some(tail);
        }
        self.tail.store(tail + 1, Ordering::SeqCst);
        None
    }

    /// The oldest item, for thieves.
    fn steal(&self) -> Option<usize> {
        let _locked = self.lock.lock().unwrap();
        let head = self.head.load(Ordering::SeqCst);
        self.head.store(head + 1, Ordering::SeqCst);
        if head < self.tail.load(Ordering::SeqCst) {
            return Some(head);
        }
        self.head.store(head, Ordering::SeqCst);
        None
    }

    fn work(&self, item: Option<usize>) {
        if let Some(item) = item {
            let before = self.taken[item].swap(true, Ordering::SeqCst);
            assert!(!before, "an item is taken twice");
        }
    }
}

#[test]
fn one_thief() {
    let queue = Arc::new(Queue::default());
    let owner = {
        let queue = Arc::clone(&queue);
        thread::spawn(move || {
            for _ in 0..ITEMS {
                queue.push();
            }
            for _ in 0..ITEMS {
                let item = queue.pop();
                queue.work(item);
            }
        })
    };
    let thief = {
        let queue = Arc::clone(&queue);
        thread::spawn(move || {
            for _ in 0..ITEMS {
                let item = queue.steal();
                queue.work(item);
            }
        })
    };
    owner.join().unwrap();
    thief.join().unwrap();
}
