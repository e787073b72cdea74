//! Values under locks whose clones are not all that the values are.

use std::cell::RefCell;
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;
use std::time::Instant;

fn two<T>(value: T) -> (Arc<T>, Arc<T>) {
    let one = Arc::new(value);
    (one.clone(), one)
}

#[test]
fn fails_by_the_room_that_the_other_makes() {
    let (m, n) = two(Mutex::new(Vec::with_capacity(1)));
    let t = thread::spawn(move || n.lock().unwrap().reserve(100));
    {
        let mut g = m.lock().unwrap();
        assert!(g.capacity() <= 50, "much room");
        g.push(1_u8);
    }
    t.join().unwrap();
}

#[test]
fn passes_with_the_room_that_there_is() {
    let (m, n) = two(Mutex::new(Vec::with_capacity(10)));
    let t = thread::spawn(move || n.lock().unwrap().push(5));
    let room = m.lock().unwrap().capacity();
    t.join().unwrap();
    assert!(room >= 10, "never");
    assert!(m.lock().unwrap().capacity() >= 10, "never");
}

#[derive(Default)]
struct Ring {
    rows: Vec<Option<String>>,
    lost: u32,
}

impl Ring {
    fn with_room() -> Self {
        let rows = Vec::with_capacity(8);
        Self { rows, lost: 0 }
    }
    fn put(&mut self, name: &str) {
        if self.rows.len() == self.rows.capacity() {
            self.lost += 1;
        } else {
            self.rows.push(Some(name.to_owned()));
        }
    }
}

#[test]
fn passes_with_a_ring() {
    let (m, n) = two(Mutex::new(Ring::with_room()));
    let t = thread::spawn(move || n.lock().unwrap().put("a"));
    m.lock().unwrap().put("b");
    t.join().unwrap();
    assert_eq!(m.lock().unwrap().lost, 0, "never");
}

#[test]
fn fails_with_two_in_a_ring() {
    let (m, n) = two(Mutex::new(Ring::with_room()));
    let t = thread::spawn(move || n.lock().unwrap().put("a"));
    {
        let mut g = m.lock().unwrap();
        if !g.rows.is_empty() {
            g.put("b");
            assert_ne!(g.rows.len(), 2, "both are in");
        }
    }
    t.join().unwrap();
}

struct Table {
    rows: Vec<u32>,
    sum: Option<u32>,
}

impl Clone for Table {
    fn clone(&self) -> Self {
        let rows = self.rows.clone();
        Self { rows, sum: None }
    }
}

impl Table {
    fn sum(&mut self) -> u32 {
        let rows = &self.rows;
        *self.sum.get_or_insert_with(|| rows.iter().sum())
    }
}

// not for `check`: its `Clone` makes another value
#[test]
fn fails_by_an_old_sum() {
    let rows = vec![1];
    let (m, n) = two(Mutex::new(Table { rows, sum: None }));
    let t = thread::spawn(move || n.lock().unwrap().sum());
    m.lock().unwrap().rows.push(2);
    let sum = m.lock().unwrap().sum();
    t.join().unwrap();
    assert_eq!(sum, 3, "the sum is old");
}

struct Account(i32);

impl Clone for Account {
    fn clone(&self) -> Self {
        Self(0)
    }
}

// not for `check`: its `Clone` makes another value
#[test]
fn fails_where_a_clone_has_nothing() {
    let (m, n) = two(Mutex::new(Account(5)));
    let take = |account: &Mutex<Account>| {
        if account.lock().unwrap().0 >= 5 {
            account.lock().unwrap().0 -= 5;
        }
    };
    let t = thread::spawn(move || take(&n));
    take(&m);
    t.join().unwrap();
    assert!(m.lock().unwrap().0 >= 0, "taken twice");
}

struct Key(u32);

impl Clone for Key {
    fn clone(&self) -> Self {
        unimplemented!("never: keys are not to be copied")
    }
}

// not for `check`: its `Clone` panics
#[test]
fn passes_where_nobody_clones() {
    let (m, n) = two(RwLock::new(Key(1)));
    let t = thread::spawn(move || n.write().unwrap().0 += 1);
    let key = m.read().unwrap().0;
    t.join().unwrap();
    assert!(key <= 2 && m.read().unwrap().0 == 2, "never");
}

static CLONES: AtomicUsize = AtomicUsize::new(0);

struct Counted(u32);

impl Clone for Counted {
    fn clone(&self) -> Self {
        CLONES.fetch_add(1, SeqCst);
        Self(self.0)
    }
}

