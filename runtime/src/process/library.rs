//! Functions of the C library, and of others that the executable is linked with, by their names.

use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

unsafe extern "C" {
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// The handle that has `dlsym` look in the libraries after this one.
const NEXT: *mut c_void = usize::MAX as *mut c_void;

/// A function of the system's, looked up once.
pub(crate) struct System {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
}

impl System {
    pub(crate) const fn new(name: &'static CStr) -> Self {
        Self {
            name,
            found: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    pub(crate) fn get(&self) -> *mut c_void {
        let found = self.found.load(Ordering::Relaxed);
        if !found.is_null() {
            return found;
        }
        // SAFETY: a name that ends as C's do.
        let found = unsafe { dlsym(NEXT, self.name.as_ptr()) };
        if found.is_null() {
            std::process::abort();
        }
        self.found.store(found, Ordering::Relaxed);
        found
    }
}

/// The function of this name in the first library that has it, or null.
pub(crate) fn function(name: &CStr) -> *mut c_void {
    // SAFETY: a name that ends as C's do.
    unsafe { dlsym(std::ptr::null_mut(), name.as_ptr()) }
}
