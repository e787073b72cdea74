//! Address space from the system, and stacks with a guard page in it.

use std::io;
use std::num::NonZeroUsize;

use corosensei::stack::{MIN_STACK_SIZE, Stack, StackPointer};

/// Memory for a stack, whose lowest page can't be touched.
#[derive(Debug)]
pub(crate) struct GuardedStack {
    base: usize,
    length: usize,
}

// The system's calls for mapping memory, which std links to but does not offer.
const NONE: i32 = 0;
const READ_WRITE: i32 = 1 | 2;
#[cfg(target_os = "linux")]
const PRIVATE_ANONYMOUS: i32 = 0x02 | 0x20;
#[cfg(not(target_os = "linux"))]
const PRIVATE_ANONYMOUS: i32 = 0x02 | 0x1000;

/// The guard's size in bytes: no page is larger on the systems that seqz runs on.
pub(super) const GUARD: usize = 64 * 1024;

unsafe extern "C" {
    fn mmap(
        address: *mut u8,
        length: usize,
        protection: i32,
        flags: i32,
        file: i32,
        offset: i64,
    ) -> *mut u8;
    fn mprotect(address: *mut u8, length: usize, protection: i32) -> i32;
    fn munmap(address: *mut u8, length: usize) -> i32;
}

/// Reserves address space, which can't be used before parts of it are opened. Returns its address.
pub(super) fn reserve(length: usize) -> io::Result<usize> {
    // SAFETY: a new private mapping, at an address of the system's choice, touches nothing that exists.
    let start = unsafe { mmap(std::ptr::null_mut(), length, NONE, PRIVATE_ANONYMOUS, -1, 0) };
    if start.addr() == usize::MAX {
        return Err(io::Error::last_os_error());
    }
    Ok(start.expose_provenance())
}

/// Lets a part of reserved address space be read and written.
pub(super) fn open(start: usize, length: usize) -> io::Result<()> {
    let start = std::ptr::with_exposed_provenance_mut(start);
    // SAFETY: the callers pass only what they have reserved, and nothing is there yet.
    if unsafe { mprotect(start, length, READ_WRITE) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Maps memory that can be read and written, with [`GUARD`] bytes before it that can't. Returns the address and the
/// length, in bytes, of the whole mapping.
fn map_guarded(size: usize) -> io::Result<(usize, usize)> {
    let size = size.max(MIN_STACK_SIZE).next_multiple_of(GUARD);
    let length = size + GUARD;
    let start = reserve(length)?;
    if let Err(error) = open(start + GUARD, size) {
        let start = std::ptr::with_exposed_provenance_mut(start);
        // SAFETY: the mapping was just made, and has no other user.
        unsafe { munmap(start, length) };
        return Err(error);
    }
    Ok((start, length))
}

impl GuardedStack {
    pub(crate) fn new(size: usize) -> io::Result<Self> {
        let (start, length) = map_guarded(size)?;
        Ok(Self {
            base: start + length,
            length,
        })
    }

    /// The lowest and the highest address.
    pub(crate) const fn range(&self) -> (usize, usize) {
        (self.base - self.length, self.base)
    }
}

impl Drop for GuardedStack {
    fn drop(&mut self) {
        let start = std::ptr::with_exposed_provenance_mut(self.base - self.length);
        // SAFETY: this is the mapping made in `new`, and no coroutine is on it any more.
        unsafe { munmap(start, self.length) };
    }
}

// SAFETY: the mapping has a guard page below at least `MIN_STACK_SIZE` bytes, and both ends are page-aligned.
unsafe impl Stack for GuardedStack {
    fn base(&self) -> StackPointer {
        NonZeroUsize::new(self.base).unwrap_or(NonZeroUsize::MIN)
    }

    fn limit(&self) -> StackPointer {
        NonZeroUsize::new(self.base - self.length).unwrap_or(NonZeroUsize::MIN)
    }
}
