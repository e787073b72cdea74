//! A vector after `java.util.Vector`: `../vector3.rs` with the bug taken out.
//!
//! `remove_element` finds the index and uses it under one hold of the write lock.

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

    fn remove_element(&self, element: i32) -> bool {
        let mut elements = self.elements.write().unwrap();
        let Some(index) = elements.iter().position(|&e| e == element) else {
            return false;
        };
        elements.remove(index);
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
