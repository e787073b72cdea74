//! A vector after `java.util.Vector`, copied into an array that was made for the size it had before.
//!
//! Source: the Vector benchmarks of Razavi, Farzan and Holzer (2012). As in Java, the elements and their count are
//! fields of their own, and every method holds the vector's monitor.
//!
//! The bug: `size` and `copy_into` are atomic, the two in sequence are not.
//!
//! Threads: the copy meets `add_element`. Two reads of the copy see its writes: the count, and the new element that no
//! longer fits.

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

    fn size(&self) -> usize {
        let _entered = self.monitor.lock().unwrap();
        self.element_count.load(Ordering::Relaxed)
    }

    fn copy_into(&self, array: &mut [i32]) {
        let _entered = self.monitor.lock().unwrap();
        let count = self.element_count.load(Ordering::Relaxed);
        for (index, element) in self.element_data[..count].iter().enumerate() {
            array[index] = element.load(Ordering::Relaxed);
        }
    }

    fn to_array(&self) -> Vec<i32> {
        let mut array = vec![0; self.size()];
        self.copy_into(&mut array);
        array
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
