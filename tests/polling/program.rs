//! Threads that wait in loops, and threads that only seem to. What is right of each harness is in `tests/polling.rs`.

use std::collections::VecDeque;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Condvar, Mutex, OnceLock, RwLock};
use std::thread;
use std::time::{Duration, Instant};

const SOON: Duration = Duration::from_millis(1);

// Loops that count are no loops that wait.

#[test]
fn counts_a_worker_with_a_stop_flag() {
    let stop = Arc::new(AtomicBool::new(false));
    let s = stop.clone();
    let t = thread::spawn(move || {
        let mut sum = 0u64;
        for i in 0..12 {
            if s.load(SeqCst) {
                break;
            }
            sum += i;
        }
        sum
    });
    stop.store(true, SeqCst);
    assert!(t.join().unwrap() <= 66);
}

#[test]
fn counts_and_loses_an_update_after_that() {
    let n = Arc::new(AtomicU32::new(0));
    let stop = Arc::new(AtomicBool::new(false));
    let work = |stop: &AtomicBool, n: &AtomicU32| {
        let mut turns = 0;
        while turns < 8 && !stop.load(SeqCst) {
            turns += 1;
        }
        let v = n.load(SeqCst);
        n.store(v + 1, SeqCst);
    };
    let (s, m) = (stop.clone(), n.clone());
    let t = thread::spawn(move || work(&s, &m));
    work(&stop, &n);
    t.join().unwrap();
    assert_eq!(n.load(SeqCst), 2, "lost after the loop");
}

#[test]
fn counts_until_it_gives_up() {
    let a = Arc::new(AtomicBool::new(false));
    let b = a.clone();
    let t = thread::spawn(move || b.store(true, SeqCst));
    let mut i = 0;
    while !a.load(SeqCst) {
        i += 1;
        thread::yield_now();
        assert!(i < 20, "timed out");
    }
    t.join().unwrap();
}

#[test]
fn counts_in_what_it_was_lent() {
    fn tried(a: &AtomicBool, tries: &mut u32) -> bool {
        *tries += 1;
        a.load(SeqCst)
    }
    let a = Arc::new(AtomicBool::new(false));
    let b = a.clone();
    let t = thread::spawn(move || b.store(true, SeqCst));
    let mut tries = 0;
    while !tried(&a, &mut tries) {
        if tries == 10 {
            panic!("ten tries");
        }
    }
    t.join().unwrap();
}

#[test]
fn counts_in_a_cell() {
    let a = Arc::new(AtomicBool::new(false));
    let b = a.clone();
    let t = thread::spawn(move || b.store(true, SeqCst));
    let tries = std::cell::Cell::new(0);
    while !a.load(SeqCst) {
        tries.set(tries.get() + 1);
        assert!(tries.get() < 10, "ten tries");
    }
    t.join().unwrap();
}

#[test]
fn counts_by_backing_off() {
    struct Backoff(u32);
    impl Backoff {
        fn spin(&mut self) {
            self.0 += 1;
            assert!(self.0 < 8, "backed off too often");
        }
    }
    let a = Arc::new(AtomicBool::new(false));
    let b = a.clone();
    let t = thread::spawn(move || b.store(true, SeqCst));
    let mut backoff = Backoff(0);
    while !a.load(SeqCst) {
        backoff.spin();
    }
    t.join().unwrap();
}

#[test]
fn polls_and_spins_longer_each_time() {
    let a = Arc::new(AtomicBool::new(false));
    let b = a.clone();
    let n = Arc::new(AtomicU32::new(0));
    let m = n.clone();
    let t = thread::spawn(move || {
        m.store(1, SeqCst);
        b.store(true, SeqCst);
    });
    let mut step = 0;
    while !a.load(SeqCst) {
        for _ in 0..1 << step {
            std::hint::spin_loop();
        }
        if step < 6 {
            step += 1;
        }
    }
    assert_eq!(n.load(SeqCst), 2);
    t.join().unwrap();
}

#[test]
fn waits_for_ever_at_growing_distances() {
    let a = Arc::new(AtomicBool::new(false));
    let b = a.clone();
    let t = thread::spawn(move || b.load(SeqCst));
    let mut step = 0_u32;
    while !a.load(SeqCst) {
        if step < 3 {
            for _ in 0..1 << step {
                std::hint::spin_loop();
            }
        } else {
            thread::yield_now();
        }
        step += 1;
    }
    t.join().unwrap();
}

#[test]
fn counts_by_spinning_longer_each_time() {
    let a = Arc::new(AtomicBool::new(false));
    let b = a.clone();
    let t = thread::spawn(move || b.store(true, SeqCst));
    let mut step = 0;
    while !a.load(SeqCst) && step < 6 {
        for _ in 0..1 << step {
            std::hint::spin_loop();
        }
        step += 1;
    }
    assert!(step < 5, "spun too long");
    t.join().unwrap();
}

