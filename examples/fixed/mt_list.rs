//! Two linked lists: `../mt_list.rs` with the bug taken out.
//!
//! `add_all` copies the other list under its lock, before it takes its own.

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
    }

    fn values(&self) -> impl Iterator<Item = u32> {
        let nodes = std::iter::successors(self.first, |index| self.nodes[*index].next);
        nodes.map(|index| self.nodes[index].value)
    }
}

#[derive(Default)]
struct List {
    linked: Mutex<Linked>,
}

impl List {
    fn add(&self, value: u32) {
        self.linked.lock().unwrap().push_back(value);
    }

    fn add_all(&self, other: &Self) {
        let values: Vec<_> = other.linked.lock().unwrap().values().collect();
        let mut linked = self.linked.lock().unwrap();
        for value in values {
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
