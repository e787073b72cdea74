//! What a program asks of the operating system while it runs: files that it changes, sockets, pipes, processes, threads, standard
//! input. Two threads, or two executions, can learn from each other there without an event.
//!
//! The source shows much of it, and [`system`](crate::system) sees the rest: what a dependency does, or what is reached
//! through a trait. Each kind is told once for a request, by the first thing of it that was asked for.

use std::ffi::{CStr, c_char, c_int};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::memory::outside;
use crate::vocabulary::Asked;

/// What was asked for, and how many of these have been told.
static ASKED: Mutex<(Vec<Asked>, usize)> = Mutex::new((Vec::new(), 0));

/// Whether some of these have not been told.
static HAS_NEWS: AtomicBool = AtomicBool::new(false);

/// Whether the program has changed files.
static CHANGES_FILES: AtomicBool = AtomicBool::new(false);

/// Files from which no thread and no execution learns anything.
const SINKS: [&str; 3] = ["/dev/null", "/dev/tty", "/dev/full"];

/// The flags of C's `open` by which a file may be changed: to write, to write and read, to create it, to empty it.
const CHANGES: c_int = 0o1 | 0o2 | 0o100 | 0o1000;

/// Notes what the program asks for. The note outlives the execution.
#[cold]
pub(crate) fn note(asked: Asked) {
    outside(|| {
        let mut all = ASKED.lock().unwrap_or_else(PoisonError::into_inner);
        if all.0.iter().any(|known| known.kind() == asked.kind()) {
            return;
        }
        if matches!(asked, Asked::File(_)) {
            CHANGES_FILES.store(true, Ordering::Relaxed);
        }
        all.0.push(asked);
        HAS_NEWS.store(true, Ordering::Relaxed);
    });
}

/// Notes that the file of this name is changed.
///
/// # Safety
/// `path` is a text that ends as C's do, or null.
pub(crate) unsafe fn changes(path: *const c_char) {
    // SAFETY: the caller's promise.
    unsafe { of_file(path, Asked::File) };
}

/// Notes that the file of this name is read, or looked for.
///
/// # Safety
/// As for [`changes`].
pub(crate) unsafe fn reads(path: *const c_char) {
    // SAFETY: the caller's promise.
    unsafe { of_file(path, Asked::Read) };
}

/// Notes what is asked of the file of this name.
///
/// # Safety
/// As for [`changes`].
#[cold]
unsafe fn of_file(path: *const c_char, asked: fn(String) -> Asked) {
    outside(|| {
        let path = if path.is_null() {
            String::new()
        } else {
            // SAFETY: the caller's promise.
            unsafe { CStr::from_ptr(path) }
                .to_string_lossy()
                .into_owned()
        };
        if !SINKS.contains(&path.as_str()) {
            note(asked(path));
        }
    });
}

/// Whether a file that is opened with these flags may be changed.
pub(crate) const fn may_change(flags: c_int) -> bool {
    flags & CHANGES != 0
}

/// Whether the program has changed a file, in this or in an earlier execution.
#[inline]
pub(super) fn changes_files() -> bool {
    CHANGES_FILES.load(Ordering::Relaxed)
}

/// Whether the program, in this or in an earlier execution, has asked for anything by which threads may order what they do.
pub(crate) fn may_order() -> bool {
    let all = ASKED.lock().unwrap_or_else(PoisonError::into_inner);
    all.0.iter().any(|asked| match asked {
        Asked::File(_)
        | Asked::Socket
        | Asked::Pipe
        | Asked::Process
        | Asked::Thread
        | Asked::Input => true,
        // Nobody waits for another thread by these.
        Asked::Read(_) | Asked::Turns | Asked::Random | Asked::Ids => false,
    })
}

/// What was asked for and has not been told.
pub(crate) fn take() -> Vec<Asked> {
    if !HAS_NEWS.load(Ordering::Relaxed) {
        return Vec::new();
    }
    let mut asked = ASKED.lock().unwrap_or_else(PoisonError::into_inner);
    HAS_NEWS.store(false, Ordering::Relaxed);
    let (all, told) = &mut *asked;
    let news = all[*told..].to_vec();
    *told = all.len();
    news
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_only_read_are_not_changed() {
        // O_RDONLY | O_CLOEXEC, and O_WRONLY | O_CREAT | O_TRUNC.
        assert!(!may_change(0o2_000_000));
        assert!(may_change(0o1 | 0o100 | 0o1000));
    }
}
