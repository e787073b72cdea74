//! Philosophers at a round table, with a fork between any two of them.
//!
//! Source: Dijkstra's dining philosophers (1965), in the form of Hoare; `din_phil2_sat` to `din_phil7_sat` of SCTBench.
//!
//! The bug: each takes the left fork first. When all have done so, each waits for the right one, which a neighbour
//! holds.
//!
//! Threads: two to seven. The more there are, the fewer of all schedules fail. With two, no read sees the other's write.

use std::sync::{Arc, Mutex};
use std::thread;

/// How often each fork was eaten with.
type Forks<const SEATS: usize> = [Mutex<u32>; SEATS];

fn dine<const SEATS: usize>(forks: &Forks<SEATS>, seat: usize) {
    let mut left = forks[seat].lock().unwrap();
    let mut right = forks[(seat + 1) % SEATS].lock().unwrap();
    *left += 1;
    *right += 1;
}

fn table<const SEATS: usize>() {
    let forks: Arc<Forks<SEATS>> = Arc::new([(); SEATS].map(|()| Mutex::default()));
    let philosophers: Vec<_> = (0..SEATS)
        .map(|seat| {
            let forks = Arc::clone(&forks);
            thread::spawn(move || dine(&forks, seat))
        })
        .collect();
    for philosopher in philosophers {
        philosopher.join().unwrap();
    }
}

#[test]
fn all_dine() {
    table::<3>();
}

#[test]
fn two_dine() {
    table::<2>();
}

#[test]
fn four_dine() {
    table::<4>();
}

#[test]
fn five_dine() {
    table::<5>();
}

#[test]
fn six_dine() {
    table::<6>();
}

#[test]
fn seven_dine() {
    table::<7>();
}
