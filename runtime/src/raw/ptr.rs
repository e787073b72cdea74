//! The functions of `std::ptr` and `std::slice` that access what is behind their arguments.

// The functions have std's contracts.
#![allow(clippy::missing_safety_doc)]

use std::ptr;

use super::{borrows_all, reads, reads_all, writes, writes_all};

/// See `std::ptr::read`.
#[track_caller]
#[inline]
pub unsafe fn read<T>(src: *const T) -> T {
    reads(src);
    // SAFETY: the caller's promise.
    unsafe { ptr::read(src) }
}

/// See `std::ptr::read_unaligned`.
#[track_caller]
#[inline]
pub unsafe fn read_unaligned<T>(src: *const T) -> T {
    reads(src);
    // SAFETY: the caller's promise.
    unsafe { ptr::read_unaligned(src) }
}

/// See `std::ptr::read_volatile`.
#[track_caller]
#[inline]
pub unsafe fn read_volatile<T>(src: *const T) -> T {
    reads(src);
    // SAFETY: the caller's promise.
    unsafe { ptr::read_volatile(src) }
}

/// See `std::ptr::write`.
#[track_caller]
#[inline]
pub unsafe fn write<T>(dst: *mut T, src: T) {
    writes(dst);
    // SAFETY: the caller's promise.
    unsafe { ptr::write(dst, src) }
}

/// See `std::ptr::write_unaligned`.
#[track_caller]
#[inline]
pub unsafe fn write_unaligned<T>(dst: *mut T, src: T) {
    writes(dst);
    // SAFETY: the caller's promise.
    unsafe { ptr::write_unaligned(dst, src) }
}

/// See `std::ptr::write_volatile`.
#[track_caller]
#[inline]
pub unsafe fn write_volatile<T>(dst: *mut T, src: T) {
    writes(dst);
    // SAFETY: the caller's promise.
    unsafe { ptr::write_volatile(dst, src) }
}

/// See `std::ptr::write_bytes`.
#[track_caller]
#[inline]
pub unsafe fn write_bytes<T>(dst: *mut T, val: u8, count: usize) {
    writes_all(dst, count);
    // SAFETY: the caller's promise.
    unsafe { ptr::write_bytes(dst, val, count) }
}

/// See `std::ptr::replace`.
#[track_caller]
#[inline]
pub unsafe fn replace<T>(dst: *mut T, src: T) -> T {
    writes(dst);
    // SAFETY: the caller's promise.
    unsafe { ptr::replace(dst, src) }
}

/// See `std::ptr::swap`.
#[track_caller]
#[inline]
pub unsafe fn swap<T>(a: *mut T, b: *mut T) {
    writes(a);
    writes(b);
    // SAFETY: the caller's promise.
    unsafe { ptr::swap(a, b) }
}

/// See `std::ptr::swap_nonoverlapping`.
#[track_caller]
#[inline]
pub unsafe fn swap_nonoverlapping<T>(x: *mut T, y: *mut T, count: usize) {
    writes_all(x, count);
    writes_all(y, count);
    // SAFETY: the caller's promise.
    unsafe { ptr::swap_nonoverlapping(x, y, count) }
}

/// See `std::ptr::copy`.
#[track_caller]
#[inline]
pub unsafe fn copy<T>(src: *const T, dst: *mut T, count: usize) {
    reads_all(src, count);
    writes_all(dst, count);
    // SAFETY: the caller's promise.
    unsafe { ptr::copy(src, dst, count) }
}

/// See `std::ptr::copy_nonoverlapping`.
#[track_caller]
#[inline]
pub unsafe fn copy_nonoverlapping<T>(src: *const T, dst: *mut T, count: usize) {
    reads_all(src, count);
    writes_all(dst, count);
    // SAFETY: the caller's promise.
    unsafe { ptr::copy_nonoverlapping(src, dst, count) }
}

/// See `std::ptr::drop_in_place`.
#[track_caller]
#[inline]
pub unsafe fn drop_in_place<T: ?Sized>(to_drop: *mut T) {
    writes(to_drop);
    // SAFETY: the caller's promise.
    unsafe { ptr::drop_in_place(to_drop) }
}

/// See `std::slice::from_raw_parts`.
#[track_caller]
#[inline]
#[must_use]
pub unsafe fn from_raw_parts<'a, T>(data: *const T, len: usize) -> &'a [T] {
    borrows_all(data, len);
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(data, len) }
}

/// See `std::slice::from_raw_parts_mut`.
#[track_caller]
#[inline]
#[must_use]
pub unsafe fn from_raw_parts_mut<'a, T>(data: *mut T, len: usize) -> &'a mut [T] {
    writes_all(data, len);
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts_mut(data, len) }
}
