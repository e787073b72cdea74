//! A queue used in turns: `../queue.rs` with the bug taken out.
//!
//! The producer goes on to the next number when it has put one in.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::thread;

const NUMBERS: u32 = 3;

#[derive(Clone, Default)]
struct Queue {
    numbers: VecDeque<u32>,
    consumers_turn: bool,
}

#[test]
fn put_and_take() {
    let queue = Arc::new(Mutex::new(Queue::default()));
    let producer = {
        let queue = Arc::clone(&queue);
        thread::spawn(move || {
            let mut number = 0;
            for _ in 0..NUMBERS {
                let mut queue = queue.lock().unwrap();
                if !queue.consumers_turn {
                    queue.numbers.push_back(number);
                    number += 1;
                    queue.consumers_turn = true;
                }
            }
        })
    };
    let consumer = {
        let queue = Arc::clone(&queue);
        thread::spawn(move || {
            let mut expected = 0;
            for _ in 0..NUMBERS {
                let mut queue = queue.lock().unwrap();
                if queue.consumers_turn {
                    let number = queue.numbers.pop_front().unwrap();
                    assert_eq!(number, expected, "a number is skipped");
                    expected += 1;
                    queue.consumers_turn = false;
                }
            }
        })
    };
    producer.join().unwrap();
    consumer.join().unwrap();
}
