//! A stack after `java.util.Stack`: `../stack3.rs` with the bug taken out.
//!
//! `swap` holds the write lock from the look at the size to the end.

use std::sync::{Arc, RwLock};
use std::thread;

struct Stack {
    elements: RwLock<Vec<char>>,
}

impl Stack {
    fn push(&self, element: char) {
        self.elements.write().unwrap().push(element);
    }

    fn pop(&self) -> Option<char> {
        self.elements.write().unwrap().pop()
    }

    /// Swaps the two topmost elements, if there are two.
    fn swap(&self) {
        let mut elements = self.elements.write().unwrap();
        let size = elements.len();
        if size >= 2 {
            elements.swap(size - 1, size - 2);
        }
    }
}

#[test]
fn swap_while_the_top_is_dropped() {
    let stack = Arc::new(Stack {
        elements: RwLock::new(vec!['a']),
    });
    let swapping = {
        let stack = Arc::clone(&stack);
        thread::spawn(move || stack.swap())
    };
    let other = {
        let stack = Arc::clone(&stack);
        thread::spawn(move || {
            stack.push('b');
            stack.pop();
        })
    };
    swapping.join().unwrap();
    other.join().unwrap();
}
