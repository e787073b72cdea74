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
