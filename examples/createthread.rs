//! A thread that looks its own entry up, which the one that starts it writes.
//!
//! Source: createthread of the predecessor-set paper, an order violation extracted from Mozilla. Of the program itself
//! the paper says nothing.
//!
//! The bug: the entry is written after the thread is started, so that the thread can be faster.
//!
//! Threads: the main thread meets the one that it starts. No read has to see the other thread's write: the new thread
//! must not see one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Default)]
struct Runtime {
    /// Names of threads.
    threads: Mutex<BTreeMap<u32, &'static str>>,
}

impl Runtime {
    fn register(&self, id: u32, name: &'static str) {
        self.threads.lock().unwrap().insert(id, name);
    }

    fn name(&self, id: u32) -> &'static str {
        let threads = self.threads.lock().unwrap();
        threads.get(&id).expect("the thread is not known")
    }
}

#[test]
fn the_thread_is_faster() {
    let runtime = Arc::new(Runtime::default());
    let started = {
        let runtime = Arc::clone(&runtime);
        thread::spawn(move || runtime.name(1))
    };
    runtime.register(1, "collector");
    assert_eq!(started.join().unwrap(), "collector");
}
