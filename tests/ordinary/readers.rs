//! Who reads a second time while another one waits to write waits for ever, as std leaves it open who is first.

use std::sync::{Arc, RwLock};
use std::thread;

static LOCK: RwLock<u32> = RwLock::new(0);

fn nested() -> u32 {
    *LOCK.read().unwrap()
}

fn beside_a_writer(read: impl FnOnce()) {
    let t = thread::spawn(|| *LOCK.write().unwrap() += 1);
    read();
    t.join().unwrap();
}

#[test]
fn deadlocks_with_a_static() {
    beside_a_writer(|| {
        let first = LOCK.read().unwrap();
        assert!(nested() >= *first, "never");
    });
}

struct Tree {
    nodes: RwLock<Vec<u32>>,
}

impl Tree {
    fn len(&self) -> usize {
        self.nodes.read().unwrap().len()
    }
    fn last(&self) -> Option<u32> {
        let nodes = self.nodes.read().unwrap();
        if self.len() > 0 {
            nodes.last().copied()
        } else {
            None
        }
    }
    fn push(&self, n: u32) {
        self.nodes.write().unwrap().push(n);
    }
}

#[test]
fn deadlocks_in_a_method_that_calls_another() {
    let tree = Arc::new(Tree {
        nodes: RwLock::new(vec![1]),
    });
    let other = tree.clone();
    let t = thread::spawn(move || other.push(2));
    assert!(tree.last().is_some(), "never");
    t.join().unwrap();
}

#[test]
fn deadlocks_in_a_closure_over_the_values() {
    let m = RwLock::new(vec![1, 2]);
    thread::scope(|s| {
        s.spawn(|| m.write().unwrap().push(3));
        let sum: u32 = m
            .read()
            .unwrap()
            .iter()
            .map(|n| n * m.read().unwrap()[0])
            .sum();
        assert!(sum >= 3, "never");
    });
}

#[test]
fn deadlocks_with_two_readers_and_a_writer() {
    let a = thread::spawn(|| {
        let first = LOCK.read().unwrap();
        assert_eq!(*first, nested(), "never");
    });
    let b = thread::spawn(|| *LOCK.write().unwrap() += 1);
    let _ = nested();
    a.join().unwrap();
    b.join().unwrap();
}

#[test]
fn deadlocks_always_by_writing_under_a_read() {
    beside_a_writer(|| {
        let seen = LOCK.read().unwrap();
        *LOCK.write().unwrap() += *seen;
    });
}

#[test]
fn deadlocks_with_a_read_in_the_head_of_a_match() {
    beside_a_writer(|| match *LOCK.read().unwrap() {
        0 => drop(LOCK.read().unwrap()),
        _ => {}
    });
}

#[test]
fn deadlocks_with_two_locks_crosswise() {
    static OTHER: RwLock<u32> = RwLock::new(0);
    let t = thread::spawn(|| {
        let _a = LOCK.write().unwrap();
        let _b = OTHER.read().unwrap();
    });
    {
        let _b = OTHER.write().unwrap();
        let _a = LOCK.read().unwrap();
    }
    t.join().unwrap();
}

#[test]
fn passes_with_readers_only() {
    let t = thread::spawn(|| {
        let a = LOCK.read().unwrap();
        *a + nested()
    });
    {
        let a = LOCK.read().unwrap();
        assert_eq!(*a, nested(), "never");
    }
    assert_eq!(t.join().unwrap(), 0, "never");
}

#[test]
fn passes_with_a_read_that_is_dropped_first() {
    beside_a_writer(|| {
        let first = LOCK.read().unwrap();
        let n = *first;
        drop(first);
        assert!(nested() >= n, "never");
    });
}

#[test]
fn passes_with_the_second_read_after_the_join() {
    let t = thread::spawn(|| *LOCK.write().unwrap() += 1);
    t.join().unwrap();
    let a = LOCK.read().unwrap();
    assert_eq!(*a + nested(), 2, "never");
}

#[test]
fn passes_with_a_copy() {
    beside_a_writer(|| {
        let n = *LOCK.read().unwrap();
        if n == 0 {
            *LOCK.write().unwrap() += 1;
        }
    });
}

#[test]
fn fails_between_the_read_and_the_write() {
    fn inc() {
        let n = *LOCK.read().unwrap();
        *LOCK.write().unwrap() = n + 1;
    }
    let t = thread::spawn(inc);
    inc();
    t.join().unwrap();
    assert_eq!(*LOCK.read().unwrap(), 2, "lost");
}

fn two<T>(make: T) -> (Arc<T>, Arc<T>) {
    let one = Arc::new(make);
    (one.clone(), one)
}

#[test]
fn deadlocks_with_a_second_read() {
    let m = two(RwLock::new(0));
    let t = thread::spawn(move || *m.1.write().unwrap() += 1);
    {
        let first = m.0.read().unwrap();
        assert!(*m.0.read().unwrap() == *first);
    }
    t.join().unwrap();
}

#[test]
fn deadlocks_in_what_it_calls() {
    let m = two(RwLock::new(vec![1]));
    let sum = |of: &RwLock<Vec<u32>>| of.read().unwrap().iter().sum::<u32>();
    let t = thread::spawn(move || m.1.write().unwrap().push(2));
    {
        let held = m.0.read().unwrap();
        assert!(held.len() as u32 <= sum(&m.0));
    }
    t.join().unwrap();
}

#[test]
fn deadlocks_in_one_statement() {
    let m = two(RwLock::new(0));
    let t = thread::spawn(move || *m.1.write().unwrap() += 1);
    let (first, second) = (*m.0.read().unwrap(), *m.0.read().unwrap());
    t.join().unwrap();
    assert!(first <= second);
}

#[test]
fn passes_with_one_read_after_another() {
    let m = two(RwLock::new(0));
    let t = thread::spawn(move || *m.1.write().unwrap() += 1);
    let first = *m.0.read().unwrap();
    let second = *m.0.read().unwrap();
    t.join().unwrap();
    assert!(first <= second);
}

// open: a `try_read` may fail where a writer waits
#[test]
fn passes_with_an_attempt() {
    let m = two(RwLock::new(0));
    let t = thread::spawn(move || *m.1.write().unwrap() += 1);
    {
        let first = m.0.read().unwrap();
        if let Ok(second) = m.0.try_read() {
            assert_eq!(*first, *second);
        }
    }
    t.join().unwrap();
}
