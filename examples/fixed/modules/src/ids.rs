//! Numbers, each of which is handed out once.

use std::sync::atomic::{AtomicU32, Ordering};

static NEXT: AtomicU32 = AtomicU32::new(1);

/// A number that nobody has yet.
pub fn next_id() -> u32 {
    NEXT.fetch_add(1, Ordering::SeqCst)
}
