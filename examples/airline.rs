//! A flight whose seats are sold by three agents at once.
//!
//! Source: the airline of the IBM benchmark of concurrent programs with bugs (Eytani, Ur 2004).
//!
//! The bug: `sell` looks whether there is a seat left, and counts it as sold in a second step. With one seat left, two
//! agents can both have seen it.
//!
//! Threads: three agents, who sell a ticket each, for two seats.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

const AGENTS: usize = 3;
const SEATS: u32 = 2;

#[derive(Default)]
struct Flight {
    sold: AtomicU32,
}

impl Flight {
    /// Sells a ticket; false if the flight is full.
    fn sell(&self) -> bool {
        if self.sold.load(Ordering::SeqCst) == SEATS {
            return false;
        }
        self.sold.fetch_add(1, Ordering::SeqCst);
        true
    }
}

#[test]
fn three_agents() {
    let flight = Flight::default();
    thread::scope(|scope| {
        for _ in 0..AGENTS {
            scope.spawn(|| flight.sell());
        }
    });
    let sold = flight.sold.load(Ordering::SeqCst);
    assert!(sold <= SEATS, "the flight is oversold");
}
