//! `thread_local!` and `std::thread::LocalKey`: one value per thread of the program under test, fresh in every execution.
//!
//! As with std, a value whose type has something to drop is destroyed when its thread ends: on that thread, after its
//! code, before any thread can have joined it, and what its destructor does are events like all others. The value that
//! was there first is destroyed last (std leaves the order open, and std on Linux does so). A destructor that uses a
//! value which is not there yet has it made, to be destroyed in turn; a destructor is refused a destroyed value,
//! as with std.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

use crate::engine::counts;
use crate::locals::{self, Found};
use crate::running::{Running, running};

/// `std::thread::AccessError`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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

impl<T: 'static> LocalKey<T> {
    /// What `thread_local!` makes.
    #[doc(hidden)]
    #[must_use]
    pub const fn new(init: fn() -> T) -> Self {
        Self { init }
    }

    /// The current thread's value, which is `first` if there was none, and `first` if it was not used.
    fn value(&'static self, first: Option<T>) -> Result<(Rc<T>, Option<T>), AccessError> {
        let (generation, thread) = match running() {
            Running::Sequential(handle) => {
                let engine = handle.get();
                engine.has_locals = true;
                if engine.counts.is_uncertain() {
                    counts::is_noticed(handle);
                }
                (engine.generation, engine.threads.current)
            }
            Running::Scheduled(machine) => (machine.generation(), machine.thread()),
            Running::Nothing => (0, 0),
        };
        let key = std::ptr::from_ref(self).addr();
        locals::begin(generation);
        match locals::find(key, thread) {
            Found::Alive(value) => return Ok((value, first)),
            Found::Destroyed => return Err(AccessError),
            Found::Absent => {}
        }
        let value = Rc::new(first.unwrap_or_else(self.init));
        locals::keep(key, thread, &value);
        Ok((value, None))
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
    pub fn with<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        f(&self.alive(None).0)
    }

    /// See `std::thread::LocalKey::try_with`.
    ///
    /// # Errors
    /// The thread ends, and the value has been destroyed.
    pub fn try_with<F, R>(&'static self, f: F) -> Result<R, AccessError>
    where
        F: FnOnce(&T) -> R,
    {
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
    pub fn with_borrow<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        self.with(|cell| f(&cell.borrow()))
    }

    /// See `std::thread::LocalKey::with_borrow_mut`.
    #[track_caller]
    pub fn with_borrow_mut<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&mut T) -> R,
    {
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
