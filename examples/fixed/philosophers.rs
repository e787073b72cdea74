//! Three philosophers at a round table: `../philosophers.rs` with the bug taken out.
//!
//! Each takes the fork with the smaller number first, so that the last one does not take the left one first.

use std::sync::{Arc, Mutex};
use std::thread;

const SEATS: usize = 3;

/// How often each fork was eaten with.
type Forks = [Mutex<u32>; SEATS];

fn dine(forks: &Forks, seat: usize) {
    let (left, right) = (seat, (seat + 1) % SEATS);
    let mut first = forks[left.min(right)].lock().unwrap();
    let mut second = forks[left.max(right)].lock().unwrap();
    *first += 1;
    *second += 1;
}

#[test]
fn all_dine() {
    let forks = Arc::new(Forks::default());
    let philosophers = [0, 1, 2].map(|seat| {
        let forks = Arc::clone(&forks);
        thread::spawn(move || dine(&forks, seat))
    });
    for philosopher in philosophers {
        philosopher.join().unwrap();
    }
}
