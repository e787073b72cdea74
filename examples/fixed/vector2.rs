//! A vector after `java.util.Vector`: `../vector2.rs` with the bug taken out.
//!
//! `last_element` answers itself whether there is one.

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

    fn last_element(&self) -> Option<i32> {
        self.elements.lock().unwrap().last().copied()
    }
}

#[test]
fn last_element_while_all_are_removed() {
    let vector = Arc::new(Vector::default());
    let reader = {
        let vector = Arc::clone(&vector);
        thread::spawn(move || vector.last_element())
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
