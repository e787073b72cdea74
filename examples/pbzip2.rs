//! A compressor that puts the blocks of a file into a queue, from which a thread takes and compresses them.
//!
//! Source: pbzip2 of the predecessor-set paper: an order violation between the main thread and the consumers, which
//! sometimes follow a null pointer.
//!
//! The bug: the main thread takes the queue down when it has put in all blocks, and not when they have all been taken.
//! A consumer that has seen the queue finds it gone when it comes back with its lock.
//!
//! Threads: the main thread meets a consumer. One read of the consumer, of the queue, sees the main thread's write.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::thread;

/// Compresses runs of equal bytes.
fn compress(block: &[u8]) -> Vec<(u8, usize)> {
    block
        .chunk_by(|a, b| a == b)
        .map(|run| (run[0], run.len()))
        .collect()
}

type Queue = Mutex<Option<VecDeque<&'static [u8]>>>;

#[derive(Default)]
struct Output {
    blocks: Mutex<Vec<Vec<(u8, usize)>>>,
}

fn consume(queue: &Queue, output: &Output) {
    while queue.lock().unwrap().is_some() {
        let mut blocks = queue.lock().unwrap();
        let blocks = blocks.as_mut().expect("the queue is gone");
        let Some(block) = blocks.pop_front() else {
            return;
        };
        output.blocks.lock().unwrap().push(compress(block));
    }
}

#[test]
fn the_queue_goes_away() {
    let queue = Arc::new(Queue::default());
    let output = Arc::new(Output::default());
    *queue.lock().unwrap() = Some(VecDeque::from([b"aaab".as_slice()]));
    let consumer = {
        let (queue, output) = (Arc::clone(&queue), Arc::clone(&output));
        thread::spawn(move || consume(&queue, &output))
    };
    let left = queue.lock().unwrap().take();
    consumer.join().unwrap();
    let compressed = output.blocks.lock().unwrap().len();
    let left = left.unwrap_or_default().len();
    assert_eq!(compressed + left, 1, "no block is lost");
}
