//! A flight whose seats are sold by several agents at once.
//!
//! Source: the airline of the IBM benchmark of concurrent programs with bugs (Eytani, Ur 2004).
//!
//! The bug: `sell` looks whether there is a seat left, and counts it as sold in a second step. With one seat left, two
//! agents can both have seen it.
//!
//! Threads: three or five agents, who sell a ticket each, and a seat less than that.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

struct Flight {
    seats: u32,
    sold: AtomicU32,
}

impl Flight {
    /// Sells a ticket; false if the flight is full.
    fn sell(&self) -> bool {
        if self.sold.load(Ordering::SeqCst) == self.seats {
            return false;
        }
        self.sold.fetch_add(1, Ordering::SeqCst);
        true
    }
}

fn agents(n: u32) {
    let flight = Flight {
        seats: n - 1,
        sold: AtomicU32::new(0),
    };
    thread::scope(|scope| {
        for _ in 0..n {
            scope.spawn(|| flight.sell());
        }
    });
    let sold = flight.sold.load(Ordering::SeqCst);
    assert!(sold <= flight.seats, "the flight is oversold");
}

#[test]
fn three_agents() {
    agents(3);
}

#[test]
fn five_agents() {
    agents(5);
}
