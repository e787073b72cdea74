//! The functions of the C library by which a program [asks](crate::process::asked) something of the operating system.
//! Each notes what is asked, and calls the system's function.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::mem::transmute;

use super::program;
use crate::process::asked;
use crate::process::library::System;
use crate::vocabulary::Asked;

/// Each of them: what is noted of its arguments, then C's declaration.
///
/// The list is given to the macro that is named, which is to define the functions: here what they do, in a worker under C's
/// names.
#[doc(hidden)]
#[macro_export]
macro_rules! requests_to_the_system {
    ($($use:tt)+) => {
        $($use)+! {
            [opens(path, flags)] open(path: *const c_char, flags: c_int, mode: c_uint) -> c_int;
            [opens(path, flags)] open64(path: *const c_char, flags: c_int, mode: c_uint) -> c_int;
            [opens(path, flags)] openat(at: c_int, path: *const c_char, flags: c_int, mode: c_uint) -> c_int;
            [opens(path, flags)] openat64(at: c_int, path: *const c_char, flags: c_int, mode: c_uint) -> c_int;
            [looks(path)] stat(path: *const c_char, into: *mut c_void) -> c_int;
            [looks(path)] stat64(path: *const c_char, into: *mut c_void) -> c_int;
            [looks(path)] lstat(path: *const c_char, into: *mut c_void) -> c_int;
            [looks(path)] lstat64(path: *const c_char, into: *mut c_void) -> c_int;
            [looks(path)] statx(at: c_int, path: *const c_char, flags: c_int, mask: c_uint, into: *mut c_void) -> c_int;
            [looks(path)] access(path: *const c_char, mode: c_int) -> c_int;
            [looks(path)] opendir(path: *const c_char) -> *mut c_void;
            [looks(path)] readlink(path: *const c_char, into: *mut c_char, length: usize) -> isize;
            [looks(path)] realpath(path: *const c_char, into: *mut c_char) -> *mut c_char;
            [changes(path)] creat(path: *const c_char, mode: c_uint) -> c_int;
            [changes(path)] creat64(path: *const c_char, mode: c_uint) -> c_int;
            [changes(path)] mkdir(path: *const c_char, mode: c_uint) -> c_int;
            [changes(path)] mkdirat(at: c_int, path: *const c_char, mode: c_uint) -> c_int;
            [changes(path)] rmdir(path: *const c_char) -> c_int;
            [changes(path)] unlink(path: *const c_char) -> c_int;
            [changes(path)] unlinkat(at: c_int, path: *const c_char, flags: c_int) -> c_int;
            [changes(to)] rename(from: *const c_char, to: *const c_char) -> c_int;
            [changes(to)] renameat(at: c_int, from: *const c_char, to_at: c_int, to: *const c_char) -> c_int;
            [changes(path)] link(from: *const c_char, path: *const c_char) -> c_int;
            [changes(path)] linkat(at: c_int, from: *const c_char, to_at: c_int, path: *const c_char, flags: c_int) -> c_int;
            [changes(path)] symlink(target: *const c_char, path: *const c_char) -> c_int;
            [changes(path)] symlinkat(target: *const c_char, at: c_int, path: *const c_char) -> c_int;
            [changes(path)] chmod(path: *const c_char, mode: c_uint) -> c_int;
            [changes(path)] truncate(path: *const c_char, length: i64) -> c_int;
            [changes(path)] truncate64(path: *const c_char, length: i64) -> c_int;
            [changes(path)] mkfifo(path: *const c_char, mode: c_uint) -> c_int;
            [changes(path)] shm_open(path: *const c_char, flags: c_int, mode: c_uint) -> c_int;
            [changes(path)] memfd_create(path: *const c_char, flags: c_uint) -> c_int;
            [makes_socket()] socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int;
            [makes_socket()] socketpair(domain: c_int, kind: c_int, protocol: c_int, pair: *mut c_int) -> c_int;
            [makes_pipe()] pipe(pair: *mut c_int) -> c_int;
            [makes_pipe()] pipe2(pair: *mut c_int, flags: c_int) -> c_int;
            [makes_pipe()] eventfd(start: c_uint, flags: c_int) -> c_int;
            [starts_process()] fork() -> c_int;
            [starts_process()] posix_spawn(
                id: *mut c_int,
                path: *const c_char,
                actions: *const c_void,
                attributes: *const c_void,
                arguments: *const *mut c_char,
                variables: *const *mut c_char,
            ) -> c_int;
            [starts_process()] posix_spawnp(
                id: *mut c_int,
                path: *const c_char,
                actions: *const c_void,
                attributes: *const c_void,
                arguments: *const *mut c_char,
                variables: *const *mut c_char,
            ) -> c_int;
            [starts_process()] pidfd_spawnp(
                descriptor: *mut c_int,
                path: *const c_char,
                actions: *const c_void,
                attributes: *const c_void,
                arguments: *const *mut c_char,
                variables: *const *mut c_char,
            ) -> c_int;
            [starts_process()] execve(path: *const c_char, arguments: *const *const c_char, variables: *const *const c_char) -> c_int;
            [starts_process()] execvp(path: *const c_char, arguments: *const *const c_char) -> c_int;
            [starts_thread()] pthread_create(
                thread: *mut c_void,
                attributes: *const c_void,
                run: *mut c_void,
                argument: *mut c_void,
            ) -> c_int;
            [reads(from)] read(from: c_int, buffer: *mut c_void, length: usize) -> isize;
            [reads(from)] readv(from: c_int, buffers: *const c_void, count: c_int) -> isize;
        }
    };
}

/// The functions as [`requests_to_the_system`] lists them, each with the promises that C asks for.
macro_rules! define {
    ($([$note:ident($($about:ident),*)] $name:ident($($argument:ident: $type:ty),* $(,)?) -> $result:ty;)*) => {$(
        /// C's function of this name.
        ///
        /// # Safety
        /// As C's.
        pub unsafe fn $name($($argument: $type),*) -> $result {
            static SYSTEM: System = System::new(
                match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => unreachable!(),
                },
            );
            if program().is_some() {
                // SAFETY: the caller's promise.
                unsafe { $note($($about),*) };
            }
            type Function = unsafe extern "C" fn($($type),*) -> $result;
            // SAFETY: the system's function of this name has this type, or takes a last argument only where the others ask for
            // it; for its arguments see the caller's promise.
            unsafe { transmute::<*mut c_void, Function>(SYSTEM.get())($($argument),*) }
        }
    )*};
}

requests_to_the_system!(define);

/// A file is opened, perhaps to be changed.
unsafe fn opens(path: *const c_char, flags: c_int) {
    if asked::may_change(flags) {
        // SAFETY: the caller's promise.
        unsafe { changes(path) };
    } else {
        // SAFETY: the caller's promise.
        unsafe { looks(path) };
    }
}

/// A file is read, or looked for.
unsafe fn looks(path: *const c_char) {
    // SAFETY: the caller's promise.
    unsafe { asked::reads(path) };
}

/// A file is changed.
unsafe fn changes(path: *const c_char) {
    // SAFETY: the caller's promise.
    unsafe { asked::changes(path) };
}

/// What is open under this number is read.
unsafe fn reads(from: c_int) {
    const STANDARD_INPUT: c_int = 0;
    if from == STANDARD_INPUT {
        asked::note(Asked::Input);
    }
}

unsafe fn makes_socket() {
    asked::note(Asked::Socket);
}

unsafe fn makes_pipe() {
    asked::note(Asked::Pipe);
}

unsafe fn starts_process() {
    asked::note(Asked::Process);
}

unsafe fn starts_thread() {
    asked::note(Asked::Thread);
}
