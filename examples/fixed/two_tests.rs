//! Tickets on sale at two windows: `../two_tests.rs` with the bug taken out.
//!
//! `sell` looks whether a ticket is left and takes it in one step.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

struct Tickets {
    left: AtomicU32,
}

impl Tickets {
    /// Sells a ticket; false if none is left.
    fn sell(&self) -> bool {
        self.left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
                left.checked_sub(1)
            })
            .is_ok()
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
    let first_sold = first.join().unwrap();
    let second_sold = second.join().unwrap();
    assert!(first_sold != second_sold, "one ticket, one buyer");
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
