//! Time, and what waits with a limit.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

static COUNT: AtomicU32 = AtomicU32::new(0);

// not tried: the program looks at the clock
#[test]
fn passes_with_a_sleep_that_lasts() {
    let began = SystemTime::now();
    let t = thread::spawn(|| {
        thread::sleep(Duration::from_secs(100));
        COUNT.store(1, SeqCst);
    });
    COUNT.load(SeqCst);
    t.join().unwrap();
    assert!(
        began.elapsed().unwrap() >= Duration::from_secs(100),
        "never"
    );
}

#[test]
fn fails_by_sleeping_less() {
    let t = thread::spawn(|| {
        thread::sleep(Duration::from_millis(5));
        COUNT.store(1, SeqCst);
    });
    thread::sleep(Duration::from_secs(1));
    assert_eq!(COUNT.load(SeqCst), 1, "late");
    t.join().unwrap();
}

#[test]
fn fails_by_waiting_with_a_limit() {
    let (tx, rx) = mpsc::channel();
    let t = thread::spawn(move || {
        let _ = tx.send(1);
    });
    let got = rx.recv_timeout(Duration::from_secs(5));
    t.join().unwrap();
    assert!(got.is_ok(), "late");
}

// not tried: the program looks at the clock
#[test]
fn passes_with_times_in_order() {
    let a = Instant::now();
    let t = thread::spawn(move || {
        COUNT.fetch_add(1, SeqCst);
        Instant::now() >= a
    });
    COUNT.fetch_add(1, SeqCst);
    assert!(t.join().unwrap(), "never");
    assert!(a.elapsed() >= Duration::ZERO, "never");
}

// doubtful for `check`: without a reason
#[test]
fn passes_with_parking_that_ends() {
    let t = thread::spawn(|| {
        thread::park_timeout(Duration::from_millis(5));
        COUNT.fetch_add(1, SeqCst)
    });
    COUNT.fetch_add(1, SeqCst);
    t.thread().unpark();
    t.join().unwrap();
}

// doubtful for `check`: without a reason
#[test]
fn deadlocks_by_parking_once_too_often() {
    let t = thread::spawn(|| {
        thread::park();
        COUNT.fetch_add(1, SeqCst);
        thread::park();
    });
    t.thread().unpark();
    t.thread().unpark();
    t.join().unwrap();
}

// not for `check`: where more than two threads run side by side
#[test]
fn passes_with_a_barrier() {
    let b = Arc::new(Barrier::new(3));
    let ts: Vec<_> = (0..2)
        .map(|_| {
            let b = b.clone();
            thread::spawn(move || {
                COUNT.fetch_add(1, SeqCst);
                b.wait().is_leader()
            })
        })
        .collect();
    let mine = b.wait().is_leader();
    assert_eq!(COUNT.load(SeqCst), 2, "never");
    let leaders = ts
        .into_iter()
        .filter(|_| true)
        .map(|t| t.join().unwrap())
        .filter(|l| *l)
        .count()
        + usize::from(mine);
    assert_eq!(leaders, 1, "never");
}

// not tried: the program looks at the clock
#[test]
fn passes_with_the_date() {
    let d = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let t = thread::spawn(|| COUNT.store(1, SeqCst));
    COUNT.load(SeqCst);
    t.join().unwrap();
    assert!(
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap() >= d,
        "never"
    );
}

fn two<T>(make: T) -> (Arc<T>, Arc<T>) {
    let one = Arc::new(make);
    (one.clone(), one)
}

// not tried: the program looks at the clock
#[test]
fn passes_as_time_goes_on() {
    let n = two(AtomicU32::new(0));
    let began = Instant::now();
    let t = thread::spawn(move || {
        thread::sleep(Duration::from_secs(3600));
        n.1.fetch_add(1, SeqCst);
    });
    n.0.fetch_add(1, SeqCst);
    t.join().unwrap();
    assert!(began.elapsed() >= Duration::from_secs(3600));
}

#[test]
fn fails_if_time_is_short() {
    let n = two(AtomicU32::new(0));
    let t = thread::spawn(move || {
        thread::sleep(Duration::from_millis(5));
        n.1.store(1, SeqCst);
    });
    thread::sleep(Duration::from_millis(50));
    assert_eq!(n.0.load(SeqCst), 1, "slept long enough, most of the time");
    t.join().unwrap();
}
