//! What handles tell: how many of them there are, who has the last one, and whether anybody is at the other end.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex, Weak, mpsc};
use std::thread;

static COUNT: AtomicU32 = AtomicU32::new(0);

// not for `check`: how many handles of an `Arc` there are
#[test]
fn fails_with_make_mut() {
    let mut x = Arc::new(1);
    let y = x.clone();
    let t = thread::spawn(move || drop(y));
    let before = Arc::as_ptr(&x);
    *Arc::make_mut(&mut x) += 1;
    let same = before == Arc::as_ptr(&x);
    t.join().unwrap();
    assert!(!same, "in place");
}
#[derive(Debug)]
struct Copied(Arc<AtomicU32>);
impl Clone for Copied {
    fn clone(&self) -> Self {
        self.0.fetch_add(1, SeqCst);
        Copied(self.0.clone())
    }
}

// not for `check`: how many handles of an `Arc` there are
#[test]
fn fails_with_unwrap_or_clone() {
    let n = Arc::new(AtomicU32::new(0));
    let x = Arc::new(Copied(n.clone()));
    let y = x.clone();
    let t = thread::spawn(move || drop(y));
    let _mine = Arc::unwrap_or_clone(x);
    t.join().unwrap();
    assert_eq!(n.load(SeqCst), 0, "copied");
}

// not for `check`: how many handles of an `Arc` there are
#[test]
fn fails_with_weak_counts() {
    let x = Arc::new(1);
    let w = Arc::downgrade(&x);
    let t = thread::spawn(move || drop(x));
    let n = w.strong_count();
    t.join().unwrap();
    assert_eq!(n, 1, "gone");
}

// not for `check`: how many handles of an `Arc` there are
#[test]
fn fails_with_a_text() {
    let x: Arc<str> = "text".into();
    let y = x.clone();
    let t = thread::spawn(move || y.len());
    let n = Arc::strong_count(&x);
    assert_eq!(t.join().unwrap(), 4, "never");
    assert_eq!(n, 2, "one");
}

// not for `check`: how many handles of an `Arc` there are
#[test]
fn fails_with_a_slice_of_handles() {
    let x = Arc::new(());
    let all: Vec<_> = vec![x.clone(), x.clone()];
    let t = thread::spawn(move || drop(all));
    let n = Arc::strong_count(&x);
    t.join().unwrap();
    assert_ne!(n, 2, "half of the list");
}

// not for `check`: how many handles of an `Arc` there are
#[test]
fn fails_with_a_handle_that_is_taken_out() {
    let x = Arc::new(());
    let slot = Arc::new(Mutex::new(Some(x.clone())));
    let other = slot.clone();
    let t = thread::spawn(move || drop(other.lock().unwrap().take()));
    let n = Arc::strong_count(&x);
    t.join().unwrap();
    assert_eq!(n, 2, "gone");
}

// not for `check`: how many handles of an `Arc` there are
#[test]
fn fails_twice_by_who_is_last() {
    struct Last(u32);
    impl Drop for Last {
        fn drop(&mut self) {
            COUNT.store(
                if thread::current().name() == Some("w") {
                    2
                } else {
                    1
                },
                SeqCst,
            );
        }
    }
    let x = Arc::new(Last(0));
    let y = x.clone();
    let t = thread::Builder::new()
        .name("w".into())
        .spawn(move || y.0)
        .unwrap();
    drop(x);
    t.join().unwrap();
    match COUNT.load(SeqCst) {
        1 => panic!("the test"),
        2 => panic!("the worker"),
        _ => panic!("never"),
    }
}

#[test]
fn fails_if_the_last_sender_is_gone() {
    let (tx, rx) = mpsc::channel::<u32>();
    let t = thread::spawn(move || drop(tx));
    let e = rx.try_recv().unwrap_err();
    t.join().unwrap();
    assert_eq!(e, mpsc::TryRecvError::Empty, "disconnected");
}

#[test]
fn fails_if_the_receiver_is_gone() {
    let (tx, rx) = mpsc::channel();
    let t = thread::spawn(move || drop(rx));
    let sent = tx.send(1);
    t.join().unwrap();
    assert!(sent.is_ok(), "disconnected");
}

