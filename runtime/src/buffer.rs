//! Vectors whose memory is kept from execution to execution.
//!
//! What runs inside of the program, such as an event, would allocate where the program does: in its thread's region (see
//! `crate::scheduled::arena`), which is used from its beginning again only when nothing is left in it. So what the
//! runtime keeps must come from outside. What has come from there stays there when it grows. That makes it enough for a
//! [`Buffer`] to have its first memory from outside, before it needs any, and events pay nothing for it.

use std::ops::{Deref, DerefMut};

/// How many elements there is room for at first.
const ROOM: usize = 16;

/// Runs code of the runtime whose allocations outlive the execution.
#[inline]
pub(crate) fn outside<R>(run: impl FnOnce() -> R) -> R {
    #[cfg(feature = "scheduler")]
    return crate::scheduled::arena::outside(run);
    #[cfg(not(feature = "scheduler"))]
    run()
}

/// A vector that outlives the execution. It never gives its memory back, so that it always has some.
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

/// Before an object of the program notes what it keeps: one that outlives the execution must have that memory from outside.
/// That may be all that lies in no region; where the execution's memory is given back, it is statics alone, and what lies on a
/// stack goes with the execution.
#[inline]
pub(crate) fn make_room<T>(kept: &mut Vec<T>) {
    #[cfg(feature = "scheduler")]
    if kept.capacity() == 0 {
        let outlives = if crate::process::is_put_back() {
            crate::process::is_static(kept)
        } else {
            !crate::scheduled::arena::contains(std::ptr::from_ref(kept).addr())
        };
        if outlives {
            outside(|| kept.reserve(ROOM));
        }
    }
    #[cfg(not(feature = "scheduler"))]
    let _ = kept;
}
