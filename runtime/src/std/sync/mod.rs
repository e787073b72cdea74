//! `std::sync`: locks and atomics of the program under test. `Arc` is std's own. What threads wait for each other with is
//! there on the scheduled machine only.

pub mod atomic;
#[cfg(feature = "scheduler")]
mod barrier;
#[cfg(feature = "scheduler")]
mod condvar;
#[cfg(feature = "scheduler")]
mod lazy_lock;
#[cfg(feature = "scheduler")]
pub mod mpsc;
mod mutex;
#[cfg(feature = "scheduler")]
mod once;
#[cfg(feature = "scheduler")]
mod once_lock;
mod rwlock;
#[cfg(feature = "serde")]
mod serialized;

pub use ::std::sync::{Arc, LockResult, PoisonError, TryLockError, TryLockResult, Weak};

#[cfg(feature = "scheduler")]
pub use barrier::{Barrier, BarrierWaitResult};
#[cfg(feature = "scheduler")]
pub use condvar::{Condvar, WaitTimeoutResult};
#[cfg(feature = "scheduler")]
pub use lazy_lock::LazyLock;
pub use mutex::{Mutex, MutexGuard};
#[cfg(feature = "scheduler")]
pub use once::{ONCE_INIT, Once, OnceState};
#[cfg(feature = "scheduler")]
pub use once_lock::OnceLock;
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
