//! Notes whether a program can learn anything from the numbers of threads.
//!
//! std numbers threads in the order in which they are started. Here a thread's number tells its creator and how many
//! threads that had created before: it is the same whatever the schedule is. Where one thread starts all others, both
//! numbers are the same. Where more than one does, and the program looks at numbers, what it sees is one of several
//! orders: that is [told](Asked::Ids).

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::asked;
use crate::vocabulary::Asked;

/// Stands for no thread in [`FIRST`].
const NONE: u32 = u32::MAX;

/// The thread that was the first to start another one, in this process.
static FIRST: AtomicU32 = AtomicU32::new(NONE);

/// Whether another thread than [`FIRST`] has started threads, too.
static SEVERAL: AtomicBool = AtomicBool::new(false);

/// Whether the program has looked at a thread's number.
static TOLD: AtomicBool = AtomicBool::new(false);

/// This thread starts another one.
#[inline]
pub(crate) fn started_by(thread: u32) {
    let first = FIRST.load(Ordering::Relaxed);
    if first == NONE {
        FIRST.store(thread, Ordering::Relaxed);
    } else if first != thread && !SEVERAL.swap(true, Ordering::Relaxed) {
        note();
    }
}

/// The program looks at a number, and not only whether it is the same as another one.
pub(crate) fn told() {
    if !TOLD.swap(true, Ordering::Relaxed) {
        note();
    }
}

fn note() {
    if SEVERAL.load(Ordering::Relaxed) && TOLD.load(Ordering::Relaxed) {
        asked::note(Asked::Ids);
    }
}
