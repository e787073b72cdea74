//! `std::sync::atomic`. P̂ₖ and the scheduled machine are sequentially consistent: orderings only decide which accesses of
//! `unsafe` code to memory are data races.

use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};

pub use ::std::sync::atomic::Ordering;

use crate::engine::ValueKind;
use crate::running::refuse;
use crate::shared::{AtomicCell, Bits};
use crate::vocabulary::Site;

/// See `std::sync::atomic::fence`. Sequential consistency needs none.
#[track_caller]
pub fn fence(order: Ordering) {
    assert!(
        order != Ordering::Relaxed,
        "there is no such thing as a relaxed fence"
    );
    crate::scheduled::fence(order, Location::caller());
    fenced(order);
}

/// See `std::sync::atomic::compiler_fence`. Sequential consistency needs none.
pub fn compiler_fence(order: Ordering) {
    assert!(
        order != Ordering::Relaxed,
        "there is no such thing as a relaxed fence"
    );
}

/// See `std::sync::atomic::spin_loop_hint`.
pub fn spin_loop_hint() {
    crate::std::hint::spin_loop();
}

/// See `std::sync::atomic::ATOMIC_BOOL_INIT`, which is deprecated and there to stay, as the two below are.
// As in std, a static begins with it.
#[allow(clippy::declare_interior_mutable_const)]
pub const ATOMIC_BOOL_INIT: AtomicBool = AtomicBool::new(false);

/// See `std::sync::atomic::ATOMIC_ISIZE_INIT`.
#[allow(clippy::declare_interior_mutable_const)]
pub const ATOMIC_ISIZE_INIT: AtomicIsize = AtomicIsize::new(0);

/// See `std::sync::atomic::ATOMIC_USIZE_INIT`.
#[allow(clippy::declare_interior_mutable_const)]
pub const ATOMIC_USIZE_INIT: AtomicUsize = AtomicUsize::new(0);

#[track_caller]
#[inline]
fn check_load(order: Ordering) {
    match order {
        Ordering::Release => panic!("there is no such thing as a release load"),
        Ordering::AcqRel => panic!("there is no such thing as an acquire-release load"),
        _ => {}
    }
}

#[track_caller]
#[inline]
fn check_store(order: Ordering) {
    match order {
        Ordering::Acquire => panic!("there is no such thing as an acquire store"),
        Ordering::AcqRel => panic!("there is no such thing as an acquire-release store"),
        _ => {}
    }
}

#[track_caller]
#[inline]
fn check_failure(order: Ordering) {
    match order {
        Ordering::Release => panic!("there is no such thing as a release failure ordering"),
        Ordering::AcqRel => panic!("there is no such thing as an acquire-release failure ordering"),
        _ => {}
    }
}

impl<V: Bits> AtomicCell<V> {
    #[inline]
    fn load_as(&self, order: Ordering, site: Site) -> V {
        announces(order, order);
        let value = self.load(site);
        ordered(order);
        value
    }

    /// Does a read-modify-write that always writes.
    #[inline]
    fn rmw(&self, next: impl Fn(V) -> V, order: Ordering, site: Site) -> V {
        announces(order, order);
        match self.update(|old| Some(next(old)), None, site) {
            Ok(old) | Err(old) => {
                ordered(order);
                old
            }
        }
    }

    #[inline]
    fn compare_exchange(
        &self,
        current: V,
        new: V,
        (success, failure): (Ordering, Ordering),
        site: Site,
    ) -> Result<V, V>
    where
        V: PartialEq,
    {
        announces(success, failure);
        let result = self.update(|old| (old == current).then_some(new), Some(current), site);
        ordered(if result.is_ok() { success } else { failure });
        result
    }

    /// Does a load, then weak exchanges until one succeeds, as std does.
    fn fetch_update(
        &self,
        mut next: impl FnMut(V) -> Option<V>,
        (set, fetch): (Ordering, Ordering),
        site: Site,
    ) -> Result<V, V>
    where
        V: PartialEq,
    {
        let mut old = self.load_as(fetch, site);
        while let Some(new) = next(old) {
            if fails_without_reason(site) {
                old = self.load_as(fetch, site);
                continue;
            }
            match self.compare_exchange(old, new, (set, fetch), site) {
                Ok(old) => return Ok(old),
                Err(seen) => old = seen,
            }
        }
        Err(old)
    }
}