// not for `check`: its `Clone` uses what threads share
#[test]
fn passes_where_clones_are_counted() {
    let (m, n) = two(Mutex::new(Counted(1)));
    let t = thread::spawn(move || n.lock().unwrap().0 += 1);
    let seen = m.lock().unwrap().clone();
    t.join().unwrap();
    assert!(seen.0 == 1 || seen.0 == 2, "never");
    assert_eq!(CLONES.load(SeqCst), 1, "never");
}

fn key(of: &str) -> String {
    let mut key = String::with_capacity(100);
    key.push_str(of);
    key
}

#[test]
fn fails_with_keys_that_have_room() {
    let (m, n) = two(Mutex::new(BTreeMap::from([(key("a"), vec![key("x")])])));
    let t = thread::spawn(move || {
        n.lock().unwrap().insert(key("b"), Vec::new());
        n.lock().unwrap().remove("a");
    });
    let seen = m.lock().unwrap().len();
    t.join().unwrap();
    assert!(seen < 2, "both were there");
}

#[test]
fn passes_with_sets_whose_parts_have_room() {
    let (m, n) = two(Mutex::new((
        HashSet::from([key("a")]),
        LinkedList::from([key("b")]),
    )));
    let t = thread::spawn(move || {
        let mut g = n.lock().unwrap();
        g.0.insert(key("c"));
        g.1.push_back(key("d"));
    });
    let (set, list) = {
        let g = m.lock().unwrap();
        (g.0.len(), g.1.len())
    };
    t.join().unwrap();
    assert_eq!(set, list, "never");
}

/// Clones of a call can't be compared with the call.
struct Call {
    by: Box<dyn Fn(u32) -> u32 + Send>,
    kept: Option<u32>,
}

impl Call {
    fn new() -> Self {
        let by = Box::new(|n| n + 1);
        Self { by, kept: None }
    }
    fn call(&mut self) -> u32 {
        let by = &self.by;
        *self.kept.get_or_insert_with(|| by(0))
    }
}

impl Clone for Call {
    fn clone(&self) -> Self {
        Self::new()
    }
}

// doubtful for `check`: copies of `Call`, whose `Clone` may make another value
#[test]
fn fails_by_what_a_call_keeps() {
    let (m, n) = two(Mutex::new(Call::new()));
    m.lock().unwrap().kept = Some(7);
    let t = thread::spawn(move || n.lock().unwrap().call());
    let first = m.lock().unwrap().call();
    let second = t.join().unwrap();
    assert_ne!((first, second), (7, 7), "both were kept");
}

// doubtful for `check`: copies of `Vec<(Call, u32)>`, whose `Clone` may make another value
#[test]
fn fails_by_a_call_among_others() {
    let (m, n) = two(Mutex::new(vec![(Call::new(), 1)]));
    m.lock().unwrap()[0].0.kept = Some(7);
    let t = thread::spawn(move || {
        let mut g = n.lock().unwrap();
        g[0].1 = g[0].0.call();
    });
    m.lock().unwrap()[0].1 += 1;
    t.join().unwrap();
    assert_eq!(m.lock().unwrap()[0].1, 8, "the order is seen");
}

/// Derived, of a part that is not.
#[derive(Clone)]
struct Holder {
    inner: Option<Call>,
    n: u32,
}

// doubtful for `check`: copies of `Holder`, whose `Clone` may make another value
#[test]
fn passes_with_a_call_in_a_holder() {
    let inner = Some(Call::new());
    let (m, n) = two(Mutex::new(Holder { inner, n: 0 }));
    let t = thread::spawn(move || n.lock().unwrap().n += 1);
    m.lock().unwrap().n += 1;
    t.join().unwrap();
    let mut g = m.lock().unwrap();
    assert_eq!(g.n + g.inner.as_mut().unwrap().call(), 3, "never");
}

#[test]
fn passes_where_a_holder_holds_no_call() {
    let (m, n) = two(Mutex::new(Holder { inner: None, n: 0 }));
    let t = thread::spawn(move || n.lock().unwrap().n += 1);
    m.lock().unwrap().n += 1;
    t.join().unwrap();
    assert_eq!(m.lock().unwrap().n, 2, "never");
}

/// As a table of callbacks mostly is.
#[derive(Clone, Default)]
struct Hooks {
    calls: Vec<Arc<dyn Fn(u32) -> u32 + Send + Sync>>,
    by_name: HashMap<String, Arc<dyn Fn() + Send + Sync>>,
    seen: u32,
}

