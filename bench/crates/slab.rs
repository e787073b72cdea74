//! A slab behind a lock, which two threads put values into.

use std::sync::Mutex;
use std::thread;

use slab::Slab;

#[test]
fn two_threads_insert() {
    let slab = Mutex::new(Slab::new());
    let (first, second) = thread::scope(|scope| {
        let first = scope.spawn(|| slab.lock().unwrap().insert("first"));
        let second = scope.spawn(|| slab.lock().unwrap().insert("second"));
        (first.join().unwrap(), second.join().unwrap())
    });
    assert_ne!(first, second);
    assert_eq!(slab.lock().unwrap()[first], "first");
}
