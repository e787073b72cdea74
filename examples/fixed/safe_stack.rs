//! A stack linked by index: `../safe_stack.rs` with the bug taken out.
//!
//! The head counts how often it has been moved, so that it can't be moved from where it no longer is.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;

const ELEMENTS: usize = 3;

/// The link of the last element.
const NONE: usize = ELEMENTS;

struct Stack {
    /// An element, and in the upper half how often the head has been moved.
    head: AtomicU64,
    count: AtomicUsize,
    links: [AtomicUsize; ELEMENTS],
    taken: [AtomicBool; ELEMENTS],
}

impl Stack {
    fn new() -> Self {
        Self {
            head: AtomicU64::new(0),
            count: AtomicUsize::new(ELEMENTS),
            links: [1, 2, NONE].map(AtomicUsize::new),
            taken: Default::default(),
        }
    }

    /// The element at the top, unless it is the last one or another thread is faster.
    fn pop(&self) -> Option<usize> {
        if self.count.load(Ordering::SeqCst) <= 1 {
            return None;
        }
        let head = self.head.load(Ordering::SeqCst);
        let top = element(head);
        if top == NONE {
            return None;
        }
        let link = self.links[top].load(Ordering::SeqCst);
        self.head
            .compare_exchange(head, moved(head, link), Ordering::SeqCst, Ordering::SeqCst)
            .ok()?;
        self.count.fetch_sub(1, Ordering::SeqCst);
        Some(top)
    }

    fn push(&self, top: usize) {
        let mut head = self.head.load(Ordering::SeqCst);
        loop {
            self.links[top].store(element(head), Ordering::SeqCst);
            let to = moved(head, top);
            match self
                .head
                .compare_exchange(head, to, Ordering::SeqCst, Ordering::SeqCst)
            {
                Ok(_) => break,
                Err(now) => head = now,
            }
        }
        self.count.fetch_add(1, Ordering::SeqCst);
    }

    fn take(&self) -> Option<usize> {
        let element = self.pop()?;
        let before = self.taken[element].swap(true, Ordering::SeqCst);
        assert!(!before, "an element is taken twice");
        Some(element)
    }

    fn put_back(&self, element: usize) {
        self.taken[element].store(false, Ordering::SeqCst);
        self.push(element);
    }
}

/// The element that a head is at.
fn element(head: u64) -> usize {
    (head & 0xffff_ffff) as usize
}

/// The head after it has been moved to an element.
fn moved(head: u64, to: usize) -> u64 {
    ((head >> 32) + 1) << 32 | to as u64
}

#[test]
fn three_threads() {
    let stack = Arc::new(Stack::new());
    let users = [(); 2].map(|()| {
        let stack = Arc::clone(&stack);
        thread::spawn(move || {
            if let Some(element) = stack.take() {
                stack.put_back(element);
            }
            stack.take();
        })
    });
    let third = {
        let stack = Arc::clone(&stack);
        thread::spawn(move || stack.take())
    };
    for user in users {
        user.join().unwrap();
    }
    third.join().unwrap();
}
