//! A stack of bounded height: `../stack.rs` with the bug taken out.
//!
//! `pop` takes the lock and looks at the stack itself.

use std::sync::{Arc, Mutex};
use std::thread;

const PLATES: usize = 2;

#[derive(Default)]
struct Stack {
    plates: Mutex<Vec<usize>>,
}

impl Stack {
    fn push(&self, plate: usize) {
        let mut plates = self.plates.lock().unwrap();
        assert!(plates.len() < PLATES, "the stack is too high");
        plates.push(plate);
    }

    /// The plate at the top, if there is one.
    fn pop(&self) -> Option<usize> {
        self.plates.lock().unwrap().pop()
    }
}

#[test]
fn push_and_pop() {
    let stack = Arc::new(Stack::default());
    let pushing = {
        let stack = Arc::clone(&stack);
        thread::spawn(move || {
            for plate in 0..PLATES {
                stack.push(plate);
            }
        })
    };
    let popping = {
        let stack = Arc::clone(&stack);
        thread::spawn(move || {
            for _ in 0..PLATES {
                stack.pop();
            }
        })
    };
    pushing.join().unwrap();
    popping.join().unwrap();
}
