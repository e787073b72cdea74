//! Programs in which the harness uses what is shared before the two threads start and after both have ended: by exclusive
//! access, by value, or as any thread would. It is no third thread beside them.
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;

static COUNT: AtomicU32 = AtomicU32::new(0);
static mut PLAIN: u32 = 0;
static LIMIT: u32 = 2;

fn add(n: &AtomicU32) {
    let seen = n.load(SeqCst);
    n.store(seen + 1, SeqCst);
}

fn add_locked(n: &Mutex<u32>) {
    let seen = *n.lock().unwrap();
    *n.lock().unwrap() = seen + 1;
}

/// Runs this in two threads.
fn twice(run: impl Fn() + Sync) {
    thread::scope(|s| {
        s.spawn(&run);
        s.spawn(&run);
    });
}

#[test]
fn fails_by_exclusive_access() {
    let mut n = AtomicU32::new(0);
    *n.get_mut() = 3;
    twice(|| add(&n));
    assert_eq!(*n.get_mut(), 5);
}

#[test]
fn fails_by_swaps() {
    let n = AtomicU32::new(0);
    n.swap(1, SeqCst);
    twice(|| add(&n));
    assert_eq!(n.swap(0, SeqCst), 3);
}

#[test]
fn fails_by_value() {
    let n = Mutex::new(0);
    twice(|| add_locked(&n));
    assert_eq!(n.into_inner().unwrap(), 2);
}

#[test]
fn fails_by_statics() {
    // SAFETY: no other thread runs.
    unsafe { PLAIN = 1 };
    COUNT.store(5, SeqCst);
    twice(|| add(&COUNT));
    // SAFETY: no other thread runs.
    assert_eq!(COUNT.load(SeqCst), 5 + LIMIT * unsafe { PLAIN });
}

#[test]
fn fails_after_exclusive_access_to_locks() {
    let n = AtomicU32::new(0);
    let (mut log, mut last) = (Mutex::new(Vec::new()), RwLock::new(0));
    log.get_mut().unwrap().push(0);
    *last.get_mut().unwrap() = 1;
    twice(|| {
        add(&n);
        log.lock().unwrap().push(1);
        *last.write().unwrap() += 1;
    });
    log.get_mut().unwrap().sort();
    *last.get_mut().unwrap() += 1;
    assert_eq!(log.into_inner().unwrap(), [0, 1, 1], "never");
    assert_eq!(last.into_inner().unwrap(), 4, "never");
    assert_eq!(n.into_inner(), 2);
}

#[test]
fn fails_by_the_only_handle() {
    let mut n = Arc::new(AtomicU32::new(0));
    *Arc::get_mut(&mut n).unwrap().get_mut() = 1;
    assert_eq!(Arc::strong_count(&n), 1, "never");
    let threads = [n.clone(), n.clone()].map(|n| thread::spawn(move || add(&n)));
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(*Arc::get_mut(&mut n).unwrap().get_mut(), 3);
}

#[test]
fn fails_by_a_handle_that_is_unwrapped() {
    let n = Arc::new(Mutex::new(0));
    let n = Arc::new(Arc::try_unwrap(n).unwrap());
    let threads = [n.clone(), n.clone()].map(|n| thread::spawn(move || add_locked(&n)));
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(Arc::try_unwrap(n).unwrap().into_inner().unwrap(), 2);
}

#[test]
fn passes_where_nothing_is_lost() {
    let mut n = AtomicU32::new(0);
    twice(|| {
        n.fetch_add(1, SeqCst);
    });
    *n.get_mut() += 1;
    assert_eq!(n.into_inner(), 3, "never");
}
