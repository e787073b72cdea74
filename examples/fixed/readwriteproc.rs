//! An operation of two threads: `../readwriteproc.rs` with the bug taken out.
//!
//! `begin` says that the operation is pending before it hands it on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Default)]
struct Operations {
    queue: Mutex<Vec<u32>>,
    pending: AtomicBool,
    done: Mutex<Vec<u32>>,
}

impl Operations {
    fn begin(&self, operation: u32) {
        self.pending.store(true, Ordering::SeqCst);
        self.queue.lock().unwrap().push(operation);
    }

    fn end(&self) {
        let operation = self.queue.lock().unwrap().pop();
        if let Some(operation) = operation {
            self.done.lock().unwrap().push(operation);
            self.pending.store(false, Ordering::SeqCst);
        }
    }
}

#[test]
fn end_before_it_is_pending() {
    let operations = Arc::new(Operations::default());
    let beginning = {
        let operations = Arc::clone(&operations);
        thread::spawn(move || operations.begin(7))
    };
    let ending = {
        let operations = Arc::clone(&operations);
        thread::spawn(move || operations.end())
    };
    beginning.join().unwrap();
    ending.join().unwrap();
    let done = operations.done.lock().unwrap().len();
    let pending = operations.pending.load(Ordering::SeqCst);
    assert_eq!(done == 0, pending, "what is done is pending");
}
