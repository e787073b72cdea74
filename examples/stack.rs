//! A stack of bounded height, with one thread that pushes and one that pops.
//!
//! Source: `stack_bad` of SCTBench, after the benchmarks of ESBMC.
//!
//! The bug: a flag says that there is something on the stack. It goes up with the first push, and never down again.
//!
//! Threads: one pushes two plates, one pops two. Two reads of the latter see writes of the former: the flag, and the
//! height.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

const PLATES: usize = 2;

#[derive(Default)]
struct Stack {
    plates: Mutex<Vec<usize>>,
    filled: AtomicBool,
}

impl Stack {
    fn push(&self, plate: usize) {
        let mut plates = self.plates.lock().unwrap();
        assert!(plates.len() < PLATES, "the stack is too high");
        plates.push(plate);
        self.filled.store(true, Ordering::SeqCst);
    }

    /// The plate at the top, if there is one.
    fn pop(&self) -> Option<usize> {
        if !self.filled.load(Ordering::SeqCst) {
            return None;
        }
        let plate = self.plates.lock().unwrap().pop();
        Some(plate.expect("the stack is empty"))
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
