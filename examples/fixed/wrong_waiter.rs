//! A buffer with room for one and one condition variable: `../wrong_waiter.rs` with the bug taken out.
//!
//! Everybody is told, and looks whether it is what they wait for.

use std::sync::{Arc, Condvar, Mutex};
use std::thread;

#[derive(Default)]
struct Buffer {
    slot: Mutex<Option<u32>>,
    changed: Condvar,
}

impl Buffer {
    fn put(&self, value: u32) {
        let slot = self.slot.lock().unwrap();
        let mut slot = self
            .changed
            .wait_while(slot, |slot| slot.is_some())
            .unwrap();
        *slot = Some(value);
        self.changed.notify_all();
    }

    fn take(&self) -> u32 {
        let slot = self.slot.lock().unwrap();
        let mut slot = self
            .changed
            .wait_while(slot, |slot| slot.is_none())
            .unwrap();
        self.changed.notify_all();
        slot.take().expect("there is something in it")
    }
}

#[test]
fn two_takers() {
    let buffer = Arc::new(Buffer::default());
    let takers = [0, 1].map(|_| {
        let buffer = Arc::clone(&buffer);
        thread::spawn(move || buffer.take())
    });
    buffer.put(1);
    buffer.put(2);
    let taken = takers.map(|taker| taker.join().unwrap());
    assert_eq!(taken[0] + taken[1], 3);
}
