//! Sleeps and time limits in loops, and times that come while others could run. What is right of each harness is in
//! `tests/polling.rs`.

use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_millis(100);
const SOON: Duration = Duration::from_millis(1);

/// How many rounds it takes to wait until the limit has passed, on a thread of its own.
fn rounds(wait: impl Fn(Duration) + Send + 'static) -> u32 {
    let t = thread::spawn(move || {
        let start = Instant::now();
        let mut n = 0;
        loop {
            let left = match LIMIT.checked_sub(start.elapsed()) {
                Some(left) => left,
                None => break,
            };
            wait(left);
            n += 1;
        }
        n
    });
    t.join().unwrap()
}

// These fail each time.

#[test]
fn one_round_by_sleeping() {
    let n = rounds(thread::sleep);
    assert!(n > 1, "one round");
}

#[test]
fn one_round_by_a_condition_variable() {
    let shared = (Mutex::new(()), Condvar::new());
    let n = rounds(move |left| {
        let guard = shared.0.lock().unwrap();
        drop(shared.1.wait_timeout(guard, left).unwrap());
    });
    assert!(n > 1, "one round");
}

#[test]
fn one_round_by_receiving() {
    let n = rounds(|left| {
        let (_sender, receiver) = channel::<()>();
        assert!(receiver.recv_timeout(left).is_err());
    });
    assert!(n > 1, "one round");
}

#[test]
fn one_round_by_sleeping_in_parts() {
    let n = rounds(|left| {
        thread::sleep(left / 2);
        thread::sleep(left - left / 2);
    });
    assert!(n > 1, "one round");
}

#[test]
fn sleeps_take_their_time() {
    let t = thread::spawn(|| {
        let start = Instant::now();
        let mut n = 0;
        while start.elapsed() < 20 * LIMIT {
            thread::sleep(SOON);
            n += 1;
        }
        n
    });
    let n = t.join().unwrap();
    assert!(n < 1_500, "it slept too short");
}

#[test]
fn nobody_else_ends_it() {
    let flag = Arc::new(AtomicBool::new(false));
    let other = flag.clone();
    thread::spawn(move || other.load(SeqCst)).join().unwrap();
    let start = Instant::now();
    while !flag.load(SeqCst) {
        assert!(start.elapsed() < LIMIT, "timed out");
        thread::sleep(SOON);
    }
}

// These never fail.

#[test]
fn fine_with_two_rounds() {
    let n = rounds(thread::sleep);
    assert!(n == 1 || n == 2);
}

#[test]
fn fine_to_do_nothing_for_a_while() {
    let n = Arc::new(AtomicU32::new(0));
    let m = n.clone();
    let t = thread::spawn(move || m.fetch_add(1, SeqCst));
    let start = Instant::now();
    while start.elapsed() < LIMIT {}
    assert!(start.elapsed() < 2 * LIMIT);
    while start.elapsed() < 2 * LIMIT {
        thread::sleep(SOON);
    }
    n.fetch_add(1, SeqCst);
    t.join().unwrap();
}

#[test]
fn fine_once_the_other_one_has_had_its_turn() {
    let shared = Arc::new((Mutex::new(false), Condvar::new()));
    let other = shared.clone();
    let t = thread::spawn(move || {
        *other.0.lock().unwrap() = true;
        other.1.notify_one();
    });
    let end = Instant::now() + LIMIT;
    let mut guard = shared.0.lock().unwrap();
    while !*guard {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        guard = shared.1.wait_timeout(guard, left).unwrap().0;
    }
    drop(guard);
    t.join().unwrap();
    assert!(*shared.0.lock().unwrap());
}

// These fail where the other thread is late: that is found, or not promised.

fn late(wait: impl Fn()) {
    let flag = Arc::new(AtomicBool::new(false));
    let other = flag.clone();
    let t = thread::spawn(move || other.store(true, SeqCst));
    let end = Instant::now() + LIMIT;
    let mut ok = true;
    while !flag.load(SeqCst) {
        if Instant::now() > end {
            ok = false;
            break;
        }
        wait();
    }
    assert!(ok, "late");
    t.join().unwrap();
}

#[test]
fn late_while_it_spins() {
    late(|| {});
}

#[test]
fn late_while_it_sleeps() {
    late(|| thread::sleep(SOON));
}

#[test]
fn late_while_it_sleeps_long() {
    late(|| thread::sleep(2 * LIMIT));
}

#[test]
fn late_while_it_locks() {
    let m = Arc::new(Mutex::new(0));
    let n = m.clone();
    let t = thread::spawn(move || *n.lock().unwrap() = 1);
    let start = Instant::now();
    while *m.lock().unwrap() == 0 {
        assert!(start.elapsed() < LIMIT, "late");
    }
    t.join().unwrap();
}

#[test]
fn late_while_it_counts() {
    let flag = Arc::new(AtomicBool::new(false));
    let other = flag.clone();
    let t = thread::spawn(move || other.store(true, SeqCst));
    let start = Instant::now();
    let mut n = 0;
    while start.elapsed() < SOON {
        n += 1;
    }
    assert!(n < 100_000, "a fast machine");
    flag.load(SeqCst);
    t.join().unwrap();
}

// The same in loops whose turns leave nothing behind.

#[test]
fn late_for_who_only_spins() {
    let flag = Arc::new(AtomicBool::new(false));
    let other = flag.clone();
    let t = thread::spawn(move || other.store(true, SeqCst));
    let end = Instant::now() + LIMIT;
    let mut ok = true;
    while !flag.load(SeqCst) {
        if Instant::now() > end {
            ok = false;
            break;
        }
    }
    assert!(ok, "late");
    t.join().unwrap();
}

#[test]
fn late_for_who_only_sleeps() {
    let flag = Arc::new(AtomicBool::new(false));
    let other = flag.clone();
    let t = thread::spawn(move || other.store(true, SeqCst));
    let start = Instant::now();
    while !flag.load(SeqCst) {
        assert!(start.elapsed() < LIMIT, "late");
        thread::sleep(SOON);
    }
    t.join().unwrap();
}

#[test]
fn late_for_who_sleeps_once() {
    let flag = Arc::new(AtomicBool::new(false));
    let other = flag.clone();
    let t = thread::spawn(move || other.store(true, SeqCst));
    let start = Instant::now();
    while !flag.load(SeqCst) {
        assert!(start.elapsed() < LIMIT, "late");
        thread::sleep(LIMIT);
    }
    t.join().unwrap();
}

// Who waits sleeps longer and longer, but nobody is held up until that can't be told in numbers.

#[test]
fn longer_and_longer() {
    let flag = Arc::new(AtomicBool::new(false));
    let other = flag.clone();
    let t = thread::spawn(move || other.store(true, SeqCst));
    let mut sleep = SOON;
    while !flag.load(SeqCst) {
        thread::sleep(sleep);
        sleep *= 2;
    }
    t.join().unwrap();
}

#[test]
fn longer_by_shifting() {
    let m = Arc::new(Mutex::new(false));
    let n = m.clone();
    let t = thread::spawn(move || *n.lock().unwrap() = true);
    let mut n = 0_u32;
    while !*m.lock().unwrap() {
        thread::sleep(Duration::from_millis(u64::from(1_u32 << n)));
        n += 1;
    }
    t.join().unwrap();
}
