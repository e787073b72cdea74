//! Accesses of `unsafe` code to memory: what the transformation puts beside each access that it can see in the source.
//!
//! An access is no event: threads are not switched there. The scheduled machine [checks](crate::scheduled) it instead:
//! whether its memory still lives, and whether something orders it with the accesses of other threads. An access through
//! a reference or a smart pointer is as true an access as one through a raw pointer, so the place alone matters, and
//! not the type of the pointer.
//!
//! In the sequential program, and outside of executions, the functions do nothing.

pub(crate) mod cell;
mod frozen;
pub mod ptr;

use std::panic::RefUnwindSafe;
use std::ptr::NonNull;

use crate::memory::Access;

/// Has the accesses of the program to memory checked from here on, until the execution ends.
pub fn watch() {
    if let Some(machine) = crate::scheduled::current() {
        machine.watch_raw_memory();
    }
}

/// The program is about to read this place.
#[track_caller]
#[inline]
pub fn reads<T: ?Sized>(place: *const T) {
    tell(place, Access::Read);
}

/// The program is about to write this place, or to make a reference through which it can.
#[track_caller]
#[inline]
pub fn writes<T: ?Sized>(place: *const T) {
    tell(place, Access::Write);
}

/// The program is about to read an element of this container: one in the container itself, as of an array, or elsewhere,
/// as of a vector, which is itself read then.
#[track_caller]
#[inline]
pub fn reads_element<C: ?Sized, T: ?Sized>(container: *const C, element: *const T) {
    element_of(container, element, false);
}

/// As [`reads_element`], for an element that is written, or may be through a reference.
#[track_caller]
#[inline]
pub fn writes_element<C: ?Sized, T: ?Sized>(container: *const C, element: *const T) {
    element_of(container, element, true);
}

#[track_caller]
#[inline]
fn element_of<C: ?Sized, T: ?Sized>(container: *const C, element: *const T, writes: bool) {
    let access = if writes { Access::Write } else { Access::Read };
    if is_elsewhere(container, element) {
        tell(container, access);
    }
    tell(element, access);
}

/// Whether an element is not in its container itself.
#[inline]
fn is_elsewhere<C: ?Sized, T: ?Sized>(container: *const C, element: *const T) -> bool {
    !(container.addr()..container.addr() + length(container)).contains(&element.addr())
}

/// The program reads `length` values from here.
#[track_caller]
#[inline]
pub(crate) fn reads_all<T>(first: *const T, length: usize) {
    reads(std::ptr::slice_from_raw_parts(first, length));
}

/// The program makes a reference to `length` values from here.
#[track_caller]
#[inline]
pub(crate) fn borrows_all<T>(first: *const T, length: usize) {
    borrow(std::ptr::slice_from_raw_parts(first, length));
}

/// The program writes `length` values from here.
#[track_caller]
#[inline]
pub(crate) fn writes_all<T>(first: *const T, length: usize) {
    writes(std::ptr::slice_from_raw_parts(first, length));
}

/// A handle takes over, or gives up, all that is behind a pointer: nothing else may access that at the same time.
#[track_caller]
#[inline]
pub fn owns<T: ?Sized>(pointer: *mut T) -> *mut T {
    writes(pointer);
    pointer
}

/// As [`owns`], where the handle gives up a mutable reference.
#[track_caller]
#[inline]
pub fn gives<T: ?Sized>(place: &mut T) -> &mut T {
    writes(place);
    place
}

/// The lowest address at which a program can have memory.
const LOWEST: usize = 1 << 12;

#[track_caller]
#[inline]
fn tell<T: ?Sized>(place: *const T, access: Access) {
    if let Some(machine) = crate::scheduled::current()
        && crate::memory::arena::is_watched()
        // Nothing is at a pointer that is null, or stands for a member of what would be there.
        && place.addr() >= LOWEST
    {
        let site = std::panic::Location::caller();
        machine.note_access(place.addr(), length(place), access, site);
    }
}

/// The program makes a reference to a place. Where the place may have a cell in it, others may change it.
#[track_caller]
#[inline]
fn borrow<T: ?Sized>(place: *const T) {
    if crate::memory::arena::is_watched() {
        let access = if frozen::is_frozen::<T>() {
            Access::Borrow
        } else {
            Access::Use
        };
        tell(place, access);
    }
}

