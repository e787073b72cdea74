//! A bubble sort with a thread for each pair of neighbours: `../bubblesort.rs` with the bug taken out.
//!
//! `exchange` holds the locks of both numbers at once, the left one's first.

use std::sync::{Arc, Mutex};
use std::thread;

const ROUNDS: usize = 2;

type Numbers = [Mutex<u32>; 3];

/// Exchanges two neighbours if they are in the wrong order.
fn exchange(numbers: &Numbers, left: usize) {
    let mut small = numbers[left].lock().unwrap();
    let mut large = numbers[left + 1].lock().unwrap();
    if *small > *large {
        std::mem::swap(&mut *small, &mut *large);
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
