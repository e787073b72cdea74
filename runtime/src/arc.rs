//! The functions of `Arc` whose result depends on how many handles there are.
//!
//! While two threads run side by side, how many handles the other one holds depends on the interleaving, and P̂ₖ does not
//! follow that: such a call is refused there. Before the threads start and after they are joined the count is what it
//! is, but for the copies of shared values that P̂ₖ keeps. Those only ever add handles, so "there is just one" can be
//! believed.

use std::panic::Location;
use std::sync::Arc;

use crate::engine::{current, unsupported};

#[track_caller]
fn settled(function: &str) {
    let site = Location::caller();
    if let Some(handle) = current()
        && handle.get().counts_are_open()
    {
        let message = format!(
            "`Arc::{function}` while another thread runs: the count depends on the interleaving"
        );
        unsupported(handle, message, Some(site));
    }
}

/// Refuses to answer that there are several handles where some of them may be copies made by P̂ₖ.
#[track_caller]
fn shared<T>(arc: &Arc<T>, function: &str) {
    let site = Location::caller();
    if Arc::strong_count(arc) > 1
        && let Some(handle) = current()
        && handle.get().copied_values
    {
        let message = format!(
            "`Arc::{function}` where shared values that may hold the `Arc` have been copied"
        );
        unsupported(handle, message, Some(site));
    }
}

/// See `Arc::strong_count`.
#[must_use]
#[track_caller]
pub fn strong_count<T>(arc: &Arc<T>) -> usize {
    settled("strong_count");
    shared(arc, "strong_count");
    Arc::strong_count(arc)
}

/// See `Arc::weak_count`.
#[must_use]
#[track_caller]
pub fn weak_count<T>(arc: &Arc<T>) -> usize {
    settled("weak_count");
    Arc::weak_count(arc)
}

/// See `Arc::try_unwrap`.
///
/// # Errors
/// There are other handles.
#[track_caller]
pub fn try_unwrap<T>(arc: Arc<T>) -> Result<T, Arc<T>> {
    settled("try_unwrap");
    shared(&arc, "try_unwrap");
    Arc::try_unwrap(arc)
}

/// See `Arc::into_inner`.
#[must_use]
#[track_caller]
pub fn into_inner<T>(arc: Arc<T>) -> Option<T> {
    settled("into_inner");
    shared(&arc, "into_inner");
    Arc::into_inner(arc)
}

/// See `Arc::get_mut`.
#[must_use]
#[track_caller]
pub fn get_mut<T>(arc: &mut Arc<T>) -> Option<&mut T> {
    settled("get_mut");
    shared(arc, "get_mut");
    Arc::get_mut(arc)
}

/// See `Arc::make_mut`.
#[must_use]
#[track_caller]
pub fn make_mut<T: Clone>(arc: &mut Arc<T>) -> &mut T {
    settled("make_mut");
    Arc::make_mut(arc)
}

/// See `Arc::unwrap_or_clone`.
#[must_use]
#[track_caller]
pub fn unwrap_or_clone<T: Clone>(arc: Arc<T>) -> T {
    settled("unwrap_or_clone");
    Arc::unwrap_or_clone(arc)
}

/// See `Arc::ptr_eq`.
#[must_use]
pub fn ptr_eq<T: ?Sized>(a: &Arc<T>, b: &Arc<T>) -> bool {
    Arc::ptr_eq(a, b)
}
