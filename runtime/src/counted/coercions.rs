//! Handles that become those of types without a size, and that methods are called on: what std's own can do by traits that
//! no other type may have yet.

use std::marker::Unsize;
use std::ops::{CoerceUnsized, DispatchFromDyn, LegacyReceiver};
use std::pin::PinCoerceUnsized;
use std::sync::{Arc as Handle, Weak as WeakHandle};

use super::{Arc, Weak};

impl<T, U, const OBSERVED: bool> CoerceUnsized<Arc<U, OBSERVED>> for Arc<T, OBSERVED>
where
    T: ?Sized + Unsize<U>,
    U: ?Sized,
    Handle<T>: CoerceUnsized<Handle<U>>,
{
}

impl<T, U, const OBSERVED: bool> DispatchFromDyn<Arc<U, OBSERVED>> for Arc<T, OBSERVED>
where
    T: ?Sized + Unsize<U>,
    U: ?Sized,
    Handle<T>: DispatchFromDyn<Handle<U>>,
{
}

impl<T: ?Sized, const OBSERVED: bool> LegacyReceiver for Arc<T, OBSERVED> {}

impl<T, U, const OBSERVED: bool> CoerceUnsized<Weak<U, OBSERVED>> for Weak<T, OBSERVED>
where
    T: ?Sized + Unsize<U>,
    U: ?Sized,
    WeakHandle<T>: CoerceUnsized<WeakHandle<U>>,
{
}

// SAFETY: the same handle leads to the same value, whatever is known of its type.
unsafe impl<T: ?Sized, const OBSERVED: bool> PinCoerceUnsized for Arc<T, OBSERVED> {}