/// A place to which the program is about to make a reference.
///
/// What can be read through the reference is what can't change while it lives, all but what is in a cell. Types that are
/// [`RefUnwindSafe`] have no cell but those of std, to which all accesses are events, and which the judge knows; where the
/// compiler can't tell, as in generic code, the [names of types](frozen) do.
#[derive(Debug)]
#[repr(transparent)]
pub struct Place<T: ?Sized>(pub *const T);

/// A place of which the compiler can't tell whether there is a cell in it.
#[derive(Debug)]
#[repr(transparent)]
pub struct OpenPlace<T: ?Sized>(pub *const T);

impl<T: ?Sized + RefUnwindSafe> Place<T> {
    /// Tells of the reference.
    #[track_caller]
    #[inline]
    pub fn borrows(&self) {
        tell(self.0, Access::Borrow);
    }

    /// Tells of the reference to an element of this container.
    #[track_caller]
    #[inline]
    pub fn borrows_of<C: ?Sized>(&self, container: *const C) {
        if is_elsewhere(container, self.0) {
            borrow(container);
        }
        tell(self.0, Access::Borrow);
    }
}

impl<T: ?Sized> OpenPlace<T> {
    /// Tells of the reference.
    #[track_caller]
    #[inline]
    pub fn borrows(&self) {
        borrow(self.0);
    }

    /// Tells of the reference to an element of this container.
    #[track_caller]
    #[inline]
    pub fn borrows_of<C: ?Sized>(&self, container: *const C) {
        if is_elsewhere(container, self.0) {
            borrow(container);
        }
        borrow(self.0);
    }
}

impl<T: ?Sized> std::ops::Deref for Place<T> {
    type Target = OpenPlace<T>;

    fn deref(&self) -> &OpenPlace<T> {
        // SAFETY: `OpenPlace` is a transparent wrapper of what `Place` has in it, which is transparent, too.
        unsafe { &*std::ptr::from_ref(self).cast() }
    }
}

/// The length of a place in bytes.
fn length<T: ?Sized>(place: *const T) -> usize {
    // SAFETY: the reference is neither null nor misaligned, and only its metadata is looked at, which is valid as it is
    // that of a pointer which the program is about to use.
    size_of_val(unsafe { &*place.with_addr(1 << 16) })
}

/// What a method is called on: a pointer whose method accesses what is behind it, or something else.
///
/// The transformation knows no types. So the call is written down for what the method would do on a pointer, and
/// resolved by the compiler: for a pointer to the methods of this type, for all else to those of [`Other`].
#[derive(Debug)]
pub struct Receiver<'a, R: ?Sized>(pub &'a R);

/// What is no pointer: its methods make no access by themselves.
#[derive(Debug)]
pub struct Other;

impl<R: ?Sized> std::ops::Deref for Receiver<'_, R> {
    type Target = Other;

    fn deref(&self) -> &Other {
        &Other
    }
}

impl Other {
    /// The method reads nothing.
    #[inline]
    pub const fn reads(&self) {}

    /// The method writes nothing.
    #[inline]
    pub const fn writes(&self) {}

    /// The method gives no reference.
    #[inline]
    pub const fn borrows(&self) {}
}

macro_rules! pointers {
    ($($pointer:ty: $place:expr;)*) => {$(
        impl<T: ?Sized> Receiver<'_, $pointer> {
            /// The method reads what is behind the pointer.
            #[track_caller]
            #[inline]
            pub fn reads(&self) {
                let place: fn($pointer) -> *const T = $place;
                reads(place(*self.0));
            }

            /// The method gives a reference to what is behind the pointer.
            #[track_caller]
            #[inline]
            pub fn borrows(&self) {
                let place: fn($pointer) -> *const T = $place;
                borrow(place(*self.0));
            }

            /// The method writes what is behind the pointer.
            #[track_caller]
            #[inline]
            pub fn writes(&self) {
                let place: fn($pointer) -> *const T = $place;
                writes(place(*self.0));
            }
        }
    )*};
}

pointers! {
    *const T: |pointer| pointer;
    *mut T: |pointer| pointer;
    NonNull<T>: |pointer| pointer.as_ptr();
}
