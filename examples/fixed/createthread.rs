//! A thread that looks its own entry up: `../createthread.rs` with the bug taken out.
//!
//! The entry is written before the thread is started, and its name after that.

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
    runtime.register(1, "new");
    let started = {
        let runtime = Arc::clone(&runtime);
        thread::spawn(move || runtime.name(1))
    };
    runtime.register(1, "collector");
    assert!(matches!(started.join().unwrap(), "new" | "collector"));
}
