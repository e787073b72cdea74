//! A stack after `java.util.Stack`, popped when it was not empty a moment ago.
//!
//! Source: the Stack benchmarks of Razavi, Farzan and Holzer (2012); `empty` and `pop` of Java.
//!
//! The bug: `empty` and `pop` are atomic, the two in sequence are not.
//!
//! Threads: a consumer meets a thread that pushes an element and clears the stack. Two reads of the consumer see its
//! writes: the first finds the element, the second an empty stack.

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

    fn empty(&self) -> bool {
        self.elements.lock().unwrap().is_empty()
    }

    fn pop(&self) -> u32 {
        let top = self.elements.lock().unwrap().pop();
        top.expect("pop from an empty stack")
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
        thread::spawn(move || if stack.empty() { 0 } else { stack.pop() })
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
    assert!(popped == 0 || popped == 5, "an element out of nowhere");
}
