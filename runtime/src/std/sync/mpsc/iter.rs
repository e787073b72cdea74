//! Iterators over the messages that are received.
//!
//! Their steps are told at the place where the iterator was made: `next` is called from inside of std as often as not.

use std::fmt;
use std::panic::Location;

use super::Receiver;
use crate::vocabulary::Site;

/// `std::sync::mpsc::Iter`.
pub struct Iter<'a, T>(&'a Receiver<T>, Site);

/// `std::sync::mpsc::TryIter`.
pub struct TryIter<'a, T>(&'a Receiver<T>, Site);

/// `std::sync::mpsc::IntoIter`.
pub struct IntoIter<T>(Receiver<T>, Site);

impl<'a, T> Iter<'a, T> {
    pub(super) const fn of(receiver: &'a Receiver<T>, site: Site) -> Self {
        Self(receiver, site)
    }
}

impl<'a, T> TryIter<'a, T> {
    pub(super) const fn of(receiver: &'a Receiver<T>, site: Site) -> Self {
        Self(receiver, site)
    }
}

impl<T> Iterator for Iter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.recv_at(self.1).ok()
    }
}

impl<T> Iterator for TryIter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.try_recv_at(self.1).ok()
    }
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.recv_at(self.1).ok()
    }
}

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    #[track_caller]
    fn into_iter(self) -> Iter<'a, T> {
        Iter::of(self, Location::caller())
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    #[track_caller]
    fn into_iter(self) -> IntoIter<T> {
        IntoIter(self, Location::caller())
    }
}

impl<T> fmt::Debug for Iter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Iter").field("rx", self.0).finish()
    }
}

impl<T> fmt::Debug for TryIter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TryIter").field("rx", self.0).finish()
    }
}

impl<T> fmt::Debug for IntoIter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IntoIter").field("rx", &self.0).finish()
    }
}
