//! A door: `../sync01.rs` with the bug taken out.
//!
//! `wait` looks and begins to wait under one lock, and looks again when it is woken.

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
        let mut open = self.open.lock().unwrap();
        while !*open {
            open = self.opened.wait(open).unwrap();
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
