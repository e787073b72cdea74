//! The report of where a worker is stuck: the driver asks for it by a signal, when it has heard nothing for long.

use std::backtrace::Backtrace;

/// `SIGUSR2`, the same on all systems with Linux on them that seqz runs on.
pub const SIGNAL: i32 = 12;

/// The exit code of a worker that has said where it was.
pub const CODE: i32 = 86;

/// What stands before each function's name, the innermost first.
pub const FRAME: &str = "seqz: stuck in ";

unsafe extern "C" {
    fn signal(number: i32, handler: extern "C" fn(i32)) -> usize;
    fn _exit(code: i32) -> !;
}

/// Has the worker say where it is, and end, when it is asked to.
pub(super) fn listen() {
    // SAFETY: the handler has the signature that the system calls.
    unsafe {
        signal(SIGNAL, tell);
    }
}

/// Nothing here is safe in a handler in general. The thread waits in a system call then, not inside of an allocator, and should it
/// be stuck once more the driver ends the process.
extern "C" fn tell(_: i32) {
    let trace = Backtrace::force_capture().to_string();
    for line in trace.lines().map(str::trim_start) {
        if let Some((number, name)) = line.split_once(": ")
            && number.bytes().all(|byte| byte.is_ascii_digit())
        {
            eprintln!("{FRAME}{name}");
        }
    }
    // SAFETY: it ends the process.
    unsafe { _exit(CODE) }
}
