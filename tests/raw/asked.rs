//! What a program may ask of the system, by which its threads could order what they do: names as in `programs.rs`.

use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::thread;

struct Number(UnsafeCell<u32>);

unsafe impl Sync for Number {}
unsafe impl Send for Number {}

/// Two threads write, one of which goes first, and says so by a flag that orders nothing. Both do this beside, where they are
/// to.
fn both(beside: Option<fn()>) {
    let shared = Arc::new((Number(UnsafeCell::new(0)), AtomicBool::new(false)));
    let other = Arc::clone(&shared);
    let first = thread::spawn(move || {
        unsafe { *other.0.0.get() = 1 };
        beside.inspect(|it| it());
        other.1.store(true, Relaxed);
    });
    if shared.1.load(Relaxed) {
        beside.inspect(|it| it());
        unsafe { *shared.0.0.get() = 2 };
    }
    first.join().unwrap();
}