thread_local! {
    static TRIES: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

fn try_again() -> u32 {
    TRIES.with(|tries| {
        tries.set(tries.get() + 1);
        assert!(tries.get() < 10, "ten tries");
    });
    0
}

#[test]
fn counts_in_a_function_that_is_passed_on() {
    let a = Arc::new(AtomicBool::new(false));
    let b = a.clone();
    let t = thread::spawn(move || b.store(true, SeqCst));
    while !a.load(SeqCst) {
        None.unwrap_or_else(try_again);
    }
    t.join().unwrap();
}

struct Parsed;

impl std::str::FromStr for Parsed {
    type Err = u32;

    fn from_str(_: &str) -> Result<Self, u32> {
        Err(try_again())
    }
}

#[test]
fn counts_where_it_parses() {
    let a = Arc::new(AtomicBool::new(false));
    let b = a.clone();
    let t = thread::spawn(move || b.store(true, SeqCst));
    while !a.load(SeqCst) && "7".parse::<Parsed>().is_err() {}
    t.join().unwrap();
}

#[test]
fn reads_locks_often() {
    let m = Arc::new(Mutex::new(1));
    let r = Arc::new(RwLock::new(1));
    let (n, q) = (m.clone(), r.clone());
    let t = thread::spawn(move || *n.lock().unwrap() + *q.read().unwrap());
    let mut s = 0;
    for _ in 0..5 {
        s += *m.lock().unwrap();
    }
    for _ in 0..5 {
        s += *r.read().unwrap();
    }
    assert_eq!(s, 10);
    assert_eq!(t.join().unwrap(), 2);
}

// Loops that poll: each finds 7 after a while.

#[test]
fn polls_a_queue() {
    let q = Arc::new(Mutex::new(VecDeque::new()));
    let r = q.clone();
    let t = thread::spawn(move || q.lock().unwrap().push_back(7));
    loop {
        if let Some(v) = r.lock().unwrap().pop_front() {
            assert_eq!(v, 8);
            break;
        }
        thread::yield_now();
    }
    t.join().unwrap();
}

#[test]
fn polls_a_lock_between_two_writes() {
    let m = Arc::new(Mutex::new(0));
    let n = m.clone();
    let t = thread::spawn(move || {
        *n.lock().unwrap() = 1;
        *n.lock().unwrap() = 2;
    });
    while *m.lock().unwrap() == 0 {
        thread::sleep(SOON);
    }
    assert_eq!(*m.lock().unwrap(), 1, "already two");
    t.join().unwrap();
}

#[test]
fn polls_by_trying_to_lock() {
    let m = Arc::new(Mutex::new(None));
    let n = m.clone();
    let t = thread::spawn(move || *n.lock().unwrap() = Some(7));
    let found = loop {
        if let Ok(guard) = m.try_lock()
            && let Some(v) = *guard
        {
            break v;
        }
        std::hint::spin_loop();
    };
    assert_eq!(found, 8);
    t.join().unwrap();
}

#[test]
fn polls_a_read_lock() {
    let m = Arc::new(RwLock::new(vec![0]));
    let n = m.clone();
    let t = thread::spawn(move || n.write().unwrap().push(7));
    'poll: loop {
        let list = m.read().unwrap();
        for v in list.iter() {
            if *v == 0 {
                continue;
            }
            assert_eq!(*v, 8);
            break 'poll;
        }
    }
    t.join().unwrap();
}

#[test]
fn polls_a_channel() {
    let (tx, rx) = channel();
    let t = thread::spawn(move || tx.send(7).unwrap());
    loop {
        if let Ok(v) = rx.try_recv() {
            assert_eq!(v, 8);
            break;
        }
        thread::yield_now();
    }
    t.join().unwrap();
}

#[test]
fn polls_a_channel_with_a_time_limit() {
    let (tx, rx) = channel();
    let t = thread::spawn(move || tx.send(7).unwrap());
    loop {
        match rx.recv_timeout(SOON) {
            Ok(v) => {
                assert_eq!(v, 8);
                break;
            }
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => panic!("nobody sends"),
        }
    }
    t.join().unwrap();
}

#[test]
fn polls_by_parking() {
    static X: AtomicU32 = AtomicU32::new(0);
    let me = thread::current();
    let t = thread::spawn(move || {
        X.store(7, SeqCst);
        me.unpark();
    });
    while X.load(SeqCst) == 0 {
        thread::park_timeout(SOON);
    }
    assert_eq!(X.load(SeqCst), 8);
    t.join().unwrap();
}

