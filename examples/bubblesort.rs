//! A bubble sort with a thread for each pair of neighbours.
//!
//! Source: the bubble sort of the IBM benchmark of concurrent programs with bugs (Eytani, Ur 2004).
//!
//! The bug: `exchange` has a lock for each number, but holds only one at a time. The number in the middle belongs to
//! two pairs, and when both are exchanged at once, one number is there twice and another one is lost.
//!
//! Threads: one for the left and one for the right pair of three numbers, or four for five numbers. Of two, two reads of either see the other's writes:
//! of the number in the middle, under whose lock it writes its own over it, and of the other's outer number, which is
//! only looked at when both are joined.

use std::sync::{Arc, Mutex};
use std::thread;

/// Exchanges two neighbours if they are in the wrong order.
fn exchange(numbers: &[Mutex<u32>], left: usize) {
    let small = *numbers[left].lock().unwrap();
    let large = *numbers[left + 1].lock().unwrap();
    if small > large {
        *numbers[left].lock().unwrap() = large;
        *numbers[left + 1].lock().unwrap() = small;
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
