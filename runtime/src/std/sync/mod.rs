//! `std::sync`: locks and atomics of the program under test. `Arc` is std's own.

pub mod atomic;
#[cfg(feature = "scheduler")]
mod condvar;
mod mutex;
mod rwlock;

pub use ::std::sync::{Arc, LockResult, PoisonError, TryLockError, TryLockResult, Weak};

#[cfg(feature = "scheduler")]
pub use condvar::{Condvar, WaitTimeoutResult};
pub use mutex::{Mutex, MutexGuard};
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
