//! Values under locks whose clones are not all that the values are.

use std::collections::{BTreeMap, HashSet, LinkedList};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;

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
