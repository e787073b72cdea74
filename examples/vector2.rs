//! A vector after `java.util.Vector`, whose last element is taken for granted when it was not empty a moment ago.
//!
//! Source: the Vector benchmarks of Razavi, Farzan and Holzer (2012); `lastElement` and `removeAllElements` of Java.
//!
//! The bug: `is_empty` and `last_element` are atomic, the two in sequence are not.
//!
//! Threads: a reader meets a writer that adds an element and then removes all. Two reads of the reader see its writes:
//! the first finds the element, the second an empty vector.

use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Default)]
struct Vector {
    elements: Mutex<Vec<i32>>,
}

impl Vector {
    fn add_element(&self, element: i32) {
        self.elements.lock().unwrap().push(element);
    }

    fn remove_all_elements(&self) {
        self.elements.lock().unwrap().clear();
    }

    fn is_empty(&self) -> bool {
        self.elements.lock().unwrap().is_empty()
    }

    fn last_element(&self) -> i32 {
        let elements = self.elements.lock().unwrap();
        *elements
            .last()
            .expect("no such element: the vector is empty")
    }
}

#[test]
fn last_element_while_all_are_removed() {
    let vector = Arc::new(Vector::default());
    let reader = {
        let vector = Arc::clone(&vector);
        thread::spawn(move || {
            if vector.is_empty() {
                None
            } else {
                Some(vector.last_element())
            }
        })
    };
    let writer = {
        let vector = Arc::clone(&vector);
        thread::spawn(move || {
            vector.add_element(7);
            vector.remove_all_elements();
        })
    };
    let last = reader.join().unwrap();
    writer.join().unwrap();
    assert!(matches!(last, None | Some(7)), "an element out of nowhere");
}
