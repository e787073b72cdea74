//! Where the executable and its libraries have been loaded to.

use std::ffi::{CStr, c_char, c_int, c_void};

use crate::memory::outside;

unsafe extern "C" {
    fn dl_iterate_phdr(
        callback: unsafe extern "C" fn(*const Info, usize, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
}

/// A segment's header in memory.
#[repr(C)]
struct Segment {
    kind: u32,
    flags: u32,
    offset: u64,
    address: usize,
    physical: u64,
    in_file: usize,
    size: usize,
    align: usize,
}

/// C's `struct dl_phdr_info`.
#[repr(C)]
struct Info {
    base: usize,
    name: *const c_char,
    segments: *const Segment,
    count: u16,
    added: u64,
    removed: u64,
    local_module: usize,
    local_block: *mut u8,
}

/// A loaded file: the executable is the first.
pub(crate) struct Loaded {
    pub(crate) name: String,
    pub(crate) base: usize,
    /// The parts that can be written: address and size, in bytes.
    pub(crate) writable: Vec<(usize, usize)>,
    /// This OS thread's block of the file's thread-locals.
    locals: *mut u8,
}

/// All loaded files.
pub(crate) fn loaded() -> Vec<Loaded> {
    const LOADED: u32 = 1;
    const READ_ONLY: u32 = 0x6474_e552;
    const WRITABLE: u32 = 2;
    unsafe extern "C" fn note(info: *const Info, _size: usize, all: *mut c_void) -> c_int {
        // SAFETY: the system gives valid pointers for the time of the call, and `all` is what `loaded` has given it.
        let (info, all) = unsafe { (&*info, &mut *all.cast::<Vec<Loaded>>()) };
        let (name, segments) = if info.name.is_null() || info.segments.is_null() {
            (String::new(), &[] as &[Segment])
        } else {
            // SAFETY: the system gives valid pointers for the time of the call.
            unsafe {
                let name = CStr::from_ptr(info.name).to_string_lossy().into_owned();
                let count = usize::from(info.count);
                (name, std::slice::from_raw_parts(info.segments, count))
            }
        };
        let mut read_only = segments.iter().filter(|it| it.kind == READ_ONLY);
        // What is read-only after loading comes first in its segment.
        let until = read_only.next().map_or(0, |it| it.address + it.size);
        let writable = segments
            .iter()
            .filter(|it| it.kind == LOADED && it.flags & WRITABLE != 0)
            .map(|it| {
                let start = it.address.max(until).min(it.address + it.size);
                (info.base + start, it.address + it.size - start)
            })
            .collect();
        all.push(Loaded {
            name,
            base: info.base,
            writable,
            locals: info.local_block,
        });
        0
    }
    let mut all: Vec<Loaded> = Vec::new();
    // SAFETY: the callback takes the pointer for what it is, and is not called after this.
    unsafe { dl_iterate_phdr(note, (&raw mut all).cast()) };
    all
}

/// This OS thread's block of the executable's thread-locals.
pub(crate) fn own_locals() -> Option<*mut u8> {
    thread_local! {
        static BLOCK: std::cell::Cell<*mut u8> = const { std::cell::Cell::new(std::ptr::null_mut()) };
    }
    let mut block = BLOCK.get();
    if block.is_null() {
        block = outside(loaded).first()?.locals;
        BLOCK.set(block);
    }
    (!block.is_null()).then_some(block)
}
