//! A ring buffer for one sender and one receiver.
//!
//! Source: `circular_buffer_bad` of SCTBench, after the benchmarks of ESBMC.
//!
//! The bug: `send` looks at the next slot alone, and not whether the receiver has taken what is there. When the sender is
//! a whole round ahead, the message that the receiver waits for has been written over.
//!
//! Threads: the sender of three messages meets the receiver. Two reads of the receiver, of the count and of the slot, see
//! writes of the sender.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::thread;

const SLOTS: usize = 2;
const MESSAGES: u32 = 3;

#[derive(Default)]
struct Ring {
    slots: [AtomicU32; SLOTS],
    sent: AtomicUsize,
    received: AtomicUsize,
}

impl Ring {
    /// Puts a message in; false if there is no room for it.
    fn send(&self, message: u32) -> bool {
        let sent = self.sent.load(Ordering::SeqCst);
        self.slots[sent % SLOTS].store(message, Ordering::SeqCst);
        self.sent.store(sent + 1, Ordering::SeqCst);
        true
    }

    fn receive(&self) -> Option<u32> {
        let received = self.received.load(Ordering::SeqCst);
        if received == self.sent.load(Ordering::SeqCst) {
            return None;
        }
        let message = self.slots[received % SLOTS].load(Ordering::SeqCst);
        self.received.store(received + 1, Ordering::SeqCst);
        Some(message)
    }
}

#[test]
fn send_and_receive() {
    let ring = Arc::new(Ring::default());
    let sender = {
        let ring = Arc::clone(&ring);
        thread::spawn(move || {
            for message in 1..=MESSAGES {
                if !ring.send(message) {
                    break;
                }
            }
        })
    };
    let receiver = {
        let ring = Arc::clone(&ring);
        thread::spawn(move || {
            for expected in 1..=MESSAGES {
                let Some(message) = ring.receive() else {
                    break;
                };
                assert_eq!(message, expected, "a message is written over");
            }
        })
    };
    sender.join().unwrap();
    receiver.join().unwrap();
}
