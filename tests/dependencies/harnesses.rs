//! Two threads each, which meet in a dependency.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

fn twice(body: impl Fn() + Sync) {
    thread::scope(|scope| {
        scope.spawn(&body);
        scope.spawn(&body);
    });
}

#[test]
fn good_renamed() {
    let n = lock::Lock::new(0);
    twice(|| n.with(|n| *n += 1));
    n.with(|n| assert_eq!(*n, 2));
}

#[test]
fn bad_renamed() {
    let n = lock::Lock::new(0);
    twice(|| n.with_copy(|n| n + 1));
    n.with(|n| assert_eq!(*n, 2));
}

#[test]
fn good_by_another() {
    let n = lock::Lock::new(0);
    twice(|| outer::add(&n));
    n.with(|n| assert_eq!(*n, 2));
}

#[test]
fn bad_feature() {
    let t = thread::spawn(featured::count);
    let here = featured::count();
    assert_ne!(t.join().unwrap(), here);
}

#[test]
fn good_macro() {
    assert_eq!(featured::NAME, "of a file");
    let seen = AtomicUsize::new(0);
    twice(|| drop(seen.fetch_add(featured::once!(1) as usize, SeqCst)));
    assert_eq!(seen.load(SeqCst), 2);
}

#[test]
fn good_2015() {
    let all = of2015::shared();
    let (to, from) = of2015::jobs::worker();
    let at = all.clone();
    let job = move || {
        at.lock().unwrap().push(1);
        7
    };
    to.send(Box::new(job)).unwrap();
    let at = all.clone();
    thread::spawn(move || at.lock().unwrap().push(2));
    assert_eq!(from.recv().unwrap(), 7);
    assert_ne!(all.lock().unwrap().len(), 0);
}

#[test]
fn bad_2015() {
    let flag = of2015::flag();
    let there = flag.clone();
    let t = thread::spawn(move || there.store(true, SeqCst));
    assert!(!flag.load(SeqCst));
    t.join().unwrap();
}

#[test]
fn good_bare() {
    let tokens = bare::Tokens::new(1);
    let taken = AtomicUsize::new(0);
    twice(|| drop(taken.fetch_add(usize::from(tokens.take()), SeqCst)));
    assert_eq!(taken.load(SeqCst), 1);
    assert_eq!(tokens.all(), [0]);
}

#[test]
fn bad_bare() {
    let tokens = bare::Tokens::new(1);
    twice(|| drop(tokens.take_badly()));
    assert_eq!(tokens.all(), [0]);
}

#[test]
fn good_unfit() {
    let shared = unfit::shared();
    twice(|| drop(shared.count()));
    assert_eq!(shared.count(), 3);
}

fn within(lock: impl Fn(&dyn Fn()) + Sync) {
    let (inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    twice(|| {
        lock(&|| {
            most.fetch_max(inside.fetch_add(1, SeqCst) + 1, SeqCst);
            inside.fetch_sub(1, SeqCst);
        });
    });
    assert_eq!(most.load(SeqCst), 1);
}

#[test]
fn good_tickets() {
    let lock = tickets::Tickets::default();
    within(|body| lock.with(body));
}

#[test]
fn bad_tickets() {
    let lock = old_tickets::Tickets::default();
    within(|body| lock.with(body));
}

static FLAG: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);
static TURNS: AtomicUsize = AtomicUsize::new(0);

struct Sets;

impl waits::Relax for Sets {
    fn relax() {
        TURNS.fetch_add(1, SeqCst);
        FLAG.store(true, SeqCst);
    }
}

#[test]
fn good_wait_that_does_something() {
    twice(|| waits::wait::<Sets>(&FLAG));
    assert!(TURNS.load(SeqCst) > 0);
}

#[test]
fn good_question_that_does_something() {
    twice(|| waits::until(|| TURNS.fetch_add(1, SeqCst) > 1));
    assert!(TURNS.load(SeqCst) > 2);
}

#[test]
fn good_wait() {
    twice(|| {
        TURNS.fetch_add(1, SeqCst);
        FLAG.store(true, SeqCst);
        waits::wait::<waits::Spin>(&FLAG);
    });
    assert_eq!(TURNS.load(SeqCst), 2);
}

#[test]
fn bad_crate_that_a_module_declares() {
    let count = of2015::declared::Count::default();
    twice(|| drop(count.next()));
    assert_eq!(count.next(), 2);
}

#[test]
fn bad_crate_that_the_root_has() {
    let count = of2015::through::Count::default();
    twice(|| drop(count.next()));
    assert_eq!(count.next(), 2);
}
