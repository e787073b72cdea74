//! A compressor and its queue: `../pbzip2.rs` with the bug taken out.
//!
//! The consumer looks whether there is a queue, and takes a block from it, under one lock.

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
    loop {
        let next = queue.lock().unwrap().as_mut().and_then(VecDeque::pop_front);
        let Some(block) = next else {
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
