//! A hash set with a lock for each bucket: `../hashset.rs` with the bug taken out.
//!
//! `insert` looks for the element and adds it under one hold of the bucket's write lock.

use std::sync::{Arc, RwLock};
use std::thread;

const BUCKETS: usize = 2;

#[derive(Default)]
struct HashSet {
    buckets: [RwLock<Vec<u32>>; BUCKETS],
}

impl HashSet {
    fn bucket(&self, element: u32) -> &RwLock<Vec<u32>> {
        let hash = element.wrapping_mul(0x9e37_79b9) >> 16;
        &self.buckets[hash as usize % BUCKETS]
    }

    /// Inserts `element`; false if the set had it already.
    fn insert(&self, element: u32) -> bool {
        let mut bucket = self.bucket(element).write().unwrap();
        if bucket.contains(&element) {
            return false;
        }
        bucket.push(element);
        true
    }

    fn len(&self) -> usize {
        let sizes = self
            .buckets
            .iter()
            .map(|bucket| bucket.read().unwrap().len());
        sizes.sum()
    }
}

#[test]
fn the_same_element_twice() {
    let set = Arc::new(HashSet::default());
    let first = {
        let set = Arc::clone(&set);
        thread::spawn(move || set.insert(42))
    };
    let second = {
        let set = Arc::clone(&set);
        thread::spawn(move || set.insert(42))
    };
    first.join().unwrap();
    second.join().unwrap();
    assert_eq!(set.len(), 1, "the set has an element twice");
}
