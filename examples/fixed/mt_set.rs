//! Two hash sets: `../mt_set.rs` with the bug taken out.
//!
//! `has_all` copies the other set under its lock, before it takes its own.

use std::sync::{Arc, Mutex};
use std::thread;

const BUCKETS: usize = 4;

#[derive(Clone, Default)]
struct Table {
    buckets: [Vec<u32>; BUCKETS],
}

impl Table {
    fn has(&self, element: u32) -> bool {
        self.buckets[bucket(element)].contains(&element)
    }

    fn insert(&mut self, element: u32) {
        if !self.has(element) {
            self.buckets[bucket(element)].push(element);
        }
    }

    fn elements(&self) -> Vec<u32> {
        self.buckets.iter().flatten().copied().collect()
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

    fn has_all(&self, other: &Self) -> bool {
        let elements = other.table.lock().unwrap().elements();
        let table = self.table.lock().unwrap();
        elements.into_iter().all(|element| table.has(element))
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
