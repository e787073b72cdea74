//! A slot that one scoped thread fills and another empties, with a flag that says when.
//!
//! Source: folklore; a publication in the wrong order, here of a value that lives on the stack of the test.
//!
//! The bug: `send` raises the flag before it fills the slot.
//!
//! Threads: the receiver meets the sender. One read of the receiver, of the flag, sees the sender's write; the slot that
//! it then finds is empty.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

#[derive(Default)]
struct Slot {
    full: AtomicBool,
    message: Mutex<Option<String>>,
}

impl Slot {
    fn send(&self, message: &str) {
        self.full.store(true, Ordering::SeqCst);
        *self.message.lock().unwrap() = Some(message.to_owned());
    }

    fn try_receive(&self) -> Option<String> {
        if !self.full.load(Ordering::SeqCst) {
            return None;
        }
        let message = self.message.lock().unwrap().take();
        Some(message.expect("the slot is full, but there is nothing in it"))
    }
}

#[test]
fn send_and_receive() {
    let slot = Slot::default();
    let received = thread::scope(|scope| {
        scope.spawn(|| slot.send("ready"));
        let receiver = scope.spawn(|| slot.try_receive());
        receiver.join().unwrap()
    });
    if let Some(message) = received {
        assert_eq!(message, "ready", "another message than was sent");
    }
}
