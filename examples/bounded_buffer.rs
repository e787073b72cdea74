//! A buffer with room for one. Whoever puts something into it waits for room, whoever takes something out until there is
//! something in it.
//!
//! Source: folklore; the two classic mistakes with condition variables.
//!
//! The bugs: a taker that was woken does not look again. Between the notification and its return from `wait` another
//! taker may have been there. And `close` sets its flag without the lock: if that comes between a taker's look at the flag
//! and its wait, the notification is lost, and the taker waits for ever.
//!
//! Threads: three for the first, two for the second.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

#[derive(Default)]
struct Buffer {
    slot: Mutex<Option<u32>>,
    filled: Condvar,
    emptied: Condvar,
    closed: AtomicBool,
}

impl Buffer {
    fn put(&self, value: u32) {
        let slot = self.slot.lock().unwrap();
        let mut slot = self
            .emptied
            .wait_while(slot, |slot| slot.is_some())
            .unwrap();
        *slot = Some(value);
        self.filled.notify_one();
    }

    fn take(&self) -> u32 {
        let mut slot = self.slot.lock().unwrap();
        if slot.is_none() {
            slot = self.filled.wait(slot).unwrap();
        }
        let value = slot
            .take()
            .expect("a taker was woken, and the buffer is empty");
        self.emptied.notify_one();
        value
    }

    /// What is in the buffer, or nothing once it is closed.
    fn last(&self) -> Option<u32> {
        let mut slot = self.slot.lock().unwrap();
        while slot.is_none() && !self.closed.load(Ordering::SeqCst) {
            slot = self.filled.wait(slot).unwrap();
        }
        slot.take()
    }

    fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        self.filled.notify_all();
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

#[test]
fn close_while_one_waits() {
    let buffer = Arc::new(Buffer::default());
    let taker = {
        let buffer = Arc::clone(&buffer);
        thread::spawn(move || buffer.last())
    };
    buffer.close();
    assert_eq!(taker.join().unwrap(), None);
}
