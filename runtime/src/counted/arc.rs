//! `std::sync::Arc`.

use std::any::Any;
use std::mem::{ManuallyDrop, MaybeUninit, needs_drop};
use std::panic::Location;
use std::pin::Pin;
use std::sync::{Arc as Handle, Weak as WeakHandle};

use super::Weak;
use super::count::{act, before_there, begin, ended, ends, there};
use crate::engine::counts::{Act, Count};
use crate::vocabulary::Site;

/// `std::sync::Arc`, counted. `OBSERVED` tells whether other threads can see where the destructor of a shared value
/// runs.
// The functions beside std's have no `self` either: methods would hide those of the value.
#[repr(transparent)]
pub struct Arc<T: ?Sized, const OBSERVED: bool>(Handle<T>, End);

/// Comes after the end of a handle, and of the value with its last handle: fields are dropped in their order.
struct End;

impl End {
    /// The name of the end of this handle.
    const fn at(&self) -> *const () {
        std::ptr::from_ref(self).cast()
    }
}

impl Drop for End {
    #[inline]
    fn drop(&mut self) {
        ended(self.at());
    }
}

impl<T: ?Sized, const OBSERVED: bool> Arc<T, OBSERVED> {
    /// The `Arc` of a handle that is counted already.
    pub(super) const fn of(handle: Handle<T>) -> Self {
        Self(handle, End)
    }

    /// The `Arc` of the first handle of an allocation.
    pub(super) fn first(handle: Handle<T>) -> Self {
        begin(Handle::as_ptr(&handle).cast());
        Self::of(handle)
    }

    /// std's handle, which is counted still.
    pub(super) fn handle(this: Self) -> Handle<T> {
        let this = ManuallyDrop::new(this);
        // SAFETY: what is read is not used or dropped again.
        unsafe { std::ptr::read(&raw const this.0) }
    }

    pub(super) const fn borrowed(this: &Self) -> &Handle<T> {
        &this.0
    }

    fn count(this: &Self) -> Count {
        count_of(&this.0)
    }

    fn act<R>(this: &Self, what: Act, site: Site, then: impl FnOnce() -> (R, Count)) -> R {
        let value = Handle::as_ptr(&this.0).cast();
        act(value, what, site, || Self::count(this), then)
    }

    #[track_caller]
    fn look(this: &Self) -> Count {
        Self::act(this, Act::Look, Location::caller(), || {
            let count = Self::count(this);
            (count, count)
        })
    }

    /// See `std::sync::Arc::strong_count`.
    #[must_use]
    #[track_caller]
    pub fn strong_count(this: &Self) -> usize {
        Self::look(this).strong
    }

    /// See `std::sync::Arc::weak_count`.
    #[must_use]
    #[track_caller]
    pub fn weak_count(this: &Self) -> usize {
        Self::look(this).weak
    }

    /// See `std::sync::Arc::downgrade`.
    #[must_use]
    #[track_caller]
    pub fn downgrade(this: &Self) -> Weak<T, OBSERVED> {
        Self::act(this, Act::Add, Location::caller(), || {
            let weak = Weak(Handle::downgrade(&this.0));
            (weak, Self::count(this))
        })
    }

    /// See `std::sync::Arc::get_mut`.
    #[must_use]
    #[track_caller]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        Self::look(this);
        Handle::get_mut(&mut this.0)
    }

    /// See `std::sync::Arc::ptr_eq`.
    #[must_use]
    pub fn ptr_eq(this: &Self, other: &Self) -> bool {
        Handle::ptr_eq(&this.0, &other.0)
    }

    /// See `std::sync::Arc::as_ptr`.
    #[must_use]
    pub fn as_ptr(this: &Self) -> *const T {
        Handle::as_ptr(&this.0)
    }

    /// See `std::sync::Arc::into_raw`.
    #[must_use]
    pub fn into_raw(this: Self) -> *const T {
        Handle::into_raw(Self::handle(this))
    }

    /// See `std::sync::Arc::from_raw`.
    ///
    /// # Safety
    /// The std function's requirements.
    #[must_use]
    pub unsafe fn from_raw(value: *const T) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { Handle::from_raw(value) }, End)
    }

    /// See `std::sync::Arc::increment_strong_count`.
    ///
    /// # Safety
    /// The std function's requirements.
    #[track_caller]
    pub unsafe fn increment_strong_count(value: *const T) {
        // SAFETY: the caller's promise. The handle is not dropped.
        let this = ManuallyDrop::new(unsafe { Self::from_raw(value) });
        std::mem::forget(Self::clone(&this));
    }

    /// See `std::sync::Arc::decrement_strong_count`.
    ///
    /// # Safety
    /// The std function's requirements.
    #[track_caller]
    pub unsafe fn decrement_strong_count(value: *const T) {
        // SAFETY: the caller's promise.
        drop(unsafe { Self::from_raw(value) });
    }
}

