//! A flight with three agents: `../airline.rs` with the bug taken out.
//!
//! `sell` counts a seat as sold if the count is still the one that it has seen; if not, it looks again.

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
        let mut sold = self.sold.load(Ordering::SeqCst);
        while sold < SEATS {
            let counted =
                self.sold
                    .compare_exchange(sold, sold + 1, Ordering::SeqCst, Ordering::SeqCst);
            match counted {
                Ok(_) => return true,
                Err(now) => sold = now,
            }
        }
        false
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
