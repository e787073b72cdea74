//! A stack after `java.util.Stack`: `../stack2.rs` with the bug taken out.
//!
//! `search` counts from the top, under one hold of the lock.

use std::sync::{Arc, Mutex};
use std::thread;

struct Stack {
    elements: Mutex<Vec<u32>>,
}

impl Stack {
    fn push(&self, element: u32) {
        self.elements.lock().unwrap().push(element);
    }

    fn clear(&self) {
        self.elements.lock().unwrap().clear();
    }

    /// The distance of `element` from the top, 1 for the top itself.
    fn search(&self, element: u32) -> Option<usize> {
        let elements = self.elements.lock().unwrap();
        let index = elements.iter().rposition(|&e| e == element)?;
        Some(elements.len() - index)
    }
}

#[test]
fn search_while_the_stack_is_cleared() {
    let stack = Arc::new(Stack {
        elements: Mutex::new(vec![1]),
    });
    let searching = {
        let stack = Arc::clone(&stack);
        thread::spawn(move || stack.search(9))
    };
    let other = {
        let stack = Arc::clone(&stack);
        thread::spawn(move || {
            stack.push(9);
            stack.clear();
        })
    };
    searching.join().unwrap();
    other.join().unwrap();
}
