//! `thread_local!` and `std::thread::LocalKey`: one value per thread of the program under test, fresh in every execution.
//!
//! As with std, a value whose type has something to drop is destroyed when its thread ends: on that thread, after its code,
//! before anybody can have joined it, and what its destructor does are events like all others. The value that was there
//! first goes last (std leaves the order open, and this is what it does on Linux). A destructor that uses a value which is
//! not there yet has it made, to be destroyed in turn; of one that is destroyed it is told so.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use crate::engine::current;
use crate::engine::threads::ThreadNo;
use crate::memory::outside;

/// `std::thread::AccessError`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessError;

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("already destroyed")
    }
}

impl std::error::Error for AccessError {}

/// `std::thread::LocalKey`.
pub struct LocalKey<T: 'static> {
    init: fn() -> T,
}

struct Entry {
    key: usize,
    thread: ThreadNo,
    /// Nothing is left of it once it has been destroyed.
    value: Option<Rc<dyn Any>>,
    /// It is destroyed with its thread, and not with the execution.
    has_destructor: bool,
}

struct Locals {
    generation: u32,
    entries: Vec<Entry>,
}

thread_local! {
    /// There may be values.
    static ANY: Cell<bool> = const { Cell::new(false) };

    static LOCALS: RefCell<Locals> = const {
        RefCell::new(Locals {
            generation: 0,
            entries: Vec::new(),
        })
    };
}

/// The execution and the thread outside of P̂ₖ.
fn elsewhere() -> (u32, ThreadNo) {
    #[cfg(feature = "scheduler")]
    if let Some(machine) = crate::scheduled::events::current() {
        return (machine.generation(), machine.thread());
    }
    (0, 0)
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
    // A destructor may be ended early, as the execution is.
    while catch_unwind(AssertUnwindSafe(clear_until_unwound)).is_err() {}
}

/// The same where the execution's memory is given back with all that is in it: nothing is dropped.
#[cfg(feature = "scheduler")]
#[inline]
pub(crate) fn leave() {
    if ANY.take() {
        leave_all();
    }
}

#[cfg(feature = "scheduler")]
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
pub(crate) fn destroy(thread: ThreadNo) {
    if ANY.get() {
        destroy_all(thread);
    }
}

#[cold]
fn destroy_all(thread: ThreadNo) {
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

/// What is known of a thread's value.
enum Found<T> {
    Alive(Rc<T>),
    Destroyed,
    Absent,
}

impl<T: 'static> LocalKey<T> {
    /// What `thread_local!` makes.
    #[doc(hidden)]
    #[must_use]
    pub const fn new(init: fn() -> T) -> Self {
        Self { init }
    }

    /// The current thread's value, which is `first` if there was none, and `first` if it was not used.
    fn value(&'static self, first: Option<T>) -> Result<(Rc<T>, Option<T>), AccessError> {
        let (generation, thread) = match current() {
            Some(handle) => {
                let engine = handle.get();
                engine.has_locals = true;
                (engine.generation, engine.threads.current)
            }
            None => elsewhere(),
        };
        let key = std::ptr::from_ref(self).addr();
        let is_old = LOCALS.with_borrow_mut(|locals| {
            std::mem::replace(&mut locals.generation, generation) != generation
        });
        if is_old {
            clear();
        }
        match Self::find(key, thread) {
            Found::Alive(value) => return Ok((value, first)),
            Found::Destroyed => return Err(AccessError),
            Found::Absent => {}
        }
        let value = Rc::new(first.unwrap_or_else(self.init));
        // If it has been made meanwhile, by the code that makes it, this one takes its place.
        let old = outside(|| {
            LOCALS.with_borrow_mut(|locals| {
                let made = Some(Rc::clone(&value) as Rc<dyn Any>);
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
        Ok((value, None))
    }

    fn find(key: usize, thread: ThreadNo) -> Found<T> {
        LOCALS.with_borrow(|locals| {
            let mut entries = locals.entries.iter();
            let Some(entry) = entries.find(|entry| entry.key == key && entry.thread == thread)
            else {
                return Found::Absent;
            };
            let value = entry.value.as_ref().map(Rc::clone);
            match value.and_then(|value| value.downcast::<T>().ok()) {
                Some(value) => Found::Alive(value),
                None => Found::Destroyed,
            }
        })
    }

    /// The current thread's value, which must not be destroyed.
    #[track_caller]
    fn alive(&'static self, first: Option<T>) -> (Rc<T>, Option<T>) {
        match self.value(first) {
            Ok(value) => value,
            Err(error) => panic!(
                "cannot access a Thread Local Storage value during or after destruction: {error:?}"
            ),
        }
    }

    /// See `std::thread::LocalKey::with`.
    #[track_caller]
    pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        f(&self.alive(None).0)
    }

    /// See `std::thread::LocalKey::try_with`.
    ///
    /// # Errors
    /// The thread ends, and the value has been destroyed.
    pub fn try_with<R>(&'static self, f: impl FnOnce(&T) -> R) -> Result<R, AccessError> {
        Ok(f(&self.value(None)?.0))
    }
}

impl<T: 'static> LocalKey<Cell<T>> {
    /// See `std::thread::LocalKey::set`.
    #[track_caller]
    pub fn set(&'static self, value: T) {
        let (cell, left) = self.alive(Some(Cell::new(value)));
        if let Some(value) = left {
            cell.set(value.into_inner());
        }
    }

    /// See `std::thread::LocalKey::get`.
    #[track_caller]
    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(Cell::get)
    }

    /// See `std::thread::LocalKey::take`.
    #[track_caller]
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(Cell::take)
    }

    /// See `std::thread::LocalKey::replace`.
    #[track_caller]
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> LocalKey<RefCell<T>> {
    /// See `std::thread::LocalKey::with_borrow`.
    #[track_caller]
    pub fn with_borrow<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        self.with(|cell| f(&cell.borrow()))
    }

    /// See `std::thread::LocalKey::with_borrow_mut`.
    #[track_caller]
    pub fn with_borrow_mut<R>(&'static self, f: impl FnOnce(&mut T) -> R) -> R {
        self.with(|cell| f(&mut cell.borrow_mut()))
    }

    /// See `std::thread::LocalKey::set`.
    #[track_caller]
    pub fn set(&'static self, value: T) {
        let (cell, left) = self.alive(Some(RefCell::new(value)));
        if let Some(value) = left {
            cell.replace(value.into_inner());
        }
    }

    /// See `std::thread::LocalKey::take`.
    #[track_caller]
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(RefCell::take)
    }

    /// See `std::thread::LocalKey::replace`.
    #[track_caller]
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").finish_non_exhaustive()
    }
}

/// `std::thread_local!`, for programs under test.
#[macro_export]
macro_rules! thread_local {
    () => {};
    ($(#[$meta:meta])* $vis:vis static $name:ident : $type:ty = const $init:block $(; $($rest:tt)*)?) => {
        $(#[$meta])* $vis static $name: $crate::std::thread::LocalKey<$type> = {
            fn init() -> $type { $init }
            $crate::std::thread::LocalKey::new(init)
        };
        $($crate::thread_local! { $($rest)* })?
    };
    ($(#[$meta:meta])* $vis:vis static $name:ident : $type:ty = $init:expr $(; $($rest:tt)*)?) => {
        $(#[$meta])* $vis static $name: $crate::std::thread::LocalKey<$type> = {
            fn init() -> $type { $init }
            $crate::std::thread::LocalKey::new(init)
        };
        $($crate::thread_local! { $($rest)* })?
    };
}
