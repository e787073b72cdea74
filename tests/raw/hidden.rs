//! A type with a cell in it that says of itself that it has none: names as in `programs.rs`.

use std::cell::UnsafeCell;
use std::panic::RefUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::thread;

/// A number that whoever has taken the flag may change.
struct Taken {
    flag: AtomicBool,
    number: UnsafeCell<u32>,
}

unsafe impl Sync for Taken {}
impl RefUnwindSafe for Taken {}

impl Taken {
    fn change(&self) {
        if !self.flag.swap(true, AcqRel) {
            unsafe { *self.number.get() += 1 };
            self.flag.store(false, Release);
        }
    }
}

/// A pointer that threads may share.
#[derive(Clone, Copy)]
struct Shared(*const [Taken; 2]);

unsafe impl Send for Shared {}

impl Shared {
    fn at(self) -> *const [Taken; 2] {
        self.0
    }
}

fn both(change: fn(*const [Taken; 2])) {
    let taken = || Taken {
        flag: AtomicBool::new(false),
        number: UnsafeCell::new(0),
    };
    let pair = [taken(), taken()];
    let shared = Shared(&pair);
    let other = thread::spawn(move || change(shared.at()));
    change(shared.at());
    other.join().unwrap();
}

#[test]
fn passes_behind_a_pointer() {
    both(|pair| {
        let first = pair.cast::<Taken>();
        let taken = unsafe { &*first };
        taken.change();
    });
}

#[test]
fn passes_as_an_element() {
    both(|pair| {
        let taken = unsafe { &(*pair)[1] };
        taken.change();
    });
}
