//! A slot that one scoped thread fills and another empties: `../scoped.rs` with the bug taken out.
//!
//! `send` fills the slot before it raises the flag.

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
        *self.message.lock().unwrap() = Some(message.to_owned());
        self.full.store(true, Ordering::SeqCst);
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