impl<T, const OBSERVED: bool> Arc<T, OBSERVED> {
    /// See `std::sync::Arc::new`.
    #[must_use]
    pub fn new(value: T) -> Self {
        Self::first(Handle::new(value))
    }

    /// See `std::sync::Arc::pin`.
    #[must_use]
    pub fn pin(value: T) -> Pin<Self> {
        // SAFETY: an `Arc` never moves the value that it leads to.
        unsafe { Pin::new_unchecked(Self::new(value)) }
    }

    /// See `std::sync::Arc::new_cyclic`.
    #[must_use]
    #[track_caller]
    pub fn new_cyclic<F>(make: F) -> Self
    where
        F: FnOnce(&Weak<T, OBSERVED>) -> T,
    {
        let site = Location::caller();
        let this = Self::of(Handle::new_cyclic(|weak: &WeakHandle<T>| {
            begin(weak.as_ptr().cast());
            // SAFETY: the counted `Weak` is a transparent wrapper of std's.
            let value = make(unsafe { &*std::ptr::from_ref(weak).cast() });
            before_there(weak.as_ptr().cast(), site);
            value
        }));
        there(Handle::as_ptr(&this.0).cast(), site, Self::count(&this));
        this
    }

    /// See `std::sync::Arc::new_uninit`.
    #[must_use]
    pub fn new_uninit() -> Arc<MaybeUninit<T>, OBSERVED> {
        Arc::first(Handle::new_uninit())
    }

    /// See `std::sync::Arc::new_zeroed`.
    #[must_use]
    pub fn new_zeroed() -> Arc<MaybeUninit<T>, OBSERVED> {
        Arc::first(Handle::new_zeroed())
    }

    /// See `std::sync::Arc::try_unwrap`.
    ///
    /// # Errors
    /// There are other strong handles.
    #[track_caller]
    pub fn try_unwrap(this: Self) -> Result<T, Self> {
        let value = Handle::as_ptr(&this.0).cast();
        let slot = ManuallyDrop::new(this);
        act(
            value,
            Act::Unwrap,
            Location::caller(),
            || Self::count(&slot),
            || {
                // SAFETY: `slot` is not used again after this, only for its count before.
                let handle = unsafe { std::ptr::read(&raw const slot.0) };
                match Handle::try_unwrap(handle) {
                    Ok(value) => (Ok(value), Count { strong: 0, weak: 0 }),
                    Err(handle) => {
                        let this = Self(handle, End);
                        let count = Self::count(&this);
                        (Err(this), count)
                    }
                }
            },
        )
    }

    /// See `std::sync::Arc::into_inner`.
    #[must_use]
    #[track_caller]
    pub fn into_inner(this: Self) -> Option<T> {
        let value = Handle::as_ptr(&this.0).cast();
        let slot = ManuallyDrop::new(this);
        act(
            value,
            Act::Update,
            Location::caller(),
            || Self::count(&slot),
            || {
                let left = one_less(Self::count(&slot));
                // SAFETY: `slot` is not used again.
                let handle = unsafe { std::ptr::read(&raw const slot.0) };
                (Handle::into_inner(handle), left)
            },
        )
    }
}

fn count_of<T: ?Sized>(handle: &Handle<T>) -> Count {
    Count {
        strong: Handle::strong_count(handle),
        weak: Handle::weak_count(handle),
    }
}

/// The count once a strong handle is gone; std counts no weak handles of a value that is gone.
const fn one_less(count: Count) -> Count {
    match count.strong {
        0 | 1 => Count { strong: 0, weak: 0 },
        more => Count {
            strong: more - 1,
            weak: count.weak,
        },
    }
}

