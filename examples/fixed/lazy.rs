//! A counter with a limit: `../lazy.rs` with the bug taken out.
//!
//! The third thread has looked at the count before the others start.

use std::sync::{Arc, Mutex};
use std::thread;

const LIMIT: u32 = 3;

#[test]
fn two_raise_and_one_looks() {
    let count = Arc::new(Mutex::new(0));
    let guard = {
        let count = Arc::clone(&count);
        thread::spawn(move || {
            let count = *count.lock().unwrap();
            assert!(count < LIMIT, "the limit is reached");
        })
    };
    guard.join().unwrap();
    let raisers = [1, 2].map(|by| {
        let count = Arc::clone(&count);
        thread::spawn(move || *count.lock().unwrap() += by)
    });
    for raiser in raisers {
        raiser.join().unwrap();
    }
}
