//! Loops that wait for something and change it for a while each time that they look. What is right of each harness is in
//! `tests/polling.rs`.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;

static X: AtomicU32 = AtomicU32::new(0);

#[test]
fn polls_whether_a_value_is_there() {
    let value = Arc::new(());
    let mine = Arc::downgrade(&value);
    let t = thread::spawn(move || {
        X.store(7, SeqCst);
        drop(value);
    });
    while mine.upgrade().is_some() {}
    assert_eq!(X.load(SeqCst), 8);
    t.join().unwrap();
}

#[test]
fn polls_while_another_thread_uses_it() {
    let value = Arc::new(5);
    let (mine, its) = (Arc::downgrade(&value), Arc::downgrade(&value));
    let t = thread::spawn(move || {
        if let Some(value) = its.upgrade() {
            X.store(*value, SeqCst);
        }
        drop(value);
    });
    while mine.upgrade().is_some() {}
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
fn waits_for_ever_although_another_thread_lets_go() {
    let value = Arc::new(());
    let weak = Arc::downgrade(&value);
    let other = value.clone();
    let t = thread::spawn(move || while weak.upgrade().is_some() {});
    drop(other);
    t.join().unwrap();
    drop(value);
}