#[test]
fn fails_by_a_hook_that_is_not_there_yet() {
    let (m, n) = two(Mutex::new(Hooks::default()));
    let t = thread::spawn(move || {
        let mut g = n.lock().unwrap();
        g.calls.push(Arc::new(|n| n + 1));
        g.by_name.insert("a".into(), Arc::new(|| ()));
    });
    {
        let mut g = m.lock().unwrap();
        g.seen = g.calls.iter().map(|call| call(1)).sum();
    }
    t.join().unwrap();
    assert_ne!(m.lock().unwrap().seen, 0, "not there yet");
}

/// Types that have no hash, and whose clones are known nevertheless.
#[derive(Clone)]
struct Job<F> {
    since: Instant,
    path: PathBuf,
    of: thread::Thread,
    how: F,
    state: RefCell<Result<Box<[u8]>, std::num::ParseIntError>>,
}

fn job<F>(how: F) -> Job<F> {
    let (since, path, of) = (Instant::now(), PathBuf::from("a/b"), thread::current());
    let state = RefCell::new(Ok(Box::from([1])));
    Job { since, path, of, how, state }
}

// doubtful for `check`: in which there may be a `Cell`
#[test]
fn fails_with_jobs_in_all_kinds_of_queues() {
    let (m, n) = two(Mutex::new((
        VecDeque::from([job(|n: u32| n + 1)]),
        BinaryHeap::from([(1, PathBuf::new())]),
        BTreeMap::from([((1_u8, PathBuf::new()), Some(Instant::now()))]),
    )));
    let t = thread::spawn(move || {
        let mut g = n.lock().unwrap();
        g.0.pop_front();
        g.1.push((2, PathBuf::from("c")));
        g.2.clear();
    });
    let (has, most) = {
        let g = m.lock().unwrap();
        let has = g.0.front().map(|job| (job.how)(1) + u32::from(job.state.borrow().is_ok()));
        (has, g.1.peek().unwrap().0)
    };
    t.join().unwrap();
    assert!((has, most) == (Some(3), 1), "the job is gone");
}

#[test]
fn passes_with_what_a_path_has_room_for() {
    let (m, n) = two(Mutex::new((PathBuf::with_capacity(64), Instant::now())));
    let t = thread::spawn(move || n.lock().unwrap().0.push("a"));
    let room = m.lock().unwrap().0.capacity();
    t.join().unwrap();
    assert!(room >= 64 && m.lock().unwrap().0.capacity() >= 64, "never");
}

/// Bits, which need no `Clone` to be copied.
#[derive(Copy)]
struct Level(u32);

impl Clone for Level {
    fn clone(&self) -> Self {
        Self(0)
    }
}

#[test]
fn fails_by_two_that_drain_a_level() {
    let (m, n) = two(Mutex::new((Level(5), None::<Instant>)));
    let drain = |level: &Mutex<(Level, Option<Instant>)>| {
        if level.lock().unwrap().0.0 >= 5 {
            let mut g = level.lock().unwrap();
            g.0.0 = g.0.0.checked_sub(5).expect("drained twice");
        }
    };
    let t = thread::spawn(move || drain(&n));
    drain(&m);
    t.join().unwrap();
}

#[test]
fn fails_by_a_level_beside_what_is_cloned() {
    let (m, n) = two(Mutex::new(vec![(Level(5), String::new())]));
    let drain = |level: &Mutex<Vec<(Level, String)>>| {
        if level.lock().unwrap()[0].0.0 >= 5 {
            let mut g = level.lock().unwrap();
            let left = g[0].0.0.checked_sub(5);
            g[0].0.0 = left.expect("drained twice");
        }
    };
    let t = thread::spawn(move || drain(&n));
    drain(&m);
    t.join().unwrap();
}

/// The parameter needs no size, and the type is cloned only where it has one.
#[derive(Clone, Debug, PartialEq)]
struct Headed<T: ?Sized> {
    head: u32,
    rest: T,
}

#[test]
fn passes_by_a_parameter_that_needs_no_size() {
    let (m, n) = two(Mutex::new(Headed { head: 0, rest: 1_u8 }));
    let t = thread::spawn(move || n.lock().unwrap().head += 1);
    m.lock().unwrap().head += 1;
    t.join().unwrap();
    assert_eq!(*m.lock().unwrap(), Headed { head: 2, rest: 1 });
}
