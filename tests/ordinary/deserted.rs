//! Threads that wait for what nobody will do any more, in some of the orders only: the other thread is over, has a lock, or has
//! decided otherwise.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::{hint, mem, thread};

/// A number, a flag, and a number under a lock.
type Shared = Arc<(AtomicUsize, AtomicBool, Mutex<u32>)>;

fn two() -> (Shared, Shared) {
    let one = Shared::default();
    (one.clone(), one)
}

#[test]
fn livelocks_where_a_thread_saw_what_was_taken_back() {
    let ready = Arc::new(AtomicBool::new(false));
    let users = Arc::new(AtomicI32::new(0));
    let (r, u) = (ready.clone(), users.clone());
    let t = thread::spawn(move || {
        if u.load(SeqCst) == 0 {
            r.store(true, SeqCst);
        }
    });
    users.fetch_sub(1, SeqCst);
    users.fetch_add(1, SeqCst);
    while !ready.load(SeqCst) {
        thread::yield_now();
    }
    t.join().unwrap();
}

#[test]
fn livelocks_where_a_thread_saw_it_behind_a_lock() {
    let m = Arc::new((Mutex::new(false), Mutex::new(0)));
    let n = m.clone();
    let t = thread::spawn(move || {
        if *n.1.lock().unwrap() == 0 {
            *n.0.lock().unwrap() = true;
        }
    });
    *m.1.lock().unwrap() = 1;
    *m.1.lock().unwrap() = 0;
    while !*m.0.lock().unwrap() {
        thread::yield_now();
    }
    t.join().unwrap();
}

#[test]
fn livelocks_where_the_thread_gives_up() {
    let (s, r) = two();
    let t = thread::spawn(move || {
        if r.0.load(SeqCst) == 0 {
            r.1.store(true, SeqCst);
        }
    });
    s.0.store(1, SeqCst);
    while !s.1.load(SeqCst) {
        hint::spin_loop();
    }
    t.join().unwrap();
}

#[test]
fn livelocks_where_the_harness_gives_up() {
    let (s, r) = two();
    let t = thread::spawn(move || {
        r.0.store(1, SeqCst);
        while !r.1.load(SeqCst) {
            thread::yield_now();
        }
    });
    if s.0.load(SeqCst) == 0 {
        s.1.store(true, SeqCst);
    }
    t.join().unwrap();
}

#[test]
fn livelocks_where_the_thread_leaves() {
    let (s, r) = two();
    thread::spawn(move || {
        let seen = r.0.load(SeqCst);
        if seen == 1 {
            return;
        }
        r.1.store(true, SeqCst);
    });
    s.0.store(1, SeqCst);
    s.0.store(2, SeqCst);
    while !s.1.load(SeqCst) {}
}

#[test]
fn livelocks_where_both_wait() {
    let (s, r) = two();
    let t = thread::spawn(move || {
        if r.0.load(SeqCst) == 1 {
            while r.0.load(SeqCst) < 3 {}
        }
        r.1.store(true, SeqCst);
    });
    s.0.store(1, SeqCst);
    s.0.store(2, SeqCst);
    while !s.1.load(SeqCst) {}
    s.0.store(3, SeqCst);
    t.join().unwrap();
}

#[test]
fn livelocks_after_a_flag_that_was_up_for_a_moment() {
    let (s, r) = two();
    let t = thread::spawn(move || while r.0.load(SeqCst) != 1 {});
    s.0.store(1, SeqCst);
    s.0.store(2, SeqCst);
    t.join().unwrap();
}

#[test]
fn livelocks_under_the_lock_that_the_other_needs() {
    let (s, r) = two();
    let t = thread::spawn(move || {
        let _guard = r.2.lock().unwrap();
        while r.0.load(SeqCst) == 0 {
            hint::spin_loop();
        }
    });
    {
        let mut guard = s.2.lock().unwrap();
        *guard += 1;
        s.0.store(1, SeqCst);
    }
    t.join().unwrap();
}

#[test]
fn passes_under_a_lock_that_the_other_needs_later() {
    let (s, r) = two();
    let t = thread::spawn(move || {
        let _guard = r.2.lock().unwrap();
        while r.0.load(SeqCst) == 0 {
            hint::spin_loop();
        }
    });
    s.0.store(1, SeqCst);
    *s.2.lock().unwrap() += 1;
    t.join().unwrap();
}

#[test]
fn passes_beside_a_lock() {
    let (s, r) = two();
    let t = thread::spawn(move || {
        while r.0.load(SeqCst) == 0 {
            hint::spin_loop();
        }
        *r.2.lock().unwrap()
    });
    {
        let mut guard = s.2.lock().unwrap();
        s.0.store(1, SeqCst);
        *guard += 1;
    }
    assert_eq!(t.join().unwrap(), 1, "never");
}

/// Keeps the lock for good where it sees what the harness is about to take back.
fn forgets(r: &Shared) {
    let guard = r.2.lock().unwrap();
    if r.0.load(SeqCst) == 1 {
        mem::forget(guard);
    }
}

#[test]
fn deadlocks_on_a_forgotten_guard() {
    let (s, r) = two();
    let t = thread::spawn(move || forgets(&r));
    s.0.store(1, SeqCst);
    s.0.store(2, SeqCst);
    t.join().unwrap();
    *s.2.lock().unwrap() += 1;
}

#[test]
fn deadlocks_on_a_forgotten_guard_without_a_join() {
    let (s, r) = two();
    let _t = thread::spawn(move || forgets(&r));
    s.0.store(1, SeqCst);
    s.0.store(2, SeqCst);
    *s.2.lock().unwrap() += 1;
}

#[test]
fn passes_where_nobody_needs_the_forgotten_guard() {
    let (s, r) = two();
    let _t = thread::spawn(move || forgets(&r));
    s.0.store(1, SeqCst);
    s.0.store(2, SeqCst);
    if let Ok(mut guard) = s.2.try_lock() {
        *guard += 1;
    }
}
