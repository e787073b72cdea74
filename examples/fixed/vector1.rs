//! A vector after `java.util.Vector`: `../vector1.rs` with the bug taken out.
//!
//! `to_array` makes the array and fills it under one hold of the monitor.

use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

const CAPACITY: usize = 4;

#[derive(Default)]
struct Vector {
    monitor: Mutex<()>,
    element_count: AtomicUsize,
    element_data: [AtomicI32; CAPACITY],
}

impl Vector {
    fn add_element(&self, element: i32) {
        let _entered = self.monitor.lock().unwrap();
        let count = self.element_count.load(Ordering::Relaxed);
        self.element_data[count].store(element, Ordering::Relaxed);
        self.element_count.store(count + 1, Ordering::Relaxed);
    }

    fn to_array(&self) -> Vec<i32> {
        let _entered = self.monitor.lock().unwrap();
        let count = self.element_count.load(Ordering::Relaxed);
        let elements = self.element_data[..count].iter();
        elements.map(|e| e.load(Ordering::Relaxed)).collect()
    }
}

#[test]
fn copy_while_an_element_is_added() {
    let vector = Arc::new(Vector::default());
    vector.add_element(10);
    vector.add_element(20);
    let copying = {
        let vector = Arc::clone(&vector);
        thread::spawn(move || vector.to_array())
    };
    let adding = {
        let vector = Arc::clone(&vector);
        thread::spawn(move || vector.add_element(30))
    };
    let array = copying.join().unwrap();
    adding.join().unwrap();
    assert_eq!(array[..2], [10, 20], "the copy has other elements");
}
