//! Thread-locals, whose destructors run before their thread has been joined, and are events of it.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

static TOTAL: AtomicU32 = AtomicU32::new(0);

struct Flush(u32);
impl Drop for Flush {
    fn drop(&mut self) {
        TOTAL.fetch_add(self.0, SeqCst);
    }
}

thread_local! { static A: RefCell<Flush> = RefCell::new(Flush(0)); static B: Cell<u32> = const { Cell::new(0) }; static C: OnceCell<Rc<Flush>> = const { OnceCell::new() }; }

#[test]
fn passes_with_a_flush() {
    let ts: Vec<_> = (0..2)
        .map(|_| thread::spawn(|| A.with_borrow_mut(|a| a.0 += 1)))
        .collect();
    for t in ts {
        t.join().unwrap();
    }
    assert_eq!(TOTAL.load(SeqCst), 2, "never");
}

#[test]
fn fails_before_the_flush() {
    let t = thread::spawn(|| A.with(|a| a.borrow_mut().0 = 1));
    let seen = TOTAL.load(SeqCst);
    t.join().unwrap();
    assert_eq!(seen, 1, "not yet");
}

#[test]
fn passes_with_cells_of_their_own() {
    let t = thread::spawn(|| {
        B.set(B.get() + 1);
        TOTAL.fetch_add(B.get(), SeqCst);
    });
    B.set(B.get() + 1);
    TOTAL.fetch_add(B.get(), SeqCst);
    t.join().unwrap();
    assert_eq!(TOTAL.load(SeqCst), 2, "never");
}

#[test]
fn passes_with_a_handle_that_is_kept() {
    let t = thread::spawn(|| {
        C.with(|c| {
            c.get_or_init(|| Rc::new(Flush(5)));
        });
    });
    t.join().unwrap();
    assert_eq!(TOTAL.load(SeqCst), 5, "never");
}

#[test]
fn fails_with_a_flush_that_races() {
    struct Racy;
    impl Drop for Racy {
        fn drop(&mut self) {
            let n = TOTAL.load(SeqCst);
            TOTAL.store(n + 1, SeqCst);
        }
    }
    thread_local! { static R: Racy = const { Racy }; }
    let ts = [
        thread::spawn(|| R.with(|_| ())),
        thread::spawn(|| R.with(|_| ())),
    ];
    for t in ts {
        t.join().unwrap();
    }
    assert_eq!(TOTAL.load(SeqCst), 2, "lost");
}

#[test]
fn passes_with_a_scope_that_flushes() {
    let h = thread::spawn(|| {
        thread::scope(|s| {
            s.spawn(|| A.with_borrow_mut(|a| a.0 += 1)).join().unwrap();
        })
    });
    h.join().unwrap();
    assert_eq!(TOTAL.load(SeqCst), 1, "never");
}

#[test]
fn passes_with_a_flush_of_who_panics() {
    let t = thread::spawn(|| {
        A.with_borrow_mut(|a| a.0 += 1);
        panic!("handled")
    });
    assert!(t.join().is_err());
    assert_eq!(TOTAL.load(SeqCst), 1, "never");
}

#[test]
fn deadlocks_in_a_flush() {
    static M: Mutex<()> = Mutex::new(());
    static N: Mutex<()> = Mutex::new(());
    struct Locks;
    impl Drop for Locks {
        fn drop(&mut self) {
            let _m = M.lock().unwrap();
            let _n = N.lock().unwrap();
        }
    }
    thread_local! { static L: Locks = const { Locks }; }
    let t = thread::spawn(|| L.with(|_| ()));
    {
        let _n = N.lock().unwrap();
        let _m = M.lock().unwrap();
    }
    t.join().unwrap();
}
