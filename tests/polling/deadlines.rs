//! Loops that wait for something, but only until a time has come. What is right of each harness is in `tests/polling.rs`.

use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

const SOON: Duration = Duration::from_millis(1);
const LIMIT: Duration = Duration::from_millis(500);

/// A thread that sets the flag, after the other thing.
fn set(x: &Arc<AtomicU32>, flag: &Arc<AtomicBool>) -> thread::JoinHandle<()> {
    let (x, flag) = (x.clone(), flag.clone());
    thread::spawn(move || {
        flag.store(true, SeqCst);
        x.store(7, SeqCst);
    })
}

fn shared() -> (Arc<AtomicU32>, Arc<AtomicBool>) {
    (Arc::default(), Arc::default())
}

// Others get their turn before the time is over.

#[test]
fn in_time_by_what_has_elapsed() {
    let (x, flag) = shared();
    let t = set(&x, &flag);
    let start = Instant::now();
    while !flag.load(SeqCst) {
        assert!(start.elapsed() < LIMIT, "timed out");
        thread::sleep(SOON);
    }
    t.join().unwrap();
}

#[test]
fn in_time_by_a_deadline() {
    let (x, flag) = shared();
    let t = set(&x, &flag);
    let deadline = Instant::now() + LIMIT;
    loop {
        if flag.load(SeqCst) {
            break;
        }
        if Instant::now() >= deadline {
            panic!("timed out");
        }
        thread::yield_now();
    }
    t.join().unwrap();
}

#[test]
fn in_time_by_the_date() {
    let (x, flag) = shared();
    let t = set(&x, &flag);
    let start = SystemTime::now();
    while !flag.load(SeqCst) {
        let passed = SystemTime::now().duration_since(start).unwrap();
        assert!(passed < LIMIT, "timed out");
        std::hint::spin_loop();
    }
    t.join().unwrap();
}

#[test]
fn in_time_by_what_is_left() {
    let (x, flag) = shared();
    let t = set(&x, &flag);
    let start = Instant::now();
    while !flag.load(SeqCst) {
        let left = LIMIT.checked_sub(Instant::now().saturating_duration_since(start));
        match left {
            Some(left) => thread::sleep(left.min(SOON)),
            None => panic!("timed out"),
        }
    }
    t.join().unwrap();
}

// What comes after the loop is run.

#[test]
fn polls_until_a_deadline() {
    let (x, flag) = shared();
    let t = set(&x, &flag);
    let start = Instant::now();
    while !flag.load(SeqCst) && start.elapsed() < LIMIT {
        thread::sleep(SOON);
    }
    assert_eq!(x.load(SeqCst), 7);
    t.join().unwrap();
}

#[test]
fn polls_a_lock_until_a_deadline() {
    let m = Arc::new(Mutex::new(0));
    let n = m.clone();
    let t = thread::spawn(move || {
        *n.lock().unwrap() = 1;
        *n.lock().unwrap() = 2;
    });
    let start = Instant::now();
    while start.elapsed() < LIMIT && *m.lock().unwrap() == 0 {
        thread::sleep(SOON);
    }
    assert_eq!(*m.lock().unwrap(), 1);
    t.join().unwrap();
}

#[test]
fn polls_messages_until_a_deadline() {
    let (sender, receiver) = channel();
    let t = thread::spawn(move || sender.send(7).unwrap());
    let deadline = Instant::now() + LIMIT;
    let found = loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match receiver.recv_timeout(left.min(SOON)) {
            Ok(found) => break found,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => panic!("nobody sends"),
        }
    };
    assert_eq!(found, 8);
    t.join().unwrap();
}

// Nobody does it: time passes.

#[test]
fn too_late_for_nobody() {
    let flag = Arc::new(AtomicBool::new(false));
    let other = flag.clone();
    let t = thread::spawn(move || other.load(SeqCst));
    let start = Instant::now();
    while !flag.load(SeqCst) {
        assert!(start.elapsed() < LIMIT, "timed out");
        thread::sleep(SOON);
    }
    t.join().unwrap();
}

#[test]
fn too_late_for_who_waits_for_the_end() {
    let flag = Arc::new(AtomicBool::new(false));
    let other = flag.clone();
    let start = Instant::now();
    let t = thread::spawn(move || {
        while !other.load(SeqCst) {
            assert!(start.elapsed() < LIMIT, "timed out");
        }
    });
    t.join().unwrap();
    flag.store(true, SeqCst);
}

#[test]
fn too_late_for_both() {
    let flag = Arc::new(AtomicBool::new(false));
    let other = flag.clone();
    let start = Instant::now();
    let t = thread::spawn(move || {
        while !other.load(SeqCst) && start.elapsed() < LIMIT {
            thread::sleep(SOON);
        }
    });
    while !flag.load(SeqCst) {
        assert!(start.elapsed() < LIMIT, "timed out");
        thread::sleep(SOON);
    }
    t.join().unwrap();
}