macro_rules! common {
    ($(#[$doc:meta])* [$($generics:tt)*] $name:ty, $value:ty) => {
        impl<$($generics)*> UnwindSafe for $name where $value: UnwindSafe {}
        impl<$($generics)*> RefUnwindSafe for $name {}

        impl<$($generics)*> $name {
            /// See `new` of the std type.
            #[must_use]
            pub const fn new(value: $value) -> Self {
                Self { cell: AtomicCell::new(value) }
            }

            /// A number for this object, as a part of a value.
            #[allow(dead_code)]
            pub(crate) fn identity(&self) -> u64 {
                self.cell.identity()
            }

            /// See `load` of the std type.
            #[inline]
            #[track_caller]
            pub fn load(&self, order: Ordering) -> $value {
                check_load(order);
                self.cell.load_as(order, Location::caller())
            }

            /// See `store` of the std type.
            #[inline]
            #[track_caller]
            pub fn store(&self, value: $value, order: Ordering) {
                check_store(order);
                announces(order, order);
                self.cell.store(value, Location::caller());
                ordered(order);
            }

            /// See `swap` of the std type.
            #[inline]
            #[track_caller]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                self.cell.rmw(|_| value, order, Location::caller())
            }

            /// See `as_ptr` of the std type. The execution ends as one that can't be followed: what is done to memory
            /// behind the pointer is no event.
            #[must_use]
            #[track_caller]
            pub fn as_ptr(&self) -> *mut $value {
                refuse("the place of an atomic is taken: accesses behind the pointer can't be seen", Location::caller())
            }

            /// See `from_ptr` of the std type. The execution ends as one that can't be followed: there is no atomic of
            /// the runtime behind the pointer.
            ///
            /// # Safety
            /// There is nothing to see to.
            #[must_use]
            #[track_caller]
            pub unsafe fn from_ptr<'a>(_: *mut $value) -> &'a Self {
                refuse("an atomic is made of memory behind a pointer", Location::caller())
            }

            /// See `compare_exchange` of the std type.
            ///
            /// # Errors
            /// The value was another one, which is returned.
            #[inline]
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                check_failure(failure);
                let orders = (success, failure);
                self.cell.compare_exchange(current, new, orders, Location::caller())
            }

            /// See `compare_exchange_weak` of the std type. It may fail without a reason where the machine is set to
            /// allow that.
            ///
            /// # Errors
            /// The value was another one, or it failed without a reason: the value is returned.
            #[inline]
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                check_failure(failure);
                let site = Location::caller();
                if fails_without_reason(site) {
                    return Err(self.cell.load_as(failure, site));
                }
                self.cell.compare_exchange(current, new, (success, failure), site)
            }

            /// See `compare_and_swap` of the std type.
            #[track_caller]
            pub fn compare_and_swap(&self, current: $value, new: $value, order: Ordering) -> $value {
                let failure = match order {
                    Ordering::Release => Ordering::Relaxed,
                    Ordering::AcqRel => Ordering::Acquire,
                    order => order,
                };
                let orders = (order, failure);
                match self.cell.compare_exchange(current, new, orders, Location::caller()) {
                    Ok(old) | Err(old) => old,
                }
            }

            /// See `fetch_update` of the std type.
            ///
            /// # Errors
            /// `next` gave `None` for the value that is returned.
            #[track_caller]
            pub fn fetch_update<F>(
                &self,
                set: Ordering,
                fetch: Ordering,
                next: F,
            ) -> Result<$value, $value>
            where
                F: FnMut($value) -> Option<$value>,
            {
                check_failure(fetch);
                self.cell.fetch_update(next, (set, fetch), Location::caller())
            }

            /// See `try_update` of the std type.
            ///
            /// # Errors
            /// `next` gave `None` for the value that is returned.
            #[track_caller]
            pub fn try_update(
                &self,
                set: Ordering,
                fetch: Ordering,
                next: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                check_failure(fetch);
                self.cell.fetch_update(next, (set, fetch), Location::caller())
            }

            /// See `update` of the std type.
            #[track_caller]
            pub fn update(
                &self,
                set: Ordering,
                fetch: Ordering,
                mut next: impl FnMut($value) -> $value,
            ) -> $value {
                check_failure(fetch);
                match self.cell.fetch_update(|old| Some(next(old)), (set, fetch), Location::caller()) {
                    Ok(old) | Err(old) => old,
                }
            }

            /// See `get_mut` of the std type.
            #[track_caller]
            pub fn get_mut(&mut self) -> &mut $value {
                self.cell.place(Location::caller())
            }

            /// See `into_inner` of the std type.
            #[must_use]
            #[track_caller]
            pub fn into_inner(self) -> $value {
                announces(Ordering::Relaxed, Ordering::Relaxed);
                self.cell.load(Location::caller())
            }
        }

        impl<$($generics)*> fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.load(Ordering::Relaxed).fmt(f)
            }
        }

        impl<$($generics)*> From<$value> for $name {
            fn from(value: $value) -> Self {
                Self::new(value)
            }
        }
    };
}

