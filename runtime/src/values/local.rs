//! How generated code hashes the fields of the program's own types.
//!
//! A field's type is written in the definition, so that the compiler can choose: `Part(field).feed(to)` is the
//! inherent method where the field's type is [`ValueHash`], and that of [`Opaque`] where it is not.

use super::{ValueHash, ValueHasher};

/// A field.
#[derive(Debug)]
pub struct Part<'a, T: ?Sized>(pub &'a T);

impl<T: ValueHash + ?Sized> Part<'_, T> {
    /// Feeds the field into a hash.
    #[inline]
    pub fn feed(&self, to: &mut ValueHasher) {
        self.0.value_hash(to);
    }
}

/// What a field does whose values can't be hashed.
pub trait Opaque {
    /// Makes the hash that of an opaque value.
    fn feed(&self, to: &mut ValueHasher);
}

impl<T: ?Sized> Opaque for Part<'_, T> {
    fn feed(&self, to: &mut ValueHasher) {
        to.opaque();
    }
}
