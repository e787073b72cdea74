//! A sorted list with a lock in each node, along which threads go hand over hand.
//!
//! Source: folklore; Bayer and Schkolnick, *Concurrency of Operations on B-Trees* (1977). Long walks that only take locks
//! and give them back are the third case that we have for the lazy happens-before relation.
//!
//! The bug: `insert` gives the lock of a node back before it takes the next one, and then takes the first again to link a
//! new node in. Two that insert at the same place lose one of the two.
//!
//! Threads: two that insert between the same nodes, and one that walks along the list.

use std::sync::{Arc, Mutex};
use std::thread;

const NODES: usize = 4;

#[derive(Clone, Copy)]
struct Node {
    value: u32,
    next: Option<usize>,
}

/// Nodes by index, the first of which is the head. The last ones are not linked in yet.
struct List {
    nodes: [Mutex<Node>; NODES],
}

impl List {
    /// With 0 and 30 in it, and room for 10 and 20.
    fn new() -> Self {
        let node = |value, next| Mutex::new(Node { value, next });
        Self {
            nodes: [
                node(0, Some(1)),
                node(30, None),
                node(10, None),
                node(20, None),
            ],
        }
    }

    /// Links a node in behind those with smaller values.
    fn insert(&self, new: usize) {
        let value = self.nodes[new].lock().unwrap().value;
        let mut at = 0;
        let mut next = self.next(at);
        while let Some(index) = next.filter(|index| self.value(*index) < value) {
            at = index;
            next = self.next(at);
        }
        self.nodes[new].lock().unwrap().next = next;
        self.nodes[at].lock().unwrap().next = Some(new);
    }

    fn next(&self, index: usize) -> Option<usize> {
        self.nodes[index].lock().unwrap().next
    }

    fn value(&self, index: usize) -> u32 {
        self.nodes[index].lock().unwrap().value
    }

    fn len(&self) -> usize {
        std::iter::successors(Some(0), |index| self.next(*index)).count()
    }
}

#[test]
fn two_insert() {
    let list = Arc::new(List::new());
    let inserting = [2, 3].map(|new| {
        let list = Arc::clone(&list);
        thread::spawn(move || list.insert(new))
    });
    let walking = {
        let list = Arc::clone(&list);
        thread::spawn(move || list.len())
    };
    for thread in inserting {
        thread.join().unwrap();
    }
    assert!(walking.join().unwrap() >= 2, "the list has two ends");
    assert_eq!(list.len(), NODES, "a node is lost");
}
