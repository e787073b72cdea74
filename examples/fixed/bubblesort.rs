//! A bubble sort with a thread for each pair of neighbours: `../bubblesort.rs` with the bug taken out.
//!
//! `exchange` holds the locks of both numbers at once, the left one's first.

use std::sync::{Arc, Mutex};
use std::thread;

/// Exchanges two neighbours if they are in the wrong order.
fn exchange(numbers: &[Mutex<u32>], left: usize) {
    let mut small = numbers[left].lock().unwrap();
    let mut large = numbers[left + 1].lock().unwrap();
    if *small > *large {
        std::mem::swap(&mut *small, &mut *large);
    }
}

/// Sorts the numbers from `N` down to 1.
fn sort<const N: usize>(rounds: usize) {
    let reversed: [u32; N] = std::array::from_fn(|index| (N - index) as u32);
    let numbers = Arc::new(reversed.map(Mutex::new));
    let sorters: Vec<_> = (0..N - 1)
        .map(|left| {
            let numbers = Arc::clone(&numbers);
            thread::spawn(move || {
                for _ in 0..rounds {
                    exchange(numbers.as_ref(), left);
                }
            })
        })
        .collect();
    for sorter in sorters {
        sorter.join().unwrap();
    }
    let mut sorted: Vec<_> = numbers.iter().map(|n| *n.lock().unwrap()).collect();
    sorted.sort_unstable();
    assert!(sorted.iter().copied().eq(1..=N as u32), "a number is lost");
}

#[test]
fn three_numbers() {
    sort::<3>(2);
}

#[test]
fn five_numbers() {
    sort::<5>(4);
}
