use std::sync::Arc;
use std::thread;

use crossbeam::sync::MsQueue;

#[test]
fn a_thread_waits_for_a_job() {
    let queue = Arc::new(MsQueue::new());
    let other = Arc::clone(&queue);
    let popping = thread::spawn(move || other.pop());
    queue.push(1);
    assert_eq!(popping.join().unwrap(), 1);
}
