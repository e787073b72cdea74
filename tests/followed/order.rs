use hides::{Flag, Tries, Turn};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

#[derive(Default)]
struct Shared<T> {
    lock: T,
    one: AtomicUsize,
    other: AtomicUsize,
    done: AtomicUsize,
}

/// Who has the lock is told by the order of stores that are independent of each other, as far as anybody can know.
fn two<T: Tries + Default + Send + Sync + 'static>() -> usize {
    let s = Arc::new(Shared::<T>::default());
    let r = s.clone();
    let t = thread::spawn(move || {
        r.one.store(1, SeqCst);
        if r.lock.tries() {
            r.one.store(2, SeqCst);
            r.lock.ends();
        } else {
            r.one.load(SeqCst);
        }
        r.done.load(SeqCst)
    });
    s.other.store(1, SeqCst);
    let locked = s.lock.tries();
    s.done.store(1, SeqCst);
    if locked {
        s.lock.ends();
    }
    t.join().unwrap()
}

#[test]
fn by_a_flag() {
    two::<Flag>();
}

#[test]
fn by_a_turn() {
    two::<Turn>();
}

#[test]
fn fails() {
    assert_eq!(two::<Flag>(), 0, "done");
}
