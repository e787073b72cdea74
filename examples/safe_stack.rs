//! A stack without locks whose elements are linked by index, and which keeps one element back so as to be safe.
//!
//! Source: the safe stack that D. Vyukov gave the users of CHESS for a riddle (2010), as in the set misc of SCTBench.
//!
//! The bug: `pop` takes the link out of the element at the head, so that nobody else can, and moves the head on. Between
//! the two the element can be put back in by a thread that had taken it before, and get another link: the ABA problem,
//! which is not ruled out by the count of elements.
//!
//! Threads: two that take an element, put it back and take one again, and one that takes an element. A failing schedule
//! has six preemptions or more, which makes 1,712 of 415,602 Mazurkiewicz traces.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize, Ordering};
use std::thread;

const ELEMENTS: usize = 3;

/// The link of the last element, and of one that is not to be taken.
const NONE: isize = -1;

struct Stack {
    head: AtomicIsize,
    count: AtomicUsize,
    links: [AtomicIsize; ELEMENTS],
    taken: [AtomicBool; ELEMENTS],
}

impl Stack {
    fn new() -> Self {
        Self {
            head: AtomicIsize::new(0),
            count: AtomicUsize::new(ELEMENTS),
            links: [1, 2, NONE].map(AtomicIsize::new),
            taken: Default::default(),
        }
    }

    /// The element at the top, unless it is the last one or another thread is faster.
    fn pop(&self) -> Option<usize> {
        if self.count.load(Ordering::SeqCst) <= 1 {
            return None;
        }
        let head = self.head.load(Ordering::SeqCst);
        let top = usize::try_from(head).ok()?;
        let link = self.links[top].swap(NONE, Ordering::SeqCst);
        if link == NONE {
            return None;
        }
        let moved = self
            .head
            .compare_exchange(head, link, Ordering::SeqCst, Ordering::SeqCst);
        if moved.is_err() {
            self.links[top].store(link, Ordering::SeqCst);
            return None;
        }
        self.count.fetch_sub(1, Ordering::SeqCst);
        Some(top)
    }

    fn push(&self, element: usize) {
        let mut head = self.head.load(Ordering::SeqCst);
        loop {
            self.links[element].store(head, Ordering::SeqCst);
            let top = element as isize;
            let moved = self
                .head
                .compare_exchange(head, top, Ordering::SeqCst, Ordering::SeqCst);
            match moved {
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
