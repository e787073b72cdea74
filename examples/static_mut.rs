//! A counter of page hits in a `static mut`, because it is "only for statistics".
//!
//! Source: folklore.
//!
//! The bug: a data race on `HITS`. Two threads access it at once, one of them to write, and nothing orders them: that is
//! undefined behaviour whatever the values come to.
//!
//! Threads: the two that serve pages. No read has to see the other thread's write.

use std::thread;

static mut HITS: u32 = 0;

fn serve(pages: u32) {
    // SAFETY: none. Another thread may be here too.
    unsafe { HITS += pages };
}

#[test]
fn two_servers() {
    let first = thread::spawn(|| serve(3));
    let second = thread::spawn(|| serve(4));
    first.join().unwrap();
    second.join().unwrap();
}
