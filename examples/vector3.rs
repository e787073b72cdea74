//! A vector after `java.util.Vector`, from which an element is removed at the index that it had before.
//!
//! Source: the Vector benchmarks of Razavi, Farzan and Holzer (2012); `indexOf` and `removeElementAt` of Java.
//!
//! The bug: the index is found under a read lock, and used under a write lock that is taken afterwards.
//!
//! Threads: a remover meets a thread that adds the element and takes it back. Two reads of the remover see its writes:
//! the first finds the element at index 2, the second finds a vector that is shorter.

use std::sync::{Arc, RwLock};
use std::thread;

struct Vector {
    elements: RwLock<Vec<i32>>,
}

impl Vector {
    fn add_element(&self, element: i32) {
        self.elements.write().unwrap().push(element);
    }

    fn remove_last(&self) {
        self.elements.write().unwrap().pop();
    }

    fn index_of(&self, element: i32) -> Option<usize> {
        let elements = self.elements.read().unwrap();
        elements.iter().position(|&e| e == element)
    }

    fn remove_element_at(&self, index: usize) -> i32 {
        self.elements.write().unwrap().remove(index)
    }

    fn remove_element(&self, element: i32) -> bool {
        let Some(index) = self.index_of(element) else {
            return false;
        };
        self.remove_element_at(index);
        true
    }
}

#[test]
fn remove_while_the_vector_shrinks() {
    let vector = Arc::new(Vector {
        elements: RwLock::new(vec![10, 20]),
    });
    let remover = {
        let vector = Arc::clone(&vector);
        thread::spawn(move || vector.remove_element(30))
    };
    let other = {
        let vector = Arc::clone(&vector);
        thread::spawn(move || {
            vector.add_element(30);
            vector.remove_last();
        })
    };
    remover.join().unwrap();
    other.join().unwrap();
}
