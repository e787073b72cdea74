//! A lock that spins, with guards that lead to what it protects by references.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering, Ordering::*};
use std::thread;

/// A lock that spins.
struct Spin<T> {
    locked: AtomicBool,
    unlocks: Ordering,
    value: UnsafeCell<T>,
}

unsafe impl<T: Send> Sync for Spin<T> {}

struct Guard<'a, T>(&'a Spin<T>);

impl<T> Spin<T> {
    fn lock(&self) -> Guard<'_, T> {
        while self.locked.swap(true, Acquire) {
            std::hint::spin_loop();
        }
        Guard(self)
    }
}

impl<T> std::ops::Deref for Guard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        unsafe { &*self.0.value.get() }
    }
}

impl<T> std::ops::DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        self.0.locked.store(false, self.0.unlocks);
    }
}

fn spin(unlocks: Ordering) {
    let lock = Spin {
        locked: AtomicBool::new(false),
        unlocks,
        value: UnsafeCell::new(0),
    };
    thread::scope(|scope| {
        scope.spawn(|| *lock.lock() += 1);
        scope.spawn(|| *lock.lock() += 1);
    });
    assert_eq!(*lock.lock(), 2);
}

#[test]
fn passes_a_spin_lock() {
    spin(Release);
}

#[test]
fn races_in_a_spin_lock_that_releases_nothing() {
    spin(Relaxed);
}
