//! An operation that is begun by one thread and ended by another.
//!
//! Source: readwriteproc of the predecessor-set paper, an order violation extracted from Mozilla. Of the program itself
//! the paper says nothing.
//!
//! The bug: `begin` hands the operation on, and then says that it is pending. If it has ended by then, it is pending for
//! good.
//!
//! Threads: one that begins the operation meets the one that ends it. Two reads of the latter see writes of
//! the former: of the queue, and of `pending` at the end.

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
        self.queue.lock().unwrap().push(operation);
        self.pending.store(true, Ordering::SeqCst);
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
