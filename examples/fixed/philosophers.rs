//! Philosophers at a round table: `../philosophers.rs` with the bug taken out.
//!
//! Each takes the fork with the smaller number first, so that the last one does not take the left one first.

use std::sync::{Arc, Mutex};
use std::thread;

/// How often each fork was eaten with.
type Forks<const SEATS: usize> = [Mutex<u32>; SEATS];

fn dine<const SEATS: usize>(forks: &Forks<SEATS>, seat: usize) {
    let (left, right) = (seat, (seat + 1) % SEATS);
    let mut first = forks[left.min(right)].lock().unwrap();
    let mut second = forks[left.max(right)].lock().unwrap();
    *first += 1;
    *second += 1;
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
