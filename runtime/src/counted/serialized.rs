//! What `serde` does with std's handles, done with counted ones: for programs that depend on it.

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::{Arc, Weak};

impl<T: ?Sized + Serialize, const OBSERVED: bool> Serialize for Arc<T, OBSERVED> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(to)
    }
}

impl<'de, T: ?Sized, const OBSERVED: bool> Deserialize<'de> for Arc<T, OBSERVED>
where
    Box<T>: Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Box::deserialize(from).map(Self::from)
    }
}

/// A weak handle is written as the value, if that still lives.
impl<T: ?Sized + Serialize, const OBSERVED: bool> Serialize for Weak<T, OBSERVED> {
    #[track_caller]
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.upgrade().serialize(to)
    }
}

/// A value that is read back has no other handle that could keep it.
impl<'de, T: Deserialize<'de>, const OBSERVED: bool> Deserialize<'de> for Weak<T, OBSERVED> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Option::<T>::deserialize(from)?;
        Ok(Self::new())
    }
}
