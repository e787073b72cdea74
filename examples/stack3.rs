//! A stack after `java.util.Stack`, whose two topmost elements are swapped when there were two a moment ago.
//!
//! Source: the Stack benchmarks of Razavi, Farzan and Holzer (2012), with an operation that Forth calls `swap`.
//!
//! The bug: each `pop` and `push` is atomic and `size` is so too, but `swap` is made of five of them.
//!
//! Threads: a swap meets a thread that pushes an element and then drops it. Two reads of the swap see its writes: the
//! size of 2, and at the first pop a stack of 1 element. The second pop finds none.

use std::sync::{Arc, RwLock};
use std::thread;

struct Stack {
    elements: RwLock<Vec<char>>,
}

impl Stack {
    fn size(&self) -> usize {
        self.elements.read().unwrap().len()
    }

    fn push(&self, element: char) {
        self.elements.write().unwrap().push(element);
    }

    fn pop(&self) -> Option<char> {
        self.elements.write().unwrap().pop()
    }

    /// Swaps the two topmost elements, if there are two.
    fn swap(&self) {
        if self.size() < 2 {
            return;
        }
        let top = self.pop().expect("a stack of two has a first element");
        let below = self.pop().expect("a stack of two has a second element");
        self.push(top);
        self.push(below);
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
