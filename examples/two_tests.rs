//! Tickets on sale at two windows, with two tests in one file, of which one finds a bug.
//!
//! Source: folklore; a check and an act that belong together.
//!
//! The bug: `sell` looks whether a ticket is left and takes it, in two steps. `give_back` is one step, and its test is
//! clean.
//!
//! Threads: two windows that sell the last ticket. One read, of the count as a ticket is taken off it, sees the other's
//! write.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

struct Tickets {
    left: AtomicU32,
}

impl Tickets {
    /// Sells a ticket; false if none is left.
    fn sell(&self) -> bool {
        if self.left.load(Ordering::SeqCst) == 0 {
            return false;
        }
        let before = self.left.fetch_sub(1, Ordering::SeqCst);
        assert!(before > 0, "a ticket is sold twice");
        true
    }

    fn give_back(&self) {
        self.left.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn the_last_ticket() {
    let tickets = Arc::new(Tickets {
        left: AtomicU32::new(1),
    });
    let first = {
        let tickets = Arc::clone(&tickets);
        thread::spawn(move || tickets.sell())
    };
    let second = {
        let tickets = Arc::clone(&tickets);
        thread::spawn(move || tickets.sell())
    };
    first.join().unwrap();
    second.join().unwrap();
}

#[test]
fn two_returns() {
    let tickets = Arc::new(Tickets {
        left: AtomicU32::new(0),
    });
    let first = {
        let tickets = Arc::clone(&tickets);
        thread::spawn(move || tickets.give_back())
    };
    let second = {
        let tickets = Arc::clone(&tickets);
        thread::spawn(move || tickets.give_back())
    };
    first.join().unwrap();
    second.join().unwrap();
    assert_eq!(tickets.left.load(Ordering::SeqCst), 2, "a return is lost");
}
