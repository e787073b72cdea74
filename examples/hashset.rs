//! A hash set with a lock for each bucket, into which two threads insert the same element.
//!
//! Source: the HashSet benchmark of Razavi, Farzan and Holzer (2012).
//!
//! The bug: `insert` looks for the element under the bucket's read lock, and adds it under the write lock without
//! looking again.
//!
//! Threads: two that insert the same element. One read, of the bucket under the write lock, sees the other's write.

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

    fn contains(&self, element: u32) -> bool {
        self.bucket(element).read().unwrap().contains(&element)
    }

    /// Inserts `element`; false if the set had it already.
    fn insert(&self, element: u32) -> bool {
        if self.contains(element) {
            return false;
        }
        self.bucket(element).write().unwrap().push(element);
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
