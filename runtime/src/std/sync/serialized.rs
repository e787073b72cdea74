//! What `serde` does with std's atomics and locks, done with the runtime's: for programs that depend on it.

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Error, Serialize, Serializer};

use super::atomic::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicU8, AtomicU16,
    AtomicU32, AtomicU64, AtomicUsize, Ordering,
};
use super::{Mutex, RwLock};
use crate::shared::Shadow;

macro_rules! atomics {
    ($($atomic:ident: $value:ty),* $(,)?) => {$(
        impl Serialize for $atomic {
            #[track_caller]
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                self.load(Ordering::Relaxed).serialize(to)
            }
        }

        impl<'de> Deserialize<'de> for $atomic {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                <$value>::deserialize(from).map(Self::new)
            }
        }
    )*};
}

atomics! {
    AtomicBool: bool, AtomicI8: i8, AtomicI16: i16, AtomicI32: i32, AtomicI64: i64, AtomicIsize: isize,
    AtomicU8: u8, AtomicU16: u16, AtomicU32: u32, AtomicU64: u64, AtomicUsize: usize,
}

macro_rules! locks {
    ($($lock:ident by $take:ident),*) => {$(
        impl<T: Serialize + Shadow> Serialize for $lock<T> {
            #[track_caller]
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                match self.$take() {
                    Ok(value) => value.serialize(to),
                    Err(_) => Err(S::Error::custom("lock poison error while serializing")),
                }
            }
        }

        impl<'de, T: Deserialize<'de>> Deserialize<'de> for $lock<T> {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                T::deserialize(from).map(Self::from)
            }
        }
    )*};
}

locks!(Mutex by lock, RwLock by read);
