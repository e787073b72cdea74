//! What dependencies may do, a harness each.
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

static N: AtomicUsize = AtomicUsize::new(0);

#[test]
fn atomic() {
    let c = Arc::new(counter::Counter::default());
    let d = c.clone();
    let t = thread::spawn(move || d.add());
    c.add();
    t.join().unwrap();
}

/// Blocks the one thread that there is.
#[test]
fn lock() {
    let l = Arc::new(hidden::Lock::default());
    let m = l.clone();
    let t = thread::spawn(move || m.with(|| drop(N.fetch_add(1, SeqCst))));
    l.with(|| drop(N.fetch_add(1, SeqCst)));
    t.join().unwrap();
}

#[test]
fn channel() {
    let (give, take) = hidden::channel();
    let t = thread::spawn(move || {
        N.store(1, SeqCst);
        give.give(7);
    });
    assert_eq!(take.take(), 7);
    t.join().unwrap();
}

/// Right, though both threads see one value.
#[test]
fn thread_local() {
    let work = || {
        alias::add();
        N.fetch_add(1, SeqCst);
        assert_eq!(alias::get(), 1, "somebody else's");
    };
    let t = thread::spawn(work);
    work();
    t.join().unwrap();
}

#[test]
fn of_a_dependency() {
    let t = thread::spawn(outer::touch);
    outer::touch();
    t.join().unwrap();
}

#[test]
fn by_a_macro() {
    counter::global!(COUNT);
    let t = thread::spawn(|| drop(COUNT.lock().unwrap()));
    t.join().unwrap();
}

mod methods {
    use hidden::Extension;
    pub fn call(n: u32) -> u32 {
        n.extended()
    }
}

#[test]
fn by_a_trait() {
    let t = thread::spawn(|| methods::call(1));
    t.join().unwrap();
}

#[test]
fn followed() {
    let t = thread::spawn(|| plain::double(N.fetch_add(1, SeqCst)));
    plain::double(N.fetch_add(1, SeqCst));
    t.join().unwrap();
}

#[test]
fn followed_without_any() {
    let t = thread::spawn(|| drop(N.fetch_add(1, SeqCst)));
    N.fetch_add(1, SeqCst);
    t.join().unwrap();
}
