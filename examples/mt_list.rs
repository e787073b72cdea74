//! Two linked lists, each with a lock, and a great many threads that add to them, or add the one to the other.
//!
//! Source: MTList of the MCR paper, a test of Java's synchronized `LinkedList`, which throws a
//! `ConcurrentModificationException`.
//!
//! The bug: `add_all` holds the lock of the list that it adds to, and walks along the other one, whose lock is taken for
//! one step at a time. Who adds to that one meanwhile makes the walk fail.
//!
//! Threads: two, or 26: thirteen that add all of the second list to the first, and thirteen that add to the second. Of
//! two, one read of the one that walks sees a write of the other.

use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Clone)]
struct Node {
    value: u32,
    next: Option<usize>,
}

/// A list of nodes, linked by where they are.
#[derive(Clone, Default)]
struct Linked {
    nodes: Vec<Node>,
    first: Option<usize>,
    last: Option<usize>,
    /// How often it has been changed.
    changes: u32,
}

impl Linked {
    fn push_back(&mut self, value: u32) {
        let index = self.nodes.len();
        self.nodes.push(Node { value, next: None });
        match self.last {
            Some(last) => self.nodes[last].next = Some(index),
            None => self.first = Some(index),
        }
        self.last = Some(index);
        self.changes += 1;
    }
}

/// Where a walk along a list is.
struct Walk {
    next: Option<usize>,
    changes: u32,
}

#[derive(Default)]
struct List {
    linked: Mutex<Linked>,
}

impl List {
    fn add(&self, value: u32) {
        self.linked.lock().unwrap().push_back(value);
    }

    fn walk(&self) -> Walk {
        let linked = self.linked.lock().unwrap();
        Walk {
            next: linked.first,
            changes: linked.changes,
        }
    }

    fn step(&self, walk: &mut Walk) -> Option<u32> {
        let index = walk.next?;
        let linked = self.linked.lock().unwrap();
        let same = linked.changes == walk.changes;
        assert!(same, "the list is changed during a walk");
        let node = &linked.nodes[index];
        walk.next = node.next;
        Some(node.value)
    }

    fn add_all(&self, other: &Self) {
        let mut linked = self.linked.lock().unwrap();
        let mut walk = other.walk();
        while let Some(value) = other.step(&mut walk) {
            linked.push_back(value);
        }
    }

    fn len(&self) -> usize {
        self.linked.lock().unwrap().nodes.len()
    }
}

/// Half of the threads, or one less, add one list to the other one.
fn threads(n: usize) {
    let lists = Arc::new([List::default(), List::default()]);
    lists[1].add(7);
    let threads: Vec<_> = (0..n)
        .map(|i| {
            let lists = Arc::clone(&lists);
            thread::spawn(move || match i % 2 {
                0 => lists[0].add_all(&lists[1]),
                _ => lists[1].add(i as u32),
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert!(lists[0].len() >= n / 2, "each that adds finds one or more");
}

#[test]
fn one_of_each() {
    threads(2);
}

#[test]
fn thirteen_of_each() {
    threads(26);
}