macro_rules! fetch {
    ($($(#[$doc:meta])* $method:ident() $next:expr;)*; $value:ty) => {
        $(
            $(#[$doc])*
            #[inline]
            #[track_caller]
            pub fn $method(&self, value: $value, order: Ordering) -> $value {
                let next: fn($value, $value) -> $value = $next;
                self.cell.rmw(|old| next(old, value), order, Location::caller())
            }
        )*
    };
}

macro_rules! integer {
    ($($name:ident $value:ident $kind:ident;)*) => {$(
        #[doc = concat!("`std::sync::atomic::", stringify!($name), "`, as an object of P̂ₖ.")]
        pub struct $name {
            cell: AtomicCell<$value>,
        }

        impl Bits for $value {
            const KIND: ValueKind = ValueKind::$kind;
            #[inline]
            #[allow(clippy::cast_lossless, clippy::cast_sign_loss)]
            fn to_bits(self) -> u64 {
                self as u64
            }
            #[inline]
            #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)]
            fn from_bits(bits: u64) -> Self {
                bits as Self
            }
        }

        common!([] $name, $value);

        impl $name {
            fetch! {
                /// See `fetch_add` of the std type.
                fetch_add() |old, value| old.wrapping_add(value);
                /// See `fetch_sub` of the std type.
                fetch_sub() |old, value| old.wrapping_sub(value);
                /// See `fetch_and` of the std type.
                fetch_and() |old, value| old & value;
                /// See `fetch_nand` of the std type.
                fetch_nand() |old, value| !(old & value);
                /// See `fetch_or` of the std type.
                fetch_or() |old, value| old | value;
                /// See `fetch_xor` of the std type.
                fetch_xor() |old, value| old ^ value;
                /// See `fetch_max` of the std type.
                fetch_max() |old, value| old.max(value);
                /// See `fetch_min` of the std type.
                fetch_min() |old, value| old.min(value);
                ; $value
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new(0)
            }
        }
    )*};
}

integer! {
    AtomicU8 u8 Unsigned;
    AtomicU16 u16 Unsigned;
    AtomicU32 u32 Unsigned;
    AtomicU64 u64 Unsigned;
    AtomicUsize usize Unsigned;
    AtomicI8 i8 Signed;
    AtomicI16 i16 Signed;
    AtomicI32 i32 Signed;
    AtomicI64 i64 Signed;
    AtomicIsize isize Signed;
}

/// `std::sync::atomic::AtomicBool`, as an object of P̂ₖ.
pub struct AtomicBool {
    cell: AtomicCell<bool>,
}

impl Bits for bool {
    const KIND: ValueKind = ValueKind::Bool;
    #[inline]
    fn to_bits(self) -> u64 {
        u64::from(self)
    }
    #[inline]
    fn from_bits(bits: u64) -> Self {
        bits != 0
    }
}

common!([] AtomicBool, bool);

impl AtomicBool {
    fetch! {
        /// See `fetch_and` of the std type.
        fetch_and() |old, value| old & value;
        /// See `fetch_nand` of the std type.
        fetch_nand() |old, value| !(old & value);
        /// See `fetch_or` of the std type.
        fetch_or() |old, value| old | value;
        /// See `fetch_xor` of the std type.
        fetch_xor() |old, value| old ^ value;
        ; bool
    }

    /// See `fetch_not` of the std type.
    #[track_caller]
    pub fn fetch_not(&self, order: Ordering) -> bool {
        self.cell.rmw(|old| !old, order, Location::caller())
    }
}

impl Default for AtomicBool {
    fn default() -> Self {
        Self::new(false)
    }
}

/// `std::sync::atomic::AtomicPtr`, as an object of P̂ₖ. What the pointer points to is not copied: the transformation
/// refuses programs that look behind it.
pub struct AtomicPtr<T> {
    cell: AtomicCell<*mut T>,
}

// SAFETY: the type hands out the pointer and no more, as std's does.
unsafe impl<T> Send for AtomicPtr<T> {}

impl<T> Bits for *mut T {
    const KIND: ValueKind = ValueKind::Pointer;
    fn to_bits(self) -> u64 {
        self.expose_provenance() as u64
    }
    #[allow(clippy::cast_possible_truncation)]
    fn from_bits(bits: u64) -> Self {
        std::ptr::with_exposed_provenance_mut(bits as usize)
    }
}

common!([T] AtomicPtr<T>, *mut T);

/// Updates of an address, which are those of std's type of this name.
macro_rules! fetch_addresses {
    ($($(#[$doc:meta])* $method:ident: $next:expr;)*) => {
        impl<T> AtomicPtr<T> {
            $(
                $(#[$doc])*
                #[track_caller]
                pub fn $method(&self, value: usize, order: Ordering) -> *mut T {
                    let next: fn(*mut T, usize) -> *mut T = $next;
                    self.cell.rmw(|old| next(old, value), order, Location::caller())
                }
            )*
        }
    };
}

fetch_addresses! {
    /// See `fetch_ptr_add` of the std type.
    fetch_ptr_add: |old, value| old.wrapping_add(value);
    /// See `fetch_ptr_sub` of the std type.
    fetch_ptr_sub: |old, value| old.wrapping_sub(value);
    /// See `fetch_byte_add` of the std type.
    fetch_byte_add: |old, value| old.wrapping_byte_add(value);
    /// See `fetch_byte_sub` of the std type.
    fetch_byte_sub: |old, value| old.wrapping_byte_sub(value);
    /// See `fetch_or` of the std type.
    fetch_or: |old, value| old.map_addr(|address| address | value);
    /// See `fetch_and` of the std type.
    fetch_and: |old, value| old.map_addr(|address| address & value);
    /// See `fetch_xor` of the std type.
    fetch_xor: |old, value| old.map_addr(|address| address ^ value);
}

impl<T> fmt::Pointer for AtomicPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(&self.load(Ordering::Relaxed), f)
    }
}

impl<T> Default for AtomicPtr<T> {
    fn default() -> Self {
        Self::new(std::ptr::null_mut())
    }
}

/// Notes the orderings of the operation that comes next, where a search goes by them.
#[inline]
fn announces(success: Ordering, failure: Ordering) {
    crate::scheduled::announces(success, failure);
}

/// Notes the ordering of the event that has just been made, where orderings are looked at.
#[inline]
fn ordered(order: Ordering) {
    crate::scheduled::ordered(order);
}

/// Notes a fence, where orderings are looked at.
fn fenced(order: Ordering) {
    crate::scheduled::fenced(order);
}

/// Whether a weak exchange fails here without a reason.
#[inline]
fn fails_without_reason(site: crate::vocabulary::Site) -> bool {
    crate::scheduled::current().is_some_and(|machine| machine.happens_without_reason(site))
}
