//! A door that one thread opens, and at which another one waits.
//!
//! Source: `sync01_bad` of SCTBench, after the benchmarks of ESBMC: two threads and a condition variable.
//!
//! The bug: `wait` looks whether the door is open, and begins to wait in a second critical section. When the door is
//! opened in between, nobody is there to be woken, and nobody will be woken again.
//!
//! Threads: one that waits meets one that opens.

use std::sync::{Arc, Condvar, Mutex};
use std::thread;

#[derive(Default)]
struct Door {
    open: Mutex<bool>,
    opened: Condvar,
}

impl Door {
    fn is_open(&self) -> bool {
        *self.open.lock().unwrap()
    }

    fn wait(&self) {
        if !self.is_open() {
            let open = self.open.lock().unwrap();
            drop(self.opened.wait(open).unwrap());
        }
    }

    fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.opened.notify_all();
    }
}

#[test]
fn a_wake_up_is_lost() {
    let door = Arc::new(Door::default());
    let waiting = {
        let door = Arc::clone(&door);
        thread::spawn(move || door.wait())
    };
    door.open();
    waiting.join().unwrap();
    assert!(door.is_open(), "nobody shuts the door");
}
