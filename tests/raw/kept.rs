//! References that are kept, and memory that is given back without a word: names as in `programs.rs`.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
use std::sync::{Arc, Mutex};
use std::thread;

/// A pointer that threads may share.
struct Shared<T>(*mut T);

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Shared<T> {}

unsafe impl<T> Send for Shared<T> {}
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    fn new(value: T) -> Self {
        Self(Box::into_raw(Box::new(value)))
    }

    fn at(self) -> *mut T {
        self.0
    }

    fn free(self) {
        drop(unsafe { Box::from_raw(self.0) });
    }
}

/// Runs this in two threads.
fn both(one: impl FnOnce() + Send, other: impl FnOnce() + Send) {
    thread::scope(|scope| {
        scope.spawn(one);
        scope.spawn(other);
    });
}

struct Slot<T> {
    value: UnsafeCell<T>,
    state: AtomicU32,
}

impl<T: Copy> Slot<T> {
    fn put(&self, value: T, order: std::sync::atomic::Ordering) {
        unsafe { self.value.get().write(value) };
        self.state.store(1, order);
    }

    fn get(&self) -> Option<T> {
        (self.state.load(Acquire) == 1).then(|| unsafe { *self.value.get() })
    }
}

/// Both threads borrow all of the slot at any time, while the cell in it is written.
fn slot(order: std::sync::atomic::Ordering) {
    let slot = Shared::new(Slot {
        value: UnsafeCell::new(0),
        state: AtomicU32::new(0),
    });
    both(
        || {
            let slot = unsafe { &*slot.at() };
            slot.put(7, order);
        },
        || {
            let slot = unsafe { slot.at().as_ref() }.unwrap();
            assert!(matches!(slot.get(), None | Some(7)));
        },
    );
    slot.free();
}

#[test]
fn passes_a_cell_in_what_is_borrowed() {
    slot(Release);
}

#[test]
fn races_in_a_cell_in_what_is_borrowed() {
    slot(Relaxed);
}

struct Bare(UnsafeCell<u32>);

#[test]
fn passes_a_bare_cell_that_is_borrowed() {
    let (bare, ready) = (Shared::new(Bare(UnsafeCell::new(0))), AtomicBool::new(false));
    both(
        || {
            let bare = unsafe { &*bare.at() };
            unsafe { *bare.0.get() = 1 };
            ready.store(true, Release);
        },
        || {
            let bare = unsafe { &*bare.at() };
            if ready.load(Acquire) {
                assert_eq!(unsafe { *bare.0.get() }, 1);
            }
        },
    );
    bare.free();
}

fn look<T>(pointer: Shared<T>) -> usize {
    let value: &T = unsafe { &*pointer.at() };
    std::ptr::from_ref(value) as usize
}

/// In generic code, the type is known where it runs.
#[test]
fn races_with_a_reference_in_generic_code() {
    let number = Shared::new(0_u32);
    both(
        || unsafe { *number.at() = 1 },
        || {
            look(number);
        },
    );
    number.free();
}

fn flags(waits: bool) {
    let flags = Shared::new((AtomicBool::new(false), AtomicBool::new(false)));
    both(
        || {
            let flags = unsafe { &*flags.at() };
            flags.0.store(true, Release);
            flags.1.store(true, Release);
        },
        || {
            let all = unsafe { &*flags.at() };
            while !all.0.load(Acquire) {}
            while waits && !all.1.load(Acquire) {}
            flags.free();
        },
    );
}

#[test]
fn passes_an_atomic_that_is_waited_for() {
    flags(true);
}

#[test]
fn races_with_the_end_of_an_atomic() {
    flags(false);
}

#[test]
fn races_with_the_end_of_a_lock() {
    let lock = Shared::new(Mutex::new(0));
    both(
        || {
            let lock = unsafe { &*lock.at() };
            *lock.lock().unwrap() += 1;
        },
        || lock.free(),
    );
}

/// No `from_raw` tells that this memory ends.
#[test]
fn races_with_what_a_lock_lets_go_of() {
    let boxed = Mutex::new(Some(Box::new(5)));
    let pointer = Shared(&raw mut **boxed.lock().unwrap().as_mut().unwrap());
    both(
        || assert_eq!(unsafe { *pointer.at() }, 5),
        || *boxed.lock().unwrap() = None,
    );
}

#[test]
fn passes_what_a_lock_lets_go_of() {
    let boxed = Mutex::new(Some(Box::new(5)));
    let pointer = Shared(&raw mut **boxed.lock().unwrap().as_mut().unwrap());
    both(
        || {
            let boxed = boxed.lock().unwrap();
            if boxed.is_some() {
                assert_eq!(unsafe { *pointer.at() }, 5);
            }
        },
        || *boxed.lock().unwrap() = None,
    );
}

struct Halves(UnsafeCell<[u32; 2]>);

unsafe impl Sync for Halves {}

impl Halves {
    fn set(&self, half: usize) {
        unsafe { (*self.0.get())[half] = 1 };
    }
}

/// The handles order what was done before their ends with the end of the memory.
#[test]
fn passes_where_the_last_handle_frees_a_cell() {
    let halves = Arc::new(Halves(UnsafeCell::new([0, 0])));
    let other = Arc::clone(&halves);
    let thread = thread::spawn(move || other.set(0));
    halves.set(1);
    drop(halves);
    thread.join().unwrap();
}

#[test]
fn races_with_the_end_of_the_last_handle() {
    let halves = Arc::new(Halves(UnsafeCell::new([0, 0])));
    let kept = Shared(Arc::as_ptr(&halves).cast_mut());
    let thread = thread::spawn(move || unsafe { &*kept.at() }.set(0));
    drop(halves);
    let _ = thread.join();
}

/// What a thread returns belongs to whoever drops its handle, who comes after its end.
#[test]
fn passes_what_a_thread_leaves() {
    let thread = thread::spawn(|| {
        let mut all = vec![1, 2];
        unsafe { *all.as_mut_ptr() = 3 };
        all
    });
    drop(thread);
}

fn owned(joins: bool, owner: impl FnOnce(Box<UnsafeCell<u32>>)) {
    let cell = Box::new(UnsafeCell::new(0));
    let kept = Shared(cell.get());
    let thread = thread::spawn(move || unsafe { *kept.at() = 1 });
    if joins {
        thread.join().unwrap();
        owner(cell);
    } else {
        owner(cell);
        let _ = thread.join();
    }
}

/// Whoever owns a cell needs no pointer to it.
#[test]
fn races_with_the_owner_of_a_cell() {
    owned(false, |mut cell| {
        *cell.get_mut() += 1;
        std::mem::forget(cell);
    });
}

#[test]
fn passes_the_owner_of_a_cell() {
    owned(true, |mut cell| *cell.get_mut() += 1);
}

#[test]
fn passes_what_is_taken_out_of_a_cell() {
    owned(true, |cell| assert_eq!(cell.into_inner(), 1));
}

unsafe fn called<F: FnOnce() -> u32>(boxed: *mut F) -> u32 {
    unsafe {
        let f = Box::from_raw(boxed);
        (*f)()
    }
}

/// A function is called where it is.
#[test]
fn passes_a_function_behind_a_pointer() {
    let thread = thread::spawn(|| {
        let text = String::from("x");
        unsafe { called(Box::into_raw(Box::new(move || text.len() as u32))) }
    });
    assert_eq!(thread.join().unwrap(), 1);
}
