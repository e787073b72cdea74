//! Two producers and a consumer: `../producer_consumer.rs` with the bug taken out.
//!
//! `put` keeps the lock from when it looks for room to when it has put the item in.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::thread;

const CAPACITY: usize = 1;

/// How often a thread looks before it gives up.
const PATIENCE: usize = 2;

#[derive(Default)]
struct Buffer {
    items: Mutex<VecDeque<u32>>,
}

impl Buffer {
    /// Puts an item in; false if there was no room.
    fn put(&self, item: u32) -> bool {
        for _ in 0..PATIENCE {
            let mut items = self.items.lock().unwrap();
            if items.len() < CAPACITY {
                items.push_back(item);
                let length = items.len();
                drop(items);
                assert!(length <= CAPACITY, "the buffer overflows");
                return true;
            }
            drop(items);
            thread::yield_now();
        }
        false
    }

    fn take(&self) -> Option<u32> {
        for _ in 0..PATIENCE {
            let item = self.items.lock().unwrap().pop_front();
            if item.is_some() {
                return item;
            }
            thread::yield_now();
        }
        None
    }
}

#[test]
fn two_producers() {
    let buffer = Arc::new(Buffer::default());
    let producers = [1, 2].map(|item| {
        let buffer = Arc::clone(&buffer);
        thread::spawn(move || buffer.put(item))
    });
    let consumer = {
        let buffer = Arc::clone(&buffer);
        thread::spawn(move || buffer.take())
    };
    for producer in producers {
        producer.join().unwrap();
    }
    consumer.join().unwrap();
}
