//! Locks, cells and others that a thread has left in the middle of something: who sees that, and who gives it back.

use std::panic;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, TryLockError, mpsc};
use std::thread;

static COUNT: AtomicU32 = AtomicU32::new(0);

#[test]
fn fails_twice_by_the_flag() {
    let m = Arc::new(RwLock::new(0));
    let n = m.clone();
    let t = thread::spawn(move || {
        let _g = n.write().unwrap();
        panic!("handled")
    });
    let p = m.is_poisoned();
    let _ = t.join();
    if p {
        panic!("poisoned")
    } else {
        panic!("clean")
    }
}

#[test]
fn passes_with_readers_that_panic() {
    let m = Arc::new(RwLock::new(0));
    let n = m.clone();
    let t = thread::spawn(move || {
        let _g = n.read().unwrap();
        panic!("handled")
    });
    assert!(!m.is_poisoned(), "never");
    let _ = t.join();
    assert!(!m.is_poisoned(), "never");
}

#[test]
fn fails_with_a_lock_that_is_tried() {
    let m = Arc::new(Mutex::new(0));
    let n = m.clone();
    let t = thread::spawn(move || {
        let _g = n.lock().unwrap();
        panic!("handled")
    });
    let is = matches!(m.try_lock(), Err(TryLockError::Poisoned(_)));
    let _ = t.join();
    assert!(!is, "poisoned");
}

#[test]
fn passes_with_what_has_been_healed() {
    static LOCK: Mutex<u32> = Mutex::new(0);
    let t = thread::spawn(|| {
        let mut g = LOCK.lock().unwrap();
        *g = 1;
        panic!("handled")
    });
    let _ = t.join();
    LOCK.clear_poison();
    let u = thread::spawn(|| *LOCK.lock().unwrap() += 1);
    *LOCK.lock().unwrap() += 1;
    u.join().unwrap();
    assert_eq!(*LOCK.lock().unwrap(), 3, "never");
}

#[test]
fn fails_where_it_is_healed_too_early() {
    let m = Arc::new(Mutex::new(0));
    let n = m.clone();
    let t = thread::spawn(move || {
        let _g = n.lock().unwrap();
        panic!("handled")
    });
    m.clear_poison();
    let _ = t.join();
    assert!(!m.is_poisoned(), "poisoned after all");
}

#[test]
fn fails_with_what_a_lock_gives_at_its_end() {
    let m = Arc::new(Mutex::new(0));
    let n = m.clone();
    let t = thread::spawn(move || {
        let mut g = n.lock().unwrap();
        *g = 1;
        if COUNT.load(SeqCst) == 1 {
            panic!("handled")
        }
    });
    COUNT.store(1, SeqCst);
    let _ = t.join();
    let end = Arc::try_unwrap(m).unwrap().into_inner();
    assert_eq!(end.is_err(), false, "poisoned");
}

#[test]
fn fails_with_a_poisoned_once() {
    static ONCE: Once = Once::new();
    let t = thread::spawn(|| ONCE.call_once(|| panic!("handled")));
    let caught = panic::catch_unwind(|| ONCE.call_once(|| ()));
    let _ = t.join();
    assert!(caught.is_ok(), "poisoned");
}

#[test]
fn passes_with_a_once_that_is_forced() {
    static ONCE: Once = Once::new();
    let t = thread::spawn(|| ONCE.call_once(|| panic!("handled")));
    ONCE.call_once_force(|_| ());
    let _ = t.join();
    assert!(ONCE.is_completed(), "never");
}

#[test]
fn passes_with_a_cell_whose_maker_panics() {
    static CELL: OnceLock<u32> = OnceLock::new();
    let t = thread::spawn(|| *CELL.get_or_init(|| panic!("handled")));
    let mine = *CELL.get_or_init(|| 1);
    let _ = t.join();
    assert_eq!(mine, 1, "never");
}

#[test]
fn fails_with_a_lazy_value_whose_maker_panics() {
    static LAZY: LazyLock<u32> = LazyLock::new(|| {
        assert!(COUNT.fetch_add(1, SeqCst) == 9, "no value");
        1
    });
    let t = thread::spawn(|| *LAZY);
    let _ = t.join();
    let _ = *LAZY;
}

#[test]
fn fails_with_a_condition_behind_a_poisoned_lock() {
    let gate = Arc::new((Mutex::new(false), Condvar::new()));
    let other = gate.clone();
    let t = thread::spawn(move || {
        let mut g = other.0.lock().unwrap();
        *g = true;
        other.1.notify_all();
        panic!("handled")
    });
    let healthy = (|| {
        let mut g = gate.0.lock().ok()?;
        while !*g {
            g = gate.1.wait(g).ok()?;
        }
        Some(())
    })();
    let _ = t.join();
    assert!(healthy.is_some(), "poisoned");
}

#[test]
fn passes_with_a_sender_that_panics() {
    let (tx, rx) = mpsc::channel::<u32>();
    let t = thread::spawn(move || {
        tx.send(1).unwrap();
        panic!("handled")
    });
    assert_eq!(rx.iter().sum::<u32>(), 1, "never");
    assert!(t.join().is_err(), "never");
}
