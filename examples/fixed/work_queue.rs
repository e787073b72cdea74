//! A queue of jobs in a ring: `../work_queue.rs` with the bug taken out.
//!
//! `head` and `tail` count on, and only the slot is found by the rest of a division.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

const JOBS: usize = 3;
const SLOTS: usize = 2;

struct Queue {
    /// How many jobs have been taken.
    head: AtomicUsize,
    /// How many jobs have been added.
    tail: AtomicUsize,
    slots: [AtomicUsize; SLOTS],
    done: [AtomicBool; JOBS],
}

impl Queue {
    /// With job 0 in it.
    fn new() -> Self {
        Self {
            head: AtomicUsize::new(0),
            tail: AtomicUsize::new(1),
            slots: Default::default(),
            done: Default::default(),
        }
    }

    /// Adds a job. Only the owner does that, and sees to it that there is room.
    fn add(&self, job: usize) {
        let tail = self.tail.load(Ordering::SeqCst);
        self.slots[tail % SLOTS].store(job, Ordering::SeqCst);
        self.tail.store(tail + 1, Ordering::SeqCst);
    }

    /// Takes the oldest job, unless there is none or another thread is faster.
    fn take(&self) -> Option<usize> {
        let head = self.head.load(Ordering::SeqCst);
        if head == self.tail.load(Ordering::SeqCst) {
            return None;
        }
        let job = self.slots[head % SLOTS].load(Ordering::SeqCst);
        self.head
            .compare_exchange(head, head + 1, Ordering::SeqCst, Ordering::SeqCst)
            .ok()?;
        Some(job)
    }

    fn work(&self) {
        if let Some(job) = self.take() {
            let done = self.done[job].swap(true, Ordering::SeqCst);
            assert!(!done, "a job is done twice");
        }
    }
}

#[test]
fn the_ring_goes_round() {
    let queue = Arc::new(Queue::new());
    let owner = {
        let queue = Arc::clone(&queue);
        thread::spawn(move || {
            for job in 1..JOBS {
                queue.work();
                queue.add(job);
            }
        })
    };
    let thief = {
        let queue = Arc::clone(&queue);
        thread::spawn(move || queue.work())
    };
    owner.join().unwrap();
    thief.join().unwrap();
}
