//! A lock of a mutex and a condition variable.

use std::sync::{Condvar, Mutex};

#[derive(Default)]
pub struct Lock<T> {
    taken: Mutex<bool>,
    given_back: Condvar,
    value: Mutex<T>,
}

impl<T> Lock<T> {
    pub fn new(value: T) -> Self {
        Self { taken: Mutex::new(false), given_back: Condvar::new(), value: Mutex::new(value) }
    }

    pub fn with<R>(&self, inside: impl FnOnce(&mut T) -> R) -> R {
        let mut taken = self.taken.lock().unwrap();
        while *taken {
            taken = self.given_back.wait(taken).unwrap();
        }
        *taken = true;
        drop(taken);
        let result = inside(&mut self.value.lock().unwrap());
        *self.taken.lock().unwrap() = false;
        self.given_back.notify_one();
        result
    }

    /// As [`Lock::with`], but it gives back before the value is looked at again.
    pub fn with_copy(&self, inside: impl FnOnce(T) -> T)
    where
        T: Clone,
    {
        let before = self.value.lock().unwrap().clone();
        let after = inside(before);
        *self.value.lock().unwrap() = after;
    }
}

/// A guard of values that need no size: it holds no lock's guard, and says that it is like one.
pub struct Held<'l, T: ?Sized> {
    value: &'l T,
    _is_like: std::marker::PhantomData<std::sync::RwLockReadGuard<'l, T>>,
}

impl<'l, T: ?Sized> Held<'l, T> {
    pub fn of(value: &'l T) -> Self {
        Self { value, _is_like: std::marker::PhantomData }
    }

    pub fn value(&self) -> &T {
        self.value
    }
}

/// A mutex that can't be poisoned, of values that need no size.
#[derive(Debug)]
pub struct Plain<T: ?Sized>(Mutex<T>);

impl<T> Plain<T> {
    pub const fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    pub fn lock(&self) -> std::sync::MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// What the system calls a thread, which has no thread of the system under seqz.
pub fn number_of_system(handle: &std::thread::JoinHandle<()>) -> u64 {
    std::os::unix::thread::JoinHandleExt::as_pthread_t(handle)
}
