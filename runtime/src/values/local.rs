//! How generated code hashes the fields of the program's own types, and registers them.
//!
//! A field's type is written in the definition, so that the compiler can choose: `Part(field).seqz_feed(to)` is the
//! inherent method where the field's type is [`ValueHash`], and that of [`Opaque`] where it is not.

use std::marker::PhantomData;

use super::{Registry, ValueHash, ValueHasher};

/// A field of a type, to be fed into a hash.
#[derive(Debug)]
pub struct Part<'a, T: ?Sized>(pub &'a T);

impl<T: ValueHash + ?Sized> Part<'_, T> {
    /// Feeds the field into a hash.
    #[inline]
    pub fn seqz_feed(&self, to: &mut ValueHasher) {
        self.0.value_hash(to);
    }
}

/// Feeding of a field whose values can't be hashed.
pub trait Opaque {
    /// Makes the hash that of an opaque value.
    fn seqz_feed(&self, to: &mut ValueHasher);
}

impl<T: ?Sized> Opaque for Part<'_, T> {
    fn seqz_feed(&self, to: &mut ValueHasher) {
        to.opaque();
    }
}

/// A field of a copy, to be given the room that the value's field has.
#[derive(Debug)]
pub struct Roomy<'a, T: ?Sized>(pub &'a mut T, pub &'a T);

impl<T: ValueHash + ?Sized> Roomy<'_, T> {
    /// Gives the copy's field the room.
    #[inline]
    pub fn seqz_keep(self) {
        self.0.keep_room(self.1);
    }
}

/// Keeping of the room of a field whose values can't be hashed.
pub trait Roomless {
    /// Does nothing.
    fn seqz_keep(self);
}

impl<T: ?Sized> Roomless for Roomy<'_, T> {
    fn seqz_keep(self) {}
}

/// A type that the source names.
#[derive(Debug)]
pub struct Type<T: ?Sized>(PhantomData<T>);

impl<T: ?Sized> Type<T> {
    /// The type itself.
    #[allow(clippy::new_without_default)]
    #[must_use]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T: ValueHash> Type<T> {
    /// Registers the type.
    pub fn seqz_add(&self, to: &mut Registry<'_>) {
        to.add::<T>();
    }
}

/// Registering of a type whose values can't be hashed.
pub trait Unregistered {
    /// Does nothing.
    fn seqz_add(&self, to: &mut Registry<'_>);
}

impl<T: ?Sized> Unregistered for Type<T> {
    fn seqz_add(&self, _: &mut Registry<'_>) {}
}

/// Registers a type that is declared in a block, when the block begins.
#[inline]
pub fn local<T: ValueHash>() {
    if crate::panics::a_program_runs() && !super::registry::is_known::<T>() {
        Registry::fill(|registry| registry.add_local::<T>());
    }
}
