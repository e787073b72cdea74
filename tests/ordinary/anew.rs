//! Each execution begins like a new process, and the next one doesn't see what an earlier one has left.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{LazyLock, Mutex, Once, OnceLock};
use std::thread;

static COUNT: AtomicU32 = AtomicU32::new(0);

fn two() {
    let t = thread::spawn(|| {
        COUNT.fetch_add(1, SeqCst);
    });
    COUNT.fetch_add(1, SeqCst);
    t.join().unwrap();
}

#[test]
fn passes_with_a_static_counter() {
    two();
    assert_eq!(COUNT.load(SeqCst), 2, "never");
}

#[test]
fn passes_with_a_once() {
    static ONCE: Once = Once::new();
    assert!(!ONCE.is_completed(), "never");
    ONCE.call_once(|| ());
    two();
}

#[test]
fn passes_with_a_cell_that_is_set() {
    static CELL: OnceLock<u32> = OnceLock::new();
    CELL.set(1).expect("never");
    two();
}

#[test]
fn passes_with_a_lazy_list() {
    static LIST: LazyLock<Mutex<Vec<u32>>> = LazyLock::new(Mutex::default);
    LIST.lock().unwrap().push(1);
    two();
    assert_eq!(LIST.lock().unwrap().len(), 1, "never");
}

// not followed: the environment: `env::set_var`
#[test]
fn passes_with_a_variable() {
    assert!(std::env::var("SEQZ_P5").is_err(), "never");
    unsafe { std::env::set_var("SEQZ_P5", "1") };
    two();
}

#[test]
fn passes_with_a_static_in_a_function() {
    fn next() -> u32 {
        static N: AtomicU32 = AtomicU32::new(1);
        N.fetch_add(1, SeqCst)
    }
    let t = thread::spawn(next);
    let a = next();
    assert_eq!(a + t.join().unwrap(), 3, "never");
}

#[test]
fn passes_with_a_static_mut() {
    static mut N: u32 = 0;
    two();
    unsafe {
        N += 1;
        let n = N;
        assert_eq!(n, 1, "never");
    }
}

#[test]
fn passes_with_a_local_of_the_test() {
    thread_local! { static N: Cell<u32> = const { Cell::new(0) }; }
    N.set(N.get() + 1);
    two();
    assert_eq!(N.get(), 1, "never");
}

#[test]
fn passes_with_a_leaked_box() {
    static P: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());
    let text: &'static str = Box::leak("leaked".to_owned().into_boxed_str());
    P.lock().unwrap().push(text);
    two();
    assert_eq!(P.lock().unwrap().len(), 1, "never");
}

#[test]
fn passes_with_ids() {
    let t = thread::spawn(|| thread::current().id());
    let mine = thread::current().id();
    two();
    assert_ne!(mine, t.join().unwrap(), "never");
}

// not followed: random numbers
#[test]
fn passes_with_the_order_of_a_map() {
    let m: HashMap<u32, u32> = (0..6).map(|i| (i, i)).collect();
    let first = *m.keys().next().unwrap();
    let t = thread::spawn(move || COUNT.fetch_add(first, SeqCst));
    COUNT.fetch_add(first, SeqCst);
    t.join().unwrap();
    assert_eq!(COUNT.load(SeqCst), 2 * first, "never");
}

#[test]
fn passes_with_a_set() {
    let s: HashSet<&str> = ["a", "b", "c"].into();
    let t = thread::spawn(move || {
        s.into_iter()
            .map(|s| {
                COUNT.fetch_add(1, SeqCst);
                s
            })
            .collect::<Vec<_>>()
    });
    COUNT.load(SeqCst);
    assert_eq!(t.join().unwrap().len(), 3, "never");
}
