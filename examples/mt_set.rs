//! Two hash sets, each with a lock, and a great many threads that add to them, or look whether one has all of the other.
//!
//! Source: MTSet of the MCR paper, a test of Java's synchronized `HashSet`, which throws a
//! `ConcurrentModificationException`.
//!
//! The bug: `has_all` holds the lock of the one set and goes through the other one, whose lock is taken for one element
//! at a time. Who adds to that one meanwhile makes it fail.
//!
//! Threads: two, or 21: eleven that compare and ten that add. Of two, one read of the one that compares sees a write of
//! the other.

use std::sync::{Arc, Mutex};
use std::thread;

const BUCKETS: usize = 4;

#[derive(Clone, Default)]
struct Table {
    buckets: [Vec<u32>; BUCKETS],
    /// How often it has been changed.
    changes: u32,
}

impl Table {
    fn has(&self, element: u32) -> bool {
        self.buckets[bucket(element)].contains(&element)
    }

    fn insert(&mut self, element: u32) {
        if !self.has(element) {
            self.buckets[bucket(element)].push(element);
            self.changes += 1;
        }
    }

    fn nth(&self, n: usize) -> Option<u32> {
        self.buckets.iter().flatten().nth(n).copied()
    }
}

fn bucket(element: u32) -> usize {
    (element.wrapping_mul(0x9e37_79b9) >> 16) as usize % BUCKETS
}

#[derive(Default)]
struct Set {
    table: Mutex<Table>,
}

impl Set {
    fn add(&self, element: u32) {
        self.table.lock().unwrap().insert(element);
    }

    fn changes(&self) -> u32 {
        self.table.lock().unwrap().changes
    }

    /// The element at a position, which says something as long as the set isn't changed.
    fn at(&self, n: usize, changes: u32) -> Option<u32> {
        let table = self.table.lock().unwrap();
        let same = table.changes == changes;
        assert!(same, "the set is changed while it is gone through");
        table.nth(n)
    }

    fn has_all(&self, other: &Self) -> bool {
        let table = self.table.lock().unwrap();
        let changes = other.changes();
        (0..)
            .map_while(|n| other.at(n, changes))
            .all(|element| table.has(element))
    }
}

/// Half of the threads, or one more, compare the sets.
fn threads(n: usize) {
    let sets = Arc::new([Set::default(), Set::default()]);
    for set in sets.iter() {
        set.add(0);
    }
    let threads: Vec<_> = (0..n)
        .map(|i| {
            let sets = Arc::clone(&sets);
            thread::spawn(move || match i % 2 {
                0 => {
                    sets[0].has_all(&sets[1]);
                }
                _ => sets[1].add(i as u32),
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert!(sets[1].has_all(&sets[0]), "nothing is taken out");
}

#[test]
fn one_of_each() {
    threads(2);
}

#[test]
fn eleven_and_ten() {
    threads(21);
}
