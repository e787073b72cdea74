//! A stack after `java.util.Stack`, in which the distance of an element from the top is computed from two looks at it.
//!
//! Source: the Stack benchmarks of Razavi, Farzan and Holzer (2012); `search` of Java, which is `size() - lastIndexOf(o)`.
//!
//! The bug: `last_index_of` and `size` each hold the lock, `search` does not hold it from one to the other.
//!
//! Threads: a search meets a thread that pushes the element and then clears the stack. Two reads of the search see its
//! writes: the first finds the element at index 1, the second a size of 0.

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

    fn size(&self) -> usize {
        self.elements.lock().unwrap().len()
    }

    fn last_index_of(&self, element: u32) -> Option<usize> {
        let elements = self.elements.lock().unwrap();
        elements.iter().rposition(|&e| e == element)
    }

    /// The distance of `element` from the top, 1 for the top itself.
    fn search(&self, element: u32) -> Option<usize> {
        let index = self.last_index_of(element)?;
        Some(self.size() - index)
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