#[test]
fn polls_by_waiting_with_a_time_limit() {
    let gate = Arc::new((Mutex::new(0), Condvar::new()));
    let other = gate.clone();
    let t = thread::spawn(move || {
        *other.0.lock().unwrap() = 7;
        other.1.notify_all();
    });
    let mut v = gate.0.lock().unwrap();
    while *v == 0 {
        v = gate.1.wait_timeout(v, SOON).unwrap().0;
    }
    assert_eq!(*v, 8);
    drop(v);
    t.join().unwrap();
}

struct Slot {
    ready: AtomicBool,
    value: AtomicUsize,
}

impl Slot {
    fn get(&self) -> Option<usize> {
        self.is_ready().then(|| self.value.load(SeqCst))
    }

    fn is_ready(&self) -> bool {
        self.ready.load(SeqCst)
    }
}

#[test]
fn polls_through_methods() {
    let slot = Arc::new(Slot {
        ready: AtomicBool::new(false),
        value: AtomicUsize::new(0),
    });
    let other = slot.clone();
    let t = thread::spawn(move || {
        other.ready.store(true, SeqCst);
        other.value.store(7, SeqCst);
    });
    while slot.get().is_none() {}
    assert_eq!(slot.value.load(SeqCst), 7, "ready too early");
    t.join().unwrap();
}

#[test]
fn polls_a_place_for_one_value() {
    let once = Arc::new(OnceLock::new());
    let other = once.clone();
    let t = thread::spawn(move || other.set(7).unwrap());
    assert_eq!(
        loop {
            if let Some(v) = once.get() {
                break *v;
            }
        },
        8
    );
    t.join().unwrap();
}

#[test]
fn polls_two_places() {
    static A: AtomicUsize = AtomicUsize::new(0);
    static B: AtomicUsize = AtomicUsize::new(0);
    let t = thread::spawn(|| {
        A.store(1, SeqCst);
        B.store(1, SeqCst);
    });
    while A.load(SeqCst) == 0 || B.load(SeqCst) == 0 {
        thread::yield_now();
    }
    assert_eq!(A.load(SeqCst), 1);
    t.join().unwrap();
}

fn section(lock: &AtomicBool, n: &AtomicU32) {
    while lock
        .compare_exchange(false, true, SeqCst, SeqCst)
        .is_err()
    {}
    n.store(n.load(SeqCst) + 1, SeqCst);
    lock.store(false, SeqCst);
}

#[test]
fn spins_for_a_lock() {
    let shared = Arc::new((AtomicBool::new(false), AtomicU32::new(0)));
    let other = shared.clone();
    let t = thread::spawn(move || section(&other.0, &other.1));
    section(&shared.0, &shared.1);
    t.join().unwrap();
    assert_eq!(shared.1.load(SeqCst), 2);
}

#[test]
fn spins_by_swapping() {
    let shared = Arc::new((AtomicBool::new(false), AtomicU32::new(0)));
    let section = |(lock, n): &(AtomicBool, AtomicU32)| {
        while lock.swap(true, SeqCst) {
            thread::yield_now();
        }
        n.store(n.load(SeqCst) + 1, SeqCst);
        lock.store(false, SeqCst);
    };
    let other = shared.clone();
    let t = thread::spawn(move || section(&other));
    section(&shared);
    t.join().unwrap();
    assert_eq!(shared.1.load(SeqCst), 2);
}

#[test]
fn polls_after_it_has_looked_at_a_clock() {
    static X: AtomicU32 = AtomicU32::new(0);
    let t = thread::spawn(|| X.store(7, SeqCst));
    let start = Instant::now();
    while X.load(SeqCst) == 0 {
        thread::sleep(SOON);
    }
    assert!(start.elapsed() >= Duration::ZERO);
    assert_eq!(X.load(SeqCst), 8);
    t.join().unwrap();
}

// Loops that wait for ever.

#[test]
fn waits_for_ever_after_it_has_looked_at_a_clock() {
    let flag = Arc::new(AtomicBool::new(false));
    let other = flag.clone();
    let start = Instant::now();
    let t = thread::spawn(move || {
        assert_eq!(start.elapsed(), Duration::ZERO);
        while !other.load(SeqCst) {}
    });
    t.join().unwrap();
}

#[test]
fn waits_for_ever_for_a_flag() {
    let flag = Arc::new(AtomicBool::new(false));
    let other = flag.clone();
    let t = thread::spawn(move || while !other.load(SeqCst) {});
    t.join().unwrap();
}

#[test]
fn waits_for_ever_for_each_other() {
    let flags = Arc::new((AtomicBool::new(false), AtomicBool::new(false)));
    let other = flags.clone();
    let t = thread::spawn(move || {
        while !other.0.load(SeqCst) {
            thread::yield_now();
        }
        other.1.store(true, SeqCst);
    });
    while !flags.1.load(SeqCst) {
        thread::yield_now();
    }
    flags.0.store(true, SeqCst);
    t.join().unwrap();
}

