//! Values that are objects with events of their own: each counts as itself, not as what is in it or which threads wait
//! on it.
//!
//! A lock does so only where what it protects can be hashed: see `seqz_runtime::scheduled::values` for what that is good for.

use crate::shared::Shadow;
use crate::std::sync::atomic::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicU8, AtomicU16,
    AtomicU32, AtomicU64, AtomicUsize,
};
use crate::std::sync::{Mutex, RwLock};
use crate::values::{ValueHash, ValueHasher};

impl ValueHash for crate::std::sync::Condvar {
    fn value_hash(&self, to: &mut ValueHasher) {
        to.word(self.identity());
    }
}

macro_rules! objects {
    ($([$($generics:tt)*] $ty:ty;)*) => {$(
        impl<$($generics)*> ValueHash for $ty {
            fn value_hash(&self, to: &mut ValueHasher) {
                to.word(self.identity());
            }
        }
    )*};
}

objects! {
    [] AtomicBool;
    [] AtomicU8;
    [] AtomicU16;
    [] AtomicU32;
    [] AtomicU64;
    [] AtomicUsize;
    [] AtomicI8;
    [] AtomicI16;
    [] AtomicI32;
    [] AtomicI64;
    [] AtomicIsize;
    [T: ValueHash + Shadow] Mutex<T>;
    [T: ValueHash + Shadow] RwLock<T>;
}
