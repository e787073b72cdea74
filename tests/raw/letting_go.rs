//! What std keeps for a thread and its handle is given back by the last of them, in an order that std sees to: names as
//! in `programs.rs`. The one fault is the program's.

use std::cell::UnsafeCell;
use std::panic::panic_any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

struct Shared(UnsafeCell<i32>);
unsafe impl Sync for Shared {}

static SHARED: Shared = Shared(UnsafeCell::new(1));

fn read() -> i32 {
    unsafe { *SHARED.0.get() }
}

#[test]
fn passes_dropped() {
    thread::spawn(read);
}

#[test]
fn passes_finished() {
    let thread = thread::spawn(read);
    let _ = thread.is_finished();
}

#[test]
fn passes_finished_with_memory() {
    let thread = thread::spawn(|| vec![read()]);
    let _ = thread.is_finished();
}

#[test]
fn passes_finished_in_a_scope() {
    thread::scope(|scope| {
        let thread = scope.spawn(read);
        let _ = thread.is_finished();
    });
}

#[test]
fn passes_joined_by_another() {
    let first = thread::spawn(|| Box::new(read()));
    thread::spawn(move || first.join().map(|it| *it));
}

#[test]
fn passes_panicking() {
    thread::spawn(|| {
        read();
        panic!("literal");
    });
}

#[test]
fn passes_panicking_with_text() {
    let thread = thread::spawn(|| panic!("{}", read()));
    let _ = thread.is_finished();
}

#[test]
fn passes_panicking_with_a_value() {
    thread::spawn(|| panic_any(vec![read()]));
}

#[test]
fn passes_panicking_in_a_destructor() {
    struct Bad(Box<i32>);
    impl Drop for Bad {
        fn drop(&mut self) {
            assert!(thread::panicking(), "{}", self.0);
        }
    }
    let bad = Bad(Box::new(read()));
    thread::spawn(move || {
        let _bad = &bad;
    });
}

#[test]
fn used_by_its_address_after_the_end_of_the_handle() {
    let address = Arc::new(std::sync::Mutex::new(0));
    let told = address.clone();
    let thread = thread::spawn(move || {
        let value = Box::new(AtomicBool::new(false));
        *told.lock().unwrap() = &raw const *value as usize;
        value
    });
    drop(thread);
    let at = *address.lock().unwrap();
    if at != 0 {
        unsafe { &*(at as *const AtomicBool) }.load(Relaxed);
    }
}
