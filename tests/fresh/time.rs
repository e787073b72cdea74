//! Programs that look at clocks, draw random numbers, or look at addresses.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

#[test]
fn loops_until_a_time_has_come() {
    let n = Arc::new(AtomicU32::new(0));
    let theirs = n.clone();
    let other = thread::spawn(move || theirs.fetch_add(1, SeqCst));
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(50) { thread::sleep(Duration::from_millis(1)); }
    let later = Instant::now();
    while later.elapsed() < Duration::from_millis(50) {}
    n.fetch_add(1, SeqCst);
    other.join().unwrap();
    assert!(start.elapsed() >= Duration::from_millis(100), "too early");
}

#[test]
fn nobody_sets_the_flag() {
    let flag = Arc::new(AtomicBool::new(false));
    let theirs = flag.clone();
    let other = thread::spawn(move || theirs.load(SeqCst));
    other.join().unwrap();
    let end = Instant::now() + Duration::from_secs(30);
    while !flag.load(SeqCst) && Instant::now() < end { thread::sleep(Duration::from_millis(10)); }
    assert!(Instant::now() >= end);
}

#[test]
fn whoever_comes_later_sees_no_earlier_time() {
    let at = Arc::new(Mutex::new(None));
    let theirs = at.clone();
    let other = thread::spawn(move || {
        thread::sleep(Duration::from_secs(3));
        *theirs.lock().unwrap() = Some((Instant::now(), SystemTime::now()));
    });
    if let Some((instant, date)) = *at.lock().unwrap() {
        assert!(Instant::now() >= instant, "time goes back");
        assert!(SystemTime::now().duration_since(date).is_ok(), "the date goes back");
    }
    other.join().unwrap();
    let (instant, _) = at.lock().unwrap().unwrap();
    assert!(Instant::now() >= instant, "earlier than a thread that is over");
}

#[test]
fn the_date_decides() {
    let n = Arc::new(AtomicU32::new(0));
    let theirs = n.clone();
    let other = thread::spawn(move || {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        if now.subsec_nanos() / 1000 % 2 == 0 { theirs.fetch_add(1, SeqCst); }
        theirs.load(SeqCst);
    });
    n.fetch_add(1, SeqCst);
    other.join().unwrap();
}

#[test]
fn a_dependency_sleeps() {
    let n = Arc::new(AtomicU32::new(0));
    let theirs = n.clone();
    let other = thread::spawn(move || {
        assert!(helper::sleep() >= Duration::from_secs(1_000_000));
        theirs.fetch_add(1, SeqCst);
    });
    n.fetch_add(1, SeqCst);
    other.join().unwrap();
}

#[test]
fn the_order_of_a_map_decides() {
    let all = Arc::new(Mutex::new(Vec::<Vec<u32>>::new()));
    let theirs = all.clone();
    let add = |all: &Mutex<Vec<Vec<u32>>>| {
        let map: HashMap<u32, u32> = (0..9).map(|n| (n, n)).collect();
        if map.keys().next().unwrap() % 2 == 0 { all.lock().unwrap().push(Vec::new()); }
        let set: HashSet<u32> = (0..9).collect();
        all.lock().unwrap().push(set.into_iter().collect());
    };
    let other = thread::spawn(move || add(&theirs));
    add(&all);
    other.join().unwrap();
}

#[test]
fn an_address_decides() {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let theirs = kept.clone();
    let keep = |kept: &Mutex<Vec<Box<u64>>>| {
        let boxed = Box::new(7);
        if format!("{:p}", boxed).as_bytes()[9] % 2 == 0 { kept.lock().unwrap().push(boxed); }
        kept.lock().unwrap().push(Box::new(8));
    };
    let other = thread::spawn(move || keep(&theirs));
    keep(&kept);
    other.join().unwrap();
}

#[test]
fn a_sleep_orders_nothing() {
    let ready = Arc::new(AtomicBool::new(false));
    let theirs = ready.clone();
    let other = thread::spawn(move || theirs.store(true, SeqCst));
    thread::sleep(Duration::from_secs(1));
    let seen = ready.load(SeqCst);
    other.join().unwrap();
    assert!(seen, "the sleep was too short");
}

#[test]
fn time_limits_run_out() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let theirs = pair.clone();
    let other = thread::spawn(move || {
        *theirs.0.lock().unwrap() = true;
        theirs.1.notify_one();
    });
    let start = Instant::now();
    let limit = Duration::from_millis(70);
    let guard = pair.0.lock().unwrap();
    let (guard, result) = pair.1.wait_timeout_while(guard, limit, |set| !*set).unwrap();
    drop(guard);
    assert!(!result.timed_out() || start.elapsed() >= limit, "too early");
    let (_send, receive) = mpsc::channel::<u32>();
    let start = Instant::now();
    assert!(receive.recv_timeout(limit).is_err());
    assert!(start.elapsed() >= limit, "too early");
    let start = Instant::now();
    thread::park_timeout(limit);
    assert!(start.elapsed() >= limit, "too early");
    other.join().unwrap();
}
