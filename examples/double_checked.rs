//! A value that is made when it is first asked for, with double-checked locking.
//!
//! Source: Bacon and others, *The "Double-Checked Locking is Broken" Declaration* (2000). There the memory model swaps
//! two writes; here the program does.
//!
//! The bug: `get` says that the value is there before it is. Those who look again under the lock are safe, but the
//! first look is without it.
//!
//! Threads: two that ask for the value. One read of either sees the other's write, that the value is there; the value
//! itself is still the initial one.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Default)]
struct Lazy {
    made: AtomicBool,
    value: AtomicU32,
    making: Mutex<()>,
}

impl Lazy {
    fn get(&self) -> u32 {
        if !self.made.load(Ordering::SeqCst) {
            let _making = self.making.lock().unwrap();
            if !self.made.load(Ordering::SeqCst) {
                self.made.store(true, Ordering::SeqCst);
                self.value.store(42, Ordering::SeqCst);
            }
        }
        self.value.load(Ordering::SeqCst)
    }
}

#[test]
fn two_threads_ask() {
    let lazy = Arc::new(Lazy::default());
    let users = [(); 2].map(|()| {
        let lazy = Arc::clone(&lazy);
        thread::spawn(move || assert_eq!(lazy.get(), 42, "the value is not there yet"))
    });
    for user in users {
        user.join().unwrap();
    }
}
