//! A flight and its agents: `../airline.rs` with the bug taken out.
//!
//! `sell` counts a seat as sold if the count is still the one that it has seen; if not, it looks again.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

struct Flight {
    seats: u32,
    sold: AtomicU32,
}

impl Flight {
    /// Sells a ticket; false if the flight is full.
    fn sell(&self) -> bool {
        let mut sold = self.sold.load(Ordering::SeqCst);
        while sold < self.seats {
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
