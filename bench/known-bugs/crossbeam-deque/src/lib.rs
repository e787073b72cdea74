use std::thread;

use crossbeam_deque::{Steal, Worker};

#[test]
fn every_job_is_taken_once() {
    let worker = Worker::new_lifo();
    let stealer = worker.stealer();
    for job in 0..4 {
        worker.push(job);
    }
    let thief = thread::spawn(move || {
        let mine = Worker::new_lifo();
        while let Steal::Retry = stealer.steal_batch(&mine) {}
        let mut taken = Vec::new();
        while let Some(job) = mine.pop() {
            taken.push(job);
        }
        taken
    });
    let mut taken = Vec::new();
    for _ in 0..3 {
        taken.extend(worker.pop());
    }
    for job in 4..72 {
        worker.push(job);
    }
    taken.extend(thief.join().unwrap());
    while let Some(job) = worker.pop() {
        taken.push(job);
    }
    taken.sort_unstable();
    assert_eq!(taken, (0..72).collect::<Vec<_>>());
}
