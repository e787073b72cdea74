//! Loops that wait for what handles of shared values and of threads tell. What is right of each harness is in
//! `tests/polling.rs`.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

static X: AtomicU32 = AtomicU32::new(0);

#[test]
fn polls_how_many_handles_there_are() {
    let mine = Arc::new(());
    let other = mine.clone();
    let t = thread::spawn(move || {
        X.store(7, SeqCst);
        drop(other);
    });
    while Arc::strong_count(&mine) > 1 {
        thread::yield_now();
    }
    assert_eq!(X.load(SeqCst), 8);
    t.join().unwrap();
}

#[test]
fn polls_how_many_weak_handles_there_are() {
    let mine = Arc::new(());
    let other = Arc::downgrade(&mine);
    let t = thread::spawn(move || {
        X.store(7, SeqCst);
        drop(other);
    });
    while Arc::weak_count(&mine) > 0 {}
    assert_eq!(X.load(SeqCst), 8);
    t.join().unwrap();
}

#[test]
fn polls_whether_a_value_is_there() {
    let value = Arc::new(());
    let mine = Arc::downgrade(&value);
    let t = thread::spawn(move || {
        X.store(7, SeqCst);
        drop(value);
    });
    while mine.upgrade().is_some() {
        thread::yield_now();
    }
    assert_eq!(X.load(SeqCst), 8);
    t.join().unwrap();
}

#[test]
fn polls_whether_a_value_is_set() {
    let mine = Arc::new(OnceLock::new());
    let other = mine.clone();
    let t = thread::spawn(move || other.set(7).unwrap());
    while mine.get().is_none() {}
    assert_eq!(mine.get(), Some(&8));
    t.join().unwrap();
}

#[test]
fn polls_whether_a_lock_is_poisoned() {
    let mine = Arc::new(Mutex::new(0));
    let other = mine.clone();
    let t = thread::spawn(move || {
        let mut guard = other.lock().unwrap();
        *guard = 7;
        panic!("on purpose");
    });
    while !mine.is_poisoned() {
        thread::yield_now();
    }
    assert_eq!(*mine.lock().unwrap_err().into_inner(), 8);
    assert!(t.join().is_err());
}

#[test]
fn polls_whether_a_thread_has_finished() {
    let t = thread::spawn(|| X.store(7, SeqCst));
    while !t.is_finished() {
        thread::yield_now();
    }
    assert_eq!(X.load(SeqCst), 8);
    t.join().unwrap();
}

#[test]
fn polls_what_has_come() {
    let (sender, receiver) = channel();
    let t = thread::spawn(move || sender.send(7).unwrap());
    while receiver.try_iter().next() != Some(7) {
        thread::yield_now();
    }
    X.store(7, SeqCst);
    assert_eq!(X.load(SeqCst), 8);
    t.join().unwrap();
}

#[test]
fn waits_for_ever_for_a_value_to_go() {
    let value = Arc::new(());
    let weak = Arc::downgrade(&value);
    let t = thread::spawn(move || while weak.upgrade().is_some() {});
    t.join().unwrap();
    drop(value);
}

#[test]
fn waits_for_ever_for_the_last_handle() {
    let mine = Arc::new(());
    let (kept, other) = (mine.clone(), mine.clone());
    let t = thread::spawn(move || drop(other));
    while Arc::strong_count(&mine) != 1 {
        thread::yield_now();
    }
    t.join().unwrap();
    drop(kept);
}

// Each of two threads may notice that the other one makes a turn: nothing is said of these, and nothing is promised.

fn tries_until_it_is_one(lock: &Mutex<u32>) {
    loop {
        if let Ok(guard) = lock.try_lock()
            && *guard == 1
        {
            break;
        }
        thread::yield_now();
    }
}

#[test]
fn both_try_for_ever() {
    let lock = Arc::new(Mutex::new(0));
    let other = lock.clone();
    let t = thread::spawn(move || tries_until_it_is_one(&other));
    tries_until_it_is_one(&lock);
    t.join().unwrap();
}

#[test]
fn polls_for_the_only_handle() {
    let mut mine = Arc::new(AtomicU32::new(0));
    let other = mine.clone();
    let t = thread::spawn(move || {
        X.store(7, SeqCst);
        other.store(1, SeqCst);
    });
    while Arc::get_mut(&mut mine).is_none() {
        std::hint::spin_loop();
    }
    assert_eq!(X.load(SeqCst) + mine.load(SeqCst), 7);
    t.join().unwrap();
}

#[test]
fn polls_by_unwrapping() {
    let mut mine = Arc::new(Mutex::new(0));
    let other = mine.clone();
    let t = thread::spawn(move || *other.lock().unwrap() += 1);
    let n = loop {
        match Arc::try_unwrap(mine) {
            Ok(last) => break last.into_inner().unwrap(),
            Err(back) => mine = back,
        }
    };
    assert_eq!(n, 2);
    t.join().unwrap();
}

#[test]
fn waits_for_ever_for_a_handle_that_is_kept() {
    let mut mine = Arc::new(Mutex::new(0));
    let other = mine.clone();
    let t = thread::spawn(move || {
        *other.lock().unwrap() += 1;
        other
    });
    let last = loop {
        mine = match Arc::try_unwrap(mine) {
            Ok(last) => break last,
            Err(back) => back,
        };
        thread::yield_now();
    };
    drop(last);
    drop(t.join());
}
