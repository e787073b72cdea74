use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

fn beside(forever: fn()) {
    let count = Arc::new(AtomicU32::new(0));
    let other = count.clone();
    thread::spawn(move || {
        other.fetch_add(1, SeqCst);
        forever();
    });
    assert!(count.load(SeqCst) <= 1);
}

#[test]
fn sleeps() {
    let count = Arc::new(AtomicU32::new(0));
    let other = count.clone();
    thread::spawn(move || {
        other.fetch_add(1, SeqCst);
        loop {
            thread::sleep(Duration::from_secs(6));
        }
    });
    thread::sleep(Duration::from_secs(1));
    assert!(count.load(SeqCst) <= 1);
}

#[test]
fn yields() {
    beside(|| {
        loop {
            thread::yield_now();
        }
    });
}

#[test]
fn spins() {
    beside(|| {
        loop {
            std::hint::spin_loop();
        }
    });
}

#[test]
fn may_fail_beside_it() {
    let count = Arc::new(AtomicU32::new(0));
    let other = count.clone();
    thread::spawn(move || {
        other.store(1, SeqCst);
        loop {
            thread::yield_now();
        }
    });
    assert_eq!(count.load(SeqCst), 0, "it was first");
}

#[test]
fn waits_for_ever_for_its_end() {
    let count = Arc::new(AtomicU32::new(0));
    let other = count.clone();
    let thread = thread::spawn(move || {
        other.fetch_add(1, SeqCst);
        loop {
            thread::yield_now();
        }
    });
    count.fetch_add(1, SeqCst);
    thread.join().unwrap()
}
