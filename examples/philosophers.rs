//! Three philosophers at a round table, with a fork between any two of them.
//!
//! Source: Dijkstra's dining philosophers (1965), in the form of Hoare.
//!
//! The bug: each takes the left fork first. When all three have done so, each waits for the right one, which a
//! neighbour holds.
//!
//! Threads: three. With two of them at the table there is no circle, and no deadlock.

use std::sync::{Arc, Mutex};
use std::thread;

const SEATS: usize = 3;

/// How often each fork was eaten with.
type Forks = [Mutex<u32>; SEATS];

fn dine(forks: &Forks, seat: usize) {
    let mut left = forks[seat].lock().unwrap();
    let mut right = forks[(seat + 1) % SEATS].lock().unwrap();
    *left += 1;
    *right += 1;
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
