//! A counter of page hits in a `static mut`: `../static_mut.rs` with the bug taken out.
//!
//! Whoever accesses `HITS` holds `LOCK`.

use std::sync::Mutex;
use std::thread;

static LOCK: Mutex<()> = Mutex::new(());

/// Guarded by [`LOCK`].
static mut HITS: u32 = 0;

fn serve(pages: u32) {
    let _locked = LOCK.lock().unwrap();
    // SAFETY: the lock is held.
    unsafe { HITS += pages };
}

#[test]
fn two_servers() {
    let first = thread::spawn(|| serve(3));
    let second = thread::spawn(|| serve(4));
    first.join().unwrap();
    second.join().unwrap();
    // SAFETY: the other threads are gone.
    let hits = unsafe { HITS };
    assert_eq!(hits, 7, "hits are lost");
}
