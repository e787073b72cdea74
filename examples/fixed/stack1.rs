//! A stack after `java.util.Stack`: `../stack1.rs` with the bug taken out.
//!
//! `pop` answers itself whether there was an element.

use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Default)]
struct Stack {
    elements: Mutex<Vec<u32>>,
}

impl Stack {
    fn push(&self, element: u32) {
        self.elements.lock().unwrap().push(element);
    }

    fn pop(&self) -> Option<u32> {
        self.elements.lock().unwrap().pop()
    }

    /// Removes all elements.
    fn clear(&self) {
        self.elements.lock().unwrap().clear();
    }
}

#[test]
fn pop_while_the_stack_is_cleared() {
    let stack = Arc::new(Stack::default());
    let consumer = {
        let stack = Arc::clone(&stack);
        thread::spawn(move || stack.pop())
    };
    let other = {
        let stack = Arc::clone(&stack);
        thread::spawn(move || {
            stack.push(5);
            stack.clear();
        })
    };
    let popped = consumer.join().unwrap();
    other.join().unwrap();
    assert!(
        matches!(popped, None | Some(5)),
        "an element out of nowhere"
    );
}
