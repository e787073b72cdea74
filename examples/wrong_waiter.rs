//! A buffer with room for one, with one condition variable for those that put and those that take.
//!
//! Source: folklore; why `notify` in Java is hardly ever right, and `notifyAll` is.
//!
//! The bug: `take` wakes one of all that wait, to tell that there is room. If that is another taker, it finds the buffer
//! empty and waits again, and the one that waits to put something there is never told.
//!
//! Threads: three. It takes one of the wrong kind that waits beside the right one.

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
        self.changed.notify_one();
    }

    fn take(&self) -> u32 {
        let slot = self.slot.lock().unwrap();
        let mut slot = self
            .changed
            .wait_while(slot, |slot| slot.is_none())
            .unwrap();
        self.changed.notify_one();
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