#[test]
fn passes_with_new_cyclic() {
    struct Node {
        me: Weak<Node>,
        n: u32,
    }
    let x = Arc::new_cyclic(|me| Node {
        me: me.clone(),
        n: 1,
    });
    let y = x.clone();
    let t = thread::spawn(move || y.me.upgrade().map(|it| it.n));
    assert_eq!(x.n, 1, "never");
    assert_eq!(t.join().unwrap(), Some(1), "never");
}

// not for `check`: how many handles of an `Arc` there are
#[test]
fn passes_with_one_that_gets_it() {
    let x = Arc::new(7);
    let y = x.clone();
    let t = thread::spawn(move || Arc::into_inner(y));
    let mine = Arc::into_inner(x);
    let theirs = t.join().unwrap();
    assert_eq!(mine.xor(theirs), Some(7), "never");
}

// not for `check`: how many handles of an `Arc` there are
#[test]
fn fails_where_nobody_gets_it() {
    let x = Arc::new(7);
    let y = x.clone();
    let t = thread::spawn(move || Arc::try_unwrap(y).ok());
    let mine = Arc::try_unwrap(x).ok();
    let theirs = t.join().unwrap();
    assert!(mine.is_some() || theirs.is_some(), "nobody");
}

#[test]
fn passes_after_the_join() {
    let x = Arc::new(Mutex::new(vec![1]));
    let y = x.clone();
    thread::spawn(move || y.lock().unwrap().push(2))
        .join()
        .unwrap();
    assert_eq!(
        Arc::try_unwrap(x).unwrap().into_inner().unwrap(),
        [1, 2],
        "never"
    );
}

#[test]
fn passes_with_a_scope() {
    let x = Arc::new(0);
    thread::scope(|s| {
        let y = x.clone();
        s.spawn(move || drop(y));
    });
    assert_eq!(Arc::strong_count(&x), 1, "never");
}

#[test]
fn fails_with_same_handles() {
    let slot = Arc::new(Mutex::new(Arc::new(1)));
    let first = slot.lock().unwrap().clone();
    let other = slot.clone();
    let t = thread::spawn(move || *other.lock().unwrap() = Arc::new(1));
    let same = Arc::ptr_eq(&first, &slot.lock().unwrap());
    t.join().unwrap();
    assert!(same, "another one");
}

#[test]
fn fails_where_a_panic_ends_the_value() {
    let m = Arc::new(Mutex::new(1));
    let n = m.clone();
    let t = thread::spawn(move || *n.lock().unwrap() += 1);
    let one = *m.lock().unwrap();
    let two = *m.lock().unwrap();
    assert_eq!(one, two, "torn");
    t.join().unwrap();
}

#[derive(Default)]
struct Pool {
    idle: Mutex<Vec<u32>>,
    open: AtomicU32,
}

struct Pooled(u32, Arc<Pool>);

impl Drop for Pooled {
    fn drop(&mut self) {
        self.1.idle.lock().unwrap().push(self.0);
    }
}

#[test]
fn fails_where_two_are_taken_out_of_a_pool() {
    fn take(pool: &Arc<Pool>) -> Option<Pooled> {
        if pool.open.load(SeqCst) >= 1 {
            return None;
        }
        Some(Pooled(pool.open.fetch_add(1, SeqCst), pool.clone()))
    }
    let pool = Arc::new(Pool::default());
    let other = pool.clone();
    let t = thread::spawn(move || drop(take(&other)));
    let mine = take(&pool);
    assert!(pool.open.load(SeqCst) <= 1, "two are open");
    drop(mine);
    t.join().unwrap();
}

struct Last(&'static AtomicU32);

impl Drop for Last {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

// not for `check`: how many handles of an `Arc` there are
#[test]
fn fails_by_where_the_value_ends() {
    let one = Arc::new(Last(&COUNT));
    let other = one.clone();
    let t = thread::spawn(move || {
        drop(other);
        COUNT.load(SeqCst)
    });
    drop(one);
    assert_eq!(t.join().unwrap(), 1, "not yet");
}