impl<T: Clone, const OBSERVED: bool> Arc<T, OBSERVED> {
    /// See `std::sync::Arc::make_mut`.
    #[track_caller]
    pub fn make_mut(this: &mut Self) -> &mut T {
        let site = Location::caller();
        let value = Handle::as_ptr(&this.0).cast();
        let handle = &raw mut this.0;
        // SAFETY: this call has exclusive access to the handle; the two closures are called one after the other.
        let count = || count_of(unsafe { &*handle });
        let is_last = act(value, Act::Unwrap, site, count, || {
            let found = count();
            if found.strong != 1 {
                return (false, found);
            }
            // SAFETY: this call has exclusive access to the handle, and the closures are called one after the other.
            // The value is not cloned: if there are weak handles, the value moves away from them.
            let is_moved = unsafe {
                Handle::make_mut(&mut *handle);
                Handle::as_ptr(&*handle).cast() != value
            };
            let strong = usize::from(!is_moved);
            (true, Count { strong, weak: 0 })
        });
        if !is_last {
            *this = Self::new((**this).clone());
        } else if Handle::as_ptr(&this.0).cast() != value {
            begin(Handle::as_ptr(&this.0).cast());
        }
        // The allocation has no other handle.
        // SAFETY: this handle is the allocation's only one, strong or weak.
        unsafe { &mut *Handle::as_ptr(&this.0).cast_mut() }
    }

    /// See `std::sync::Arc::unwrap_or_clone`.
    #[must_use]
    #[track_caller]
    pub fn unwrap_or_clone(this: Self) -> T {
        Self::try_unwrap(this).unwrap_or_else(|this| (*this).clone())
    }
}

impl<T, const OBSERVED: bool> Arc<MaybeUninit<T>, OBSERVED> {
    /// See `std::sync::Arc::assume_init`.
    ///
    /// # Safety
    /// The std function's requirements.
    #[must_use]
    pub unsafe fn assume_init(self) -> Arc<T, OBSERVED> {
        // SAFETY: the caller's promise.
        Arc(unsafe { Self::handle(self).assume_init() }, End)
    }
}

impl<T, const OBSERVED: bool> Arc<[T], OBSERVED> {
    /// See `std::sync::Arc::new_uninit_slice`.
    #[must_use]
    pub fn new_uninit_slice(length: usize) -> Arc<[MaybeUninit<T>], OBSERVED> {
        Arc::first(Handle::new_uninit_slice(length))
    }

    /// See `std::sync::Arc::new_zeroed_slice`.
    #[must_use]
    pub fn new_zeroed_slice(length: usize) -> Arc<[MaybeUninit<T>], OBSERVED> {
        Arc::first(Handle::new_zeroed_slice(length))
    }
}

impl<T, const OBSERVED: bool> Arc<[MaybeUninit<T>], OBSERVED> {
    /// See `std::sync::Arc::assume_init`.
    ///
    /// # Safety
    /// The std function's requirements.
    #[must_use]
    pub unsafe fn assume_init(self) -> Arc<[T], OBSERVED> {
        // SAFETY: the caller's promise.
        Arc(unsafe { Self::handle(self).assume_init() }, End)
    }
}

impl<const OBSERVED: bool> Arc<dyn Any + Send + Sync, OBSERVED> {
    /// See `std::sync::Arc::downcast`.
    ///
    /// # Errors
    /// The value is of another type.
    pub fn downcast<T: Any + Send + Sync>(self) -> Result<Arc<T, OBSERVED>, Self> {
        let handle = Self::handle(self).downcast();
        handle.map(Arc::of).map_err(Self::of)
    }
}

impl<T: ?Sized, const OBSERVED: bool> Clone for Arc<T, OBSERVED> {
    #[track_caller]
    fn clone(&self) -> Self {
        Self::act(self, Act::Add, Location::caller(), || {
            let another = Self(self.0.clone(), End);
            (another, Self::count(self))
        })
    }
}

impl<T: ?Sized, const OBSERVED: bool> Drop for Arc<T, OBSERVED> {
    #[track_caller]
    fn drop(&mut self) {
        let what = if OBSERVED && needs_drop::<T>() {
            ends(self.1.at());
            Act::Take
        } else {
            Act::Add
        };
        let site = Location::caller();
        // The handle itself is dropped right after this, and the value with its last handle.
        Self::act(self, what, site, || ((), one_less(Self::count(self))));
    }
}
