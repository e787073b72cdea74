//! A counter that two threads raise, and a third one that takes it for granted which of them has.
//!
//! Source: `lazy01_bad` of SCTBench, after the benchmarks of ESBMC.
//!
//! The bug: everything is done under the lock, but nothing orders the three threads. The alarm is for a count that is
//! reached when both have raised it.
//!
//! Threads: two raise the count, one looks at it.

use std::sync::{Arc, Mutex};
use std::thread;

const LIMIT: u32 = 3;

#[test]
fn two_raise_and_one_looks() {
    let count = Arc::new(Mutex::new(0));
    let raisers = [1, 2].map(|by| {
        let count = Arc::clone(&count);
        thread::spawn(move || *count.lock().unwrap() += by)
    });
    let guard = {
        let count = Arc::clone(&count);
        thread::spawn(move || {
            let count = *count.lock().unwrap();
            assert!(count < LIMIT, "the limit is reached");
        })
    };
    for raiser in raisers {
        raiser.join().unwrap();
    }
    guard.join().unwrap();
}
