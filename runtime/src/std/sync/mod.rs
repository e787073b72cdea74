//! `std::sync`: locks and atomics of the program under test. `Arc` is std's own.

pub mod atomic;
mod mutex;
mod rwlock;

pub use ::std::sync::{Arc, LockResult, PoisonError, TryLockError, TryLockResult, Weak};

pub use mutex::{Mutex, MutexGuard};
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
