//! Vectors whose memory is kept from execution to execution.
//!
//! Code of the runtime that runs inside of the program, such as an event, would allocate where the program does: in its
//! thread's region (see [`arena`](super::arena)), which is used from its beginning again only when nothing is left in
//! the region. So memory that the runtime keeps must come from outside of regions. Memory from outside stays outside
//! when it grows. So it is enough that a [`Buffer`] gets its first memory from outside, before it needs any, and events
//! pay nothing for that.

use std::ops::{Deref, DerefMut};

use super::outside;

/// The number of elements for which there is room at first.
const ROOM: usize = 16;

/// A vector that outlives the execution, and never gives its memory back, so that it always has some.
#[derive(Debug)]
pub(crate) struct Buffer<T>(Vec<T>);

impl<T> Buffer<T> {
    pub(crate) fn new() -> Self {
        Self::with_room(ROOM)
    }

    fn with_room(room: usize) -> Self {
        Self(outside(|| Vec::with_capacity(room)))
    }
}

impl<T> Default for Buffer<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Clone> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        let mut clone = Self::with_room(self.0.len().max(ROOM));
        clone.0.extend_from_slice(&self.0);
        clone
    }
}

impl<T> Deref for Buffer<T> {
    type Target = Vec<T>;

    #[inline(always)]
    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T> DerefMut for Buffer<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}

impl<'a, T> IntoIterator for &'a Buffer<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    #[inline(always)]
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut Buffer<T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    #[inline(always)]
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter_mut()
    }
}

/// Gives a vector its first memory, from outside of regions, where the vector's memory then stays.
#[inline]
pub(crate) fn reserve<T>(kept: &mut Vec<T>) {
    outside(|| kept.reserve(ROOM));
}
