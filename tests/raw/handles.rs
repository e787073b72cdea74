//! The last handle of a value gives its memory back once it is off the count: names as in `programs.rs`.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, Weak};
use std::thread;

/// A value with an atomic, a lock, and memory behind a raw pointer.
struct Value {
    number: AtomicUsize,
    lock: Mutex<u32>,
    behind: *mut u8,
}

unsafe impl Send for Value {}
unsafe impl Sync for Value {}

impl Drop for Value {
    fn drop(&mut self) {
        drop(unsafe { Box::from_raw(self.behind) });
    }
}

impl Clone for Value {
    fn clone(&self) -> Self {
        made()
    }
}

fn made() -> Value {
    Value {
        number: AtomicUsize::new(0),
        lock: Mutex::new(1),
        behind: Box::into_raw(Box::new(3)),
    }
}

/// Has another thread use the value and its memory, and returns this thread's handle.
fn used() -> Arc<Value> {
    let value = Arc::new(made());
    let other = value.clone();
    thread::spawn(move || {
        other.number.fetch_add(1, SeqCst);
        *other.lock.lock().unwrap() += 1;
        unsafe { *other.behind += 1 };
    })
    .join()
    .unwrap();
    value
}

fn holds(value: &Value) {
    assert_eq!(value.number.load(SeqCst), 1);
    assert_eq!(*value.lock.lock().unwrap(), 2);
    assert_eq!(unsafe { *value.behind }, 4);
}

#[test]
fn passes_unwrapped() {
    holds(&Arc::try_unwrap(used()).ok().unwrap());
}

#[test]
fn passes_taken_out() {
    holds(&Arc::into_inner(used()).unwrap());
}

#[test]
fn passes_unwrapped_or_cloned() {
    holds(&Arc::unwrap_or_clone(used()));
}

#[test]
fn passes_moved_on() {
    let boxed = Box::new(Arc::into_inner(used()).unwrap());
    let list = vec![*boxed];
    holds(&list.into_iter().next().unwrap());
}

#[test]
fn passes_taken_away_from_a_weak_handle() {
    let mut value = used();
    let weak = Arc::downgrade(&value);
    assert_eq!(Arc::make_mut(&mut value).number.load(SeqCst), 1);
    assert!(weak.upgrade().is_none());
    drop(weak);
    holds(&value);
}

#[test]
fn passes_the_last_weak_handle() {
    let value = used();
    let weak = Arc::downgrade(&value);
    drop(value);
    let other = weak.clone();
    let thread = thread::spawn(move || drop(other));
    drop(weak);
    thread.join().unwrap();
}

#[test]
fn passes_whichever_is_last() {
    let value = used();
    let other = value.clone();
    let thread = thread::spawn(move || {
        other.number.fetch_add(1, SeqCst);
        unsafe { *other.behind };
        drop(other);
    });
    drop(Arc::try_unwrap(value));
    thread.join().unwrap();
}

#[test]
fn passes_one_of_two_takes_it_out() {
    let value = used();
    let other = value.clone();
    let thread = thread::spawn(move || Arc::into_inner(other).map(|value| holds(&value)));
    let mine = Arc::into_inner(value).map(|value| holds(&value));
    assert!(mine.is_some() != thread.join().unwrap().is_some());
}

#[test]
fn passes_a_list_that_grows() {
    let value = used();
    let mut list = vec![AtomicUsize::new(1), AtomicUsize::new(2)];
    list.push(AtomicUsize::new(3));
    let list = Arc::new(list);
    let other = list.clone();
    thread::spawn(move || {
        other[1].fetch_add(1, SeqCst);
        unsafe { *value.behind += 1 };
    })
    .join()
    .unwrap();
    let mut list = Arc::try_unwrap(list).unwrap();
    list.extend((0..90).map(AtomicUsize::new));
    assert_eq!(list[1].load(SeqCst), 3);
}

#[test]
fn used_after_the_last_handle_is_gone() {
    let value = used();
    let address = Arc::as_ptr(&value) as usize;
    drop(value);
    let weak: Weak<Value> = Weak::new();
    thread::spawn(move || drop(weak)).join().unwrap();
    unsafe { &*(address as *const Value) }.number.load(SeqCst);
}

#[test]
fn used_after_it_was_taken_out() {
    let value = used();
    let place = Arc::as_ptr(&value) as usize;
    holds(&Arc::into_inner(value).unwrap());
    unsafe { &*(place as *const Value) }.number.load(SeqCst);
}
