//! Threads that poll what seqz does not follow: nothing that they look at makes an event, and yet it changes.
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use hides::Queue;

#[test]
fn ok_sleeps() {
    let queue = Arc::new(Queue::default());
    let done = Arc::new(AtomicUsize::new(0));
    let (theirs, set) = (queue.clone(), done.clone());
    let t = thread::spawn(move || {
        set.store(1, SeqCst);
        theirs.push(1);
    });
    while queue.is_empty() {
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(done.load(SeqCst), 1);
    t.join().unwrap();
}

#[test]
fn ok_spins() {
    let queue = Arc::new(Queue::default());
    let theirs = queue.clone();
    let t = thread::spawn(move || theirs.push(1));
    while queue.is_empty() {}
    t.join().unwrap();
    assert!(!queue.is_empty());
}

#[test]
fn ok_in_turn() {
    let (there, back) = (Arc::new(Queue::default()), Arc::new(Queue::default()));
    let number = Arc::new(Mutex::new(0));
    let (to, from, count) = (there.clone(), back.clone(), number.clone());
    let t = thread::spawn(move || {
        for _ in 0..2 {
            while to.pop().is_none() {
                thread::yield_now();
            }
            *count.lock().unwrap() += 1;
            from.push(0);
        }
    });
    for wanted in 1..3 {
        there.push(0);
        while back.pop().is_none() {
            thread::yield_now();
        }
        assert_eq!(*number.lock().unwrap(), wanted);
    }
    t.join().unwrap();
}

struct Cell {
    lock: Mutex<()>,
    value: UnsafeCell<u32>,
}

// SAFETY: the value is used under the lock alone.
unsafe impl Sync for Cell {}

impl Cell {
    fn get(&self) -> u32 {
        let _guard = self.lock.lock().unwrap();
        // SAFETY: as above.
        unsafe { *self.value.get() }
    }

    fn set(&self, value: u32) {
        let _guard = self.lock.lock().unwrap();
        // SAFETY: as above.
        unsafe { *self.value.get() = value }
    }
}

/// The lock is followed, and what is under it is not.
#[test]
fn ok_under_a_lock() {
    let cell = Arc::new(Cell {
        lock: Mutex::new(()),
        value: UnsafeCell::new(0),
    });
    let theirs = cell.clone();
    let t = thread::spawn(move || theirs.set(1));
    while cell.get() == 0 {
        thread::sleep(Duration::from_millis(1));
    }
    t.join().unwrap();
}

/// A worker that is woken by what is followed, and tells by what is not.
#[test]
fn ok_woken() {
    let queue = Arc::new(Queue::default());
    let bell = Arc::new((Mutex::new(false), Condvar::new()));
    let (out, rung) = (queue.clone(), bell.clone());
    let t = thread::spawn(move || {
        let mut is_rung = rung.0.lock().unwrap();
        while !*is_rung {
            is_rung = rung.1.wait(is_rung).unwrap();
        }
        drop(is_rung);
        out.push(1);
    });
    *bell.0.lock().unwrap() = true;
    bell.1.notify_one();
    while queue.is_empty() {
        thread::sleep(Duration::from_millis(1));
    }
    t.join().unwrap();
}

#[test]
fn bad_too_early() {
    let queue = Arc::new(Queue::default());
    let done = Arc::new(AtomicUsize::new(0));
    let (theirs, set) = (queue.clone(), done.clone());
    let t = thread::spawn(move || {
        theirs.push(1);
        set.store(1, SeqCst);
    });
    while queue.is_empty() {
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(done.load(SeqCst), 1);
    t.join().unwrap();
}

/// Nobody writes what it waits for.
#[test]
fn bad_waits_for_nothing() {
    let queue = Arc::new(Queue::<u32>::default());
    let flag = Arc::new(AtomicUsize::new(0));
    let (theirs, set) = (queue.clone(), flag.clone());
    let t = thread::spawn(move || {
        theirs.push(1);
        set.store(1, SeqCst);
    });
    while flag.load(SeqCst) < 2 {
        thread::yield_now();
    }
    t.join().unwrap();
}
