//! A sorted list with a lock in each node: `../hand_over.rs` with the bug taken out.
//!
//! `insert` holds the lock of a node until it has that of the next one, or has linked the new node in.

use std::sync::{Arc, Mutex, MutexGuard};
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
        let value = self.node(new).value;
        let mut at = self.node(0);
        while let Some(next) = at.next {
            let following = self.node(next);
            if following.value >= value {
                break;
            }
            at = following;
        }
        self.node(new).next = at.next;
        at.next = Some(new);
    }

    fn node(&self, index: usize) -> MutexGuard<'_, Node> {
        self.nodes[index].lock().unwrap()
    }

    fn next(&self, index: usize) -> Option<usize> {
        self.node(index).next
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
