//! Programs in which a thread's result has a destructor that others see, and nobody joins the thread: the thread drops the
//! result at its end, or the one that drops the handle after that.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

/// Counts its end.
struct Closed(Arc<AtomicU32>);

impl Drop for Closed {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

fn counter() -> (Arc<AtomicU32>, Arc<AtomicU32>) {
    let one = Arc::new(AtomicU32::new(0));
    (one.clone(), one)
}

// doubtful for `check`: the end of a `Closed`
#[test]
fn fails_where_the_thread_drops_it_between_two_looks() {
    let (n, m) = counter();
    let _ = thread::spawn(move || Closed(m));
    let a = n.load(SeqCst);
    let b = n.load(SeqCst);
    assert_eq!(a, b, "closed in between");
}

// doubtful for `check`: the end of a `Vec
#[test]
fn fails_where_it_is_in_a_list() {
    let (n, m) = counter();
    drop(thread::spawn(move || vec![Closed(m)]));
    let a = n.load(SeqCst);
    let b = n.load(SeqCst);
    assert_eq!(a, b, "closed in between");
}

// doubtful for `check`: the end of a `Closed`
#[test]
fn passes_where_it_is_dropped_once() {
    let (n, m) = counter();
    let _ = thread::spawn(move || Closed(m));
    assert!(n.load(SeqCst) < 2, "never");
}

#[test]
fn passes_where_it_is_joined() {
    let (n, m) = counter();
    let t = thread::spawn(move || Closed(m));
    assert_eq!(n.load(SeqCst), 0, "never");
    drop(t.join().unwrap());
    assert_eq!(n.load(SeqCst), 1, "never");
}

#[test]
fn passes_where_nobody_sees_the_end() {
    let (n, m) = counter();
    let _ = thread::spawn(move || {
        m.fetch_add(1, SeqCst);
        vec![1, 2]
    });
    assert!(n.load(SeqCst) < 2, "never");
}
