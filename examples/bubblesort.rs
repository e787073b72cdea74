//! A bubble sort with a thread for each pair of neighbours.
//!
//! Source: the bubble sort of the IBM benchmark of concurrent programs with bugs (Eytani, Ur 2004).
//!
//! The bug: `exchange` has a lock for each number, but holds only one at a time. The number in the middle belongs to
//! two pairs, and when both are exchanged at once, one number is there twice and another one is lost.
//!
//! Threads: one for the left and one for the right pair of three numbers. Two reads of either see the other's writes:
//! of the number in the middle, under whose lock it writes its own over it, and of the other's outer number, which is
//! only looked at when both are joined.

use std::sync::{Arc, Mutex};
use std::thread;

const ROUNDS: usize = 2;

type Numbers = [Mutex<u32>; 3];

/// Exchanges two neighbours if they are in the wrong order.
fn exchange(numbers: &Numbers, left: usize) {
    let small = *numbers[left].lock().unwrap();
    let large = *numbers[left + 1].lock().unwrap();
    if small > large {
        *numbers[left].lock().unwrap() = large;
        *numbers[left + 1].lock().unwrap() = small;
    }
}

#[test]
fn three_numbers() {
    let numbers: Arc<Numbers> = Arc::new([3, 2, 1].map(Mutex::new));
    let sorters = [0, 1].map(|left| {
        let numbers = Arc::clone(&numbers);
        thread::spawn(move || {
            for _ in 0..ROUNDS {
                exchange(&numbers, left);
            }
        })
    });
    for sorter in sorters {
        sorter.join().unwrap();
    }
    let mut sorted = [0, 1, 2].map(|index| *numbers[index].lock().unwrap());
    sorted.sort_unstable();
    assert_eq!(sorted, [1, 2, 3], "a number is lost");
}
