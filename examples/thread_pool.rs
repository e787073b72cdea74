//! A pool of threads that take tasks from a queue with room for one.
//!
//! Source: thrift lib of the predecessor-set paper: a deadlock in the package of the C++ library of thrift that has the
//! thread pool and the task manager, over mutexes and condition variables. How it comes about there the paper doesn't say.
//!
//! The bug: those who wait for a task and the one who waits for room wait at one condition variable, and whoever changes
//! the queue wakes one of them. It can be the wrong one, which goes back to sleep.
//!
//! Threads: two to five workers, and the main thread, which has a task more than there are workers.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

const ROOM: usize = 1;

#[derive(Clone, Default)]
struct Tasks {
    waiting: VecDeque<u32>,
    closed: bool,
    done: u32,
}

#[derive(Default)]
struct Pool {
    tasks: Mutex<Tasks>,
    changed: Condvar,
}

impl Pool {
    fn add(&self, task: u32) {
        let mut tasks = self.tasks.lock().unwrap();
        while tasks.waiting.len() == ROOM {
            tasks = self.changed.wait(tasks).unwrap();
        }
        tasks.waiting.push_back(task);
        self.changed.notify_one();
    }

    fn close(&self) {
        self.tasks.lock().unwrap().closed = true;
        self.changed.notify_all();
    }

    /// Does tasks until there are no more.
    fn work(&self) {
        let mut tasks = self.tasks.lock().unwrap();
        loop {
            if tasks.waiting.pop_front().is_some() {
                tasks.done += 1;
                self.changed.notify_one();
            } else if tasks.closed {
                return;
            } else {
                tasks = self.changed.wait(tasks).unwrap();
            }
        }
    }
}

fn workers(n: u32) {
    let pool = Arc::new(Pool::default());
    let workers: Vec<_> = (0..n)
        .map(|_| {
            let pool = Arc::clone(&pool);
            thread::spawn(move || pool.work())
        })
        .collect();
    for task in 0..=n {
        pool.add(task);
    }
    pool.close();
    for worker in workers {
        worker.join().unwrap();
    }
    assert_eq!(pool.tasks.lock().unwrap().done, n + 1, "all is done");
}

#[test]
fn two_workers() {
    workers(2);
}

#[test]
fn three_workers() {
    workers(3);
}

#[test]
fn four_workers() {
    workers(4);
}

#[test]
fn five_workers() {
    workers(5);
}
