//! `thread_local!` and `std::thread::LocalKey`: one value per thread of the program under test, fresh in every execution.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

use crate::engine::current;
use crate::engine::threads::ThreadNo;

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
    value: Rc<dyn Any>,
}

#[derive(Default)]
struct Locals {
    generation: u32,
    entries: Vec<Entry>,
}

thread_local! {
    static LOCALS: RefCell<Locals> = RefCell::default();
}

/// The execution and the thread outside of P̂ₖ.
fn elsewhere() -> (u32, ThreadNo) {
    #[cfg(feature = "scheduler")]
    if let Some(machine) = crate::scheduled::events::current() {
        return (machine.generation(), machine.thread());
    }
    (0, 0)
}

/// Runs code whose allocations outlive the execution.
fn outside<R>(run: impl FnOnce() -> R) -> R {
    #[cfg(feature = "scheduler")]
    if let Some(machine) = crate::scheduled::events::current() {
        return machine.outside(run);
    }
    run()
}

/// Drops the values of all threads: the execution is over.
#[cfg(feature = "scheduler")]
pub(crate) fn clear() {
    let mut old = LOCALS.with_borrow_mut(|locals| std::mem::take(&mut locals.entries));
    old.clear();
    // The list itself is kept, so that it is not allocated anew each time.
    LOCALS.with_borrow_mut(|locals| {
        if locals.entries.is_empty() {
            locals.entries = old;
        }
    });
}

impl<T: 'static> LocalKey<T> {
    /// What `thread_local!` makes.
    #[doc(hidden)]
    #[must_use]
    pub const fn new(init: fn() -> T) -> Self {
        Self { init }
    }

    fn value(&'static self, first: Option<T>) -> (Rc<T>, Option<T>) {
        let (generation, thread) = match current() {
            Some(handle) => (handle.get().generation, handle.get().threads.current),
            None => elsewhere(),
        };
        let key = std::ptr::from_ref(self).addr();
        let old = LOCALS.with_borrow_mut(|locals| {
            if locals.generation == generation {
                return Vec::new();
            }
            locals.generation = generation;
            std::mem::take(&mut locals.entries)
        });
        drop(old);
        let found = LOCALS.with_borrow(|locals| {
            let mut entries = locals.entries.iter();
            let entry = entries.find(|entry| entry.key == key && entry.thread == thread)?;
            Rc::clone(&entry.value).downcast::<T>().ok()
        });
        if let Some(value) = found {
            return (value, first);
        }
        let value = Rc::new(first.unwrap_or_else(self.init));
        let entry = Entry {
            key,
            thread,
            value: Rc::clone(&value) as Rc<dyn Any>,
        };
        outside(|| LOCALS.with_borrow_mut(|locals| locals.entries.push(entry)));
        (value, None)
    }

    /// See `std::thread::LocalKey::with`.
    pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        f(&self.value(None).0)
    }

    /// See `std::thread::LocalKey::try_with`.
    ///
    /// # Errors
    /// None: values live as long as the execution.
    pub fn try_with<R>(&'static self, f: impl FnOnce(&T) -> R) -> Result<R, AccessError> {
        Ok(self.with(f))
    }
}

impl<T: 'static> LocalKey<Cell<T>> {
    /// See `std::thread::LocalKey::set`.
    pub fn set(&'static self, value: T) {
        let (cell, left) = self.value(Some(Cell::new(value)));
        if let Some(value) = left {
            cell.set(value.into_inner());
        }
    }

    /// See `std::thread::LocalKey::get`.
    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(Cell::get)
    }

    /// See `std::thread::LocalKey::take`.
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(Cell::take)
    }

    /// See `std::thread::LocalKey::replace`.
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> LocalKey<RefCell<T>> {
    /// See `std::thread::LocalKey::with_borrow`.
    pub fn with_borrow<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        self.with(|cell| f(&cell.borrow()))
    }

    /// See `std::thread::LocalKey::with_borrow_mut`.
    pub fn with_borrow_mut<R>(&'static self, f: impl FnOnce(&mut T) -> R) -> R {
        self.with(|cell| f(&mut cell.borrow_mut()))
    }

    /// See `std::thread::LocalKey::set`.
    pub fn set(&'static self, value: T) {
        let (cell, left) = self.value(Some(RefCell::new(value)));
        if let Some(value) = left {
            cell.replace(value.into_inner());
        }
    }

    /// See `std::thread::LocalKey::take`.
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(RefCell::take)
    }

    /// See `std::thread::LocalKey::replace`.
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
