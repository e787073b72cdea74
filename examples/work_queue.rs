//! A queue of jobs in a ring, from which two threads take by compare-and-exchange.
//!
//! Source: folklore; the ABA problem of `aba.rs`, with positions in place of pointers.
//!
//! The bug: `take` reads the job at the head, and moves the head on if it is still where it was. It can have gone round
//! once, and there is another job.
//!
//! Threads: the owner, who adds jobs and takes them, meets a thief. Two reads of the thief see the owner's writes: the
//! head, which is back where it was, and that the job is done already.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

const JOBS: usize = 3;
const SLOTS: usize = 2;

struct Queue {
    /// The slot of the oldest job; the same as `tail` if there is none.
    head: AtomicUsize,
    /// The slot for the next job.
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
        self.slots[tail].store(job, Ordering::SeqCst);
        self.tail.store((tail + 1) % SLOTS, Ordering::SeqCst);
    }

    /// Takes the oldest job, unless there is none or another thread is faster.
    fn take(&self) -> Option<usize> {
        let head = self.head.load(Ordering::SeqCst);
        if head == self.tail.load(Ordering::SeqCst) {
            return None;
        }
        let job = self.slots[head].load(Ordering::SeqCst);
        let next = (head + 1) % SLOTS;
        self.head
            .compare_exchange(head, next, Ordering::SeqCst, Ordering::SeqCst)
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
