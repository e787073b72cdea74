//! A queue whose two ends are used in turns, which is what a pair of flags is for.
//!
//! Source: `queue_bad` of SCTBench, after the benchmarks of ESBMC.
//!
//! The bug: the producer counts how often it has tried, not how often it was its turn. When it finds that it isn't, it
//! goes on to the next number all the same, and the consumer then gets another one than it expects.
//!
//! Threads: a producer of three numbers meets a consumer. Each sees what the other has written, so that the bug is not
//! k-coupled for any k: the consumer a number, the producer that it was taken, the consumer the next number.

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
            for number in 0..NUMBERS {
                let mut queue = queue.lock().unwrap();
                if !queue.consumers_turn {
                    queue.numbers.push_back(number);
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
