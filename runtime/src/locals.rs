//! The values of the program's thread-locals, by thread: see [`crate::std::thread::LocalKey`].

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use crate::memory::outside;

struct Entry {
    key: usize,
    thread: u32,
    /// The value; `None` once it has been destroyed.
    value: Option<Rc<dyn Any>>,
    /// Whether the value is destroyed with its thread, and not with the execution.
    has_destructor: bool,
}

struct Locals {
    generation: u32,
    entries: Vec<Entry>,
}

thread_local! {
    /// Whether there may be values.
    static ANY: Cell<bool> = const { Cell::new(false) };

    static LOCALS: RefCell<Locals> = const {
        RefCell::new(Locals {
            generation: 0,
            entries: Vec::new(),
        })
    };
}

/// What is known of a thread's value.
pub(crate) enum Found<T> {
    Alive(Rc<T>),
    Destroyed,
    Absent,
}

/// Begins an execution: drops the values that an earlier execution has left.
pub(crate) fn begin(generation: u32) {
    let is_old = LOCALS.with_borrow_mut(|locals| {
        std::mem::replace(&mut locals.generation, generation) != generation
    });
    if is_old {
        clear();
    }
}

/// The value that a thread has under this key.
pub(crate) fn find<T: 'static>(key: usize, thread: u32) -> Found<T> {
    LOCALS.with_borrow(|locals| {
        let mut entries = locals.entries.iter();
        let Some(entry) = entries.find(|entry| entry.key == key && entry.thread == thread) else {
            return Found::Absent;
        };
        let value = entry.value.as_ref().map(Rc::clone);
        match value.and_then(|value| value.downcast::<T>().ok()) {
            Some(value) => Found::Alive(value),
            None => Found::Destroyed,
        }
    })
}

/// Keeps a thread's value. If the code that makes the value has kept another one meanwhile, the new value takes its
/// place.
pub(crate) fn keep<T: 'static>(key: usize, thread: u32, value: &Rc<T>) {
    let old = outside(|| {
        LOCALS.with_borrow_mut(|locals| {
            let made = Some(Rc::clone(value) as Rc<dyn Any>);
            let mut entries = locals.entries.iter_mut();
            match entries.find(|entry| entry.key == key && entry.thread == thread) {
                Some(entry) => std::mem::replace(&mut entry.value, made),
                None => {
                    ANY.set(true);
                    locals.entries.push(Entry {
                        key,
                        thread,
                        value: made,
                        has_destructor: std::mem::needs_drop::<T>(),
                    });
                    None
                }
            }
        })
    });
    drop(old);
}

/// Drops the values of all threads: the execution is over, and nothing that destructors do is an event any more.
#[inline]
pub(crate) fn clear() {
    if ANY.get() {
        clear_all();
    }
}

#[cold]
fn clear_all() {
    // A destructor may be ended early, as an execution may.
    while catch_unwind(AssertUnwindSafe(clear_until_unwound)).is_err() {}
}

/// Forgets the values without dropping them: the execution is over, and its memory is given back with all that is in
/// it.
#[inline]
pub(crate) fn leave() {
    if ANY.take() {
        leave_all();
    }
}

#[cold]
fn leave_all() {
    LOCALS.with_borrow_mut(|locals| {
        for entry in locals.entries.drain(..) {
            std::mem::forget(entry.value);
        }
    });
}

fn clear_until_unwound() {
    while let Some(entry) = LOCALS.with_borrow_mut(|locals| locals.entries.pop()) {
        drop(entry);
    }
    ANY.set(false);
}

/// The current thread ends: destroys its values, up to the first whose destructor unwinds.
#[inline]
pub(crate) fn destroy(thread: u32) {
    if ANY.get() {
        destroy_all(thread);
    }
}

#[cold]
fn destroy_all(thread: u32) {
    while let Some(value) = LOCALS.with_borrow_mut(|locals| {
        let mut entries = locals.entries.iter_mut().rev();
        let entry = entries.find(|entry| {
            entry.has_destructor && entry.thread == thread && entry.value.is_some()
        })?;
        entry.value.take()
    }) {
        drop(value);
    }
}