#[test]
fn waits_for_ever_with_the_lock() {
    let m = Arc::new(Mutex::new(()));
    let flag = Arc::new(AtomicBool::new(false));
    let (n, f) = (m.clone(), flag.clone());
    let t = thread::spawn(move || {
        let _guard = n.lock().unwrap();
        f.store(true, SeqCst);
    });
    let guard = m.lock().unwrap();
    while !flag.load(SeqCst) {}
    drop(guard);
    t.join().unwrap();
}

#[test]
fn waits_for_ever_for_a_message() {
    let (tx, rx) = channel::<u32>();
    let t = thread::spawn(move || drop(tx));
    while rx.try_recv().is_err() {}
    t.join().unwrap();
}

#[test]
fn waits_for_ever_for_another_value() {
    static X: AtomicU32 = AtomicU32::new(0);
    let t = thread::spawn(|| X.store(1, SeqCst));
    while X.load(SeqCst) != 2 {
        thread::yield_now();
    }
    t.join().unwrap();
}

#[test]
fn waits_for_ever_to_exchange_another_value() {
    static X: AtomicU32 = AtomicU32::new(0);
    let t = thread::spawn(|| X.store(1, SeqCst));
    while X.compare_exchange(2, 3, SeqCst, SeqCst).is_err() {}
    t.join().unwrap();
}

#[test]
fn waits_for_ever_beside_another_one() {
    static X: AtomicU32 = AtomicU32::new(0);
    let t = thread::spawn(|| while X.load(SeqCst) < 3 {});
    let s = thread::spawn(|| {
        X.fetch_add(1, SeqCst);
        X.fetch_add(1, SeqCst);
    });
    while X.load(SeqCst) <= 5 {
        thread::yield_now();
    }
    t.join().unwrap();
    s.join().unwrap();
}

#[test]
fn waits_for_ever_for_what_is_set_back() {
    static X: AtomicU32 = AtomicU32::new(0);
    static FLAG: AtomicBool = AtomicBool::new(false);
    let t = thread::spawn(|| {
        FLAG.store(true, SeqCst);
        X.store(2, SeqCst);
        FLAG.store(false, SeqCst);
        X.store(1, SeqCst);
    });
    while !FLAG.load(SeqCst) || X.load(SeqCst) != 2 {
        thread::yield_now();
    }
    t.join().unwrap();
}

#[test]
fn waits_for_ever_in_one_of_two_orders() {
    static X: AtomicU32 = AtomicU32::new(0);
    let (t, s) = (
        thread::spawn(|| X.store(1, SeqCst)),
        thread::spawn(|| X.store(2, SeqCst)),
    );
    t.join().unwrap();
    s.join().unwrap();
    while X.load(SeqCst) != 2 {}
}

#[test]
fn waits_for_ever_behind_a_lock() {
    let m = Arc::new(Mutex::new(0));
    let n = m.clone();
    let t = thread::spawn(move || {
        *n.lock().unwrap() = 2;
        *n.lock().unwrap() = 1;
    });
    while *m.lock().unwrap() != 2 {}
    t.join().unwrap();
}

#[test]
fn waits_for_ever_by_trying_to_lock() {
    static X: AtomicU32 = AtomicU32::new(0);
    let m = Arc::new(Mutex::new(()));
    let n = m.clone();
    let t = thread::spawn(move || {
        drop(n.lock().unwrap());
        let _guard = n.lock().unwrap();
        X.store(1, SeqCst);
        while X.load(SeqCst) != 2 {}
    });
    while X.load(SeqCst) != 1 || m.try_lock().is_err() {
        thread::yield_now();
    }
    X.store(2, SeqCst);
    t.join().unwrap();
}

#[test]
fn waits_for_ever_beside_a_deadlock() {
    static X: AtomicU32 = AtomicU32::new(0);
    let locks = Arc::new((Mutex::new(()), Mutex::new(())));
    let other = locks.clone();
    let t = thread::spawn(move || {
        let _a = locks.0.lock().unwrap();
        let _b = locks.1.lock().unwrap();
        X.fetch_add(1, SeqCst);
    });
    let s = thread::spawn(move || {
        let _b = other.1.lock().unwrap();
        let _a = other.0.lock().unwrap();
        X.fetch_add(1, SeqCst);
    });
    while X.load(SeqCst) != 2 {}
    t.join().unwrap();
    s.join().unwrap();
}

// A loop that writes runs as it is written.

#[test]
fn writes_while_it_polls() {
    let polls = AtomicU32::new(0);
    let flag = AtomicBool::new(false);
    thread::scope(|s| {
        s.spawn(|| flag.store(true, SeqCst));
        loop {
            polls.fetch_add(1, SeqCst);
            if flag.load(SeqCst) {
                break;
            }
        }
    });
}
