//! Functions that wait for what they are given: a closure, a function, a table of conditions.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

static FLAG: AtomicBool = AtomicBool::new(false);
static VALUE: AtomicU32 = AtomicU32::new(0);

fn too_early() {
    FLAG.store(true, SeqCst);
    VALUE.store(7, SeqCst);
}

fn in_time() {
    VALUE.store(7, SeqCst);
    FLAG.store(true, SeqCst);
}

fn is_set() -> bool {
    FLAG.load(SeqCst)
}

fn beside(other: fn(), here: impl FnOnce()) {
    let t = thread::spawn(other);
    here();
    assert_eq!(VALUE.load(SeqCst), 7, "too early");
    t.join().unwrap();
}

fn wait_until(ready: impl Fn() -> bool) {
    while !ready() {
        thread::yield_now();
    }
}

fn wait_while<F>(what: &str, mut is: F)
where
    F: FnMut() -> bool,
{
    loop {
        if !is() {
            return;
        }
        println!("waiting for {what}");
        thread::sleep(Duration::from_millis(1));
    }
}

fn wait_by(ready: &dyn Fn() -> bool) {
    while !ready() {
        std::hint::spin_loop();
    }
}

fn wait_by_box(ready: Box<dyn Fn() -> bool>) {
    wait_by(&*ready)
}

fn wait_by_pointer(ready: fn() -> bool) {
    while !ready() {
        std::hint::spin_loop();
    }
}

fn holds(what: impl Fn(u32) -> bool, value: &AtomicU32) -> bool {
    what(value.load(SeqCst))
}

struct Cell {
    value: AtomicU32,
    list: Mutex<Vec<u32>>,
}

impl Cell {
    fn new() -> Arc<Self> {
        let value = AtomicU32::new(0);
        let list = Mutex::new(Vec::new());
        Arc::new(Self { value, list })
    }

    fn wait_for(&self, what: impl Fn(u32) -> bool) {
        while !holds(&what, &self.value) {
            thread::yield_now();
        }
    }

    fn wait_for_list(&self, mut what: impl FnMut(&mut Vec<u32>) -> bool) {
        loop {
            let mut list = self.list.lock().unwrap();
            if what(&mut list) {
                return;
            }
            drop(list);
            thread::yield_now();
        }
    }
}

/// Pauses longer and longer.
struct Backoff {
    step: std::cell::Cell<u32>,
}

impl Backoff {
    const SPINS: u32 = 4;

    fn new() -> Self {
        Self {
            step: std::cell::Cell::new(0),
        }
    }

    fn snooze(&self) {
        if self.step.get() < Self::SPINS {
            for _ in 0..1 << self.step.get() {
                std::hint::spin_loop();
            }
            self.step.set(self.step.get() + 1);
        } else {
            thread::yield_now();
        }
    }
}

fn wait_patiently(flag: &AtomicBool) {
    let backoff = Backoff::new();
    while !flag.load(SeqCst) {
        backoff.snooze();
    }
}

#[test]
fn passes_with_an_object_that_paces() {
    beside(in_time, || wait_patiently(&FLAG));
}

#[test]
fn fails_with_an_object_that_paces() {
    beside(too_early, || wait_patiently(&FLAG));
}

#[test]
fn passes_with_a_closure() {
    beside(in_time, || wait_until(|| FLAG.load(SeqCst)));
}

#[test]
fn fails_with_a_closure() {
    beside(too_early, || wait_until(|| FLAG.load(SeqCst)));
}

#[test]
fn passes_with_a_function() {
    beside(in_time, || wait_until(is_set));
}

#[test]
fn fails_with_a_function() {
    beside(too_early, || wait_by_pointer(is_set));
}

#[test]
fn passes_with_a_closure_that_is_held() {
    let flag = Arc::new(AtomicBool::new(false));
    let is_ready = || flag.load(SeqCst);
    let other = flag.clone();
    let t = thread::spawn(move || other.store(true, SeqCst));
    while !is_ready() {
        thread::yield_now();
    }
    wait_until(&is_ready);
    t.join().unwrap();
}

#[test]
fn passes_with_one_of_the_other_kind() {
    beside(in_time, || wait_while("the flag", || !FLAG.load(SeqCst)));
}

#[test]
fn fails_with_an_object() {
    beside(too_early, || wait_by(&|| FLAG.load(SeqCst)));
}

#[test]
fn passes_with_a_method() {
    let cell = Cell::new();
    let other = cell.clone();
    let t = thread::spawn(move || {
        other.value.store(1, SeqCst);
        other.value.store(3, SeqCst);
    });
    cell.wait_for(|value| value == 3);
    cell.wait_for(|value| value > 0);
    t.join().unwrap();
}

#[test]
fn fails_with_a_list() {
    let cell = Cell::new();
    let other = cell.clone();
    let t = thread::spawn(move || {
        other.list.lock().unwrap().push(1);
        other.list.lock().unwrap().push(2);
    });
    cell.wait_for_list(|list| !list.is_empty());
    assert_eq!(cell.list.lock().unwrap().len(), 2, "one is missing");
    t.join().unwrap();
}

#[test]
fn passes_where_the_closure_notes_what_is_new() {
    let cell = Cell::new();
    let other = cell.clone();
    let t = thread::spawn(move || {
        other.value.store(1, SeqCst);
        other.value.store(3, SeqCst);
    });
    let (mut last, mut seen) = (0, 0);
    wait_while("the end", || {
        let value = cell.value.load(SeqCst);
        if value > last {
            last = value;
            seen += 1;
        }
        value < 3
    });
    assert!(seen == 1 || seen == 2, "never");
    t.join().unwrap();
}

#[test]
fn passes_where_the_closure_counts() {
    let mut turns = 0;
    let t = thread::spawn(in_time);
    wait_while("the flag", || {
        turns += 1;
        turns < 4 && !FLAG.load(SeqCst)
    });
    assert!(turns < 5, "never");
    t.join().unwrap();
}

#[test]
fn fails_where_the_closure_counts() {
    let mut turns = 0;
    beside(in_time, || {
        wait_while("the flag", || {
            turns += 1;
            turns < 4 && !FLAG.load(SeqCst)
        });
    });
}

#[test]
fn passes_where_the_closure_only_counts() {
    let t = thread::spawn(in_time);
    let mut turns = 0;
    wait_while("nothing", || {
        turns += 1;
        turns < 4
    });
    t.join().unwrap();
    let mut tick = || {
        turns += 1;
        turns
    };
    while tick() < 7 {}
    assert_eq!(turns, 7, "never");
}

#[test]
fn fails_where_an_outer_loop_calls_one_that_counts() {
    let mut turns = 0;
    let mut once = || {
        turns += 1;
        turns > 3 || FLAG.load(SeqCst)
    };
    beside(in_time, || {
        while !once() {
            wait_until(|| true);
        }
    });
}

#[test]
fn livelocks_with_a_closure() {
    let t = thread::spawn(|| VALUE.store(7, SeqCst));
    wait_until(|| FLAG.load(SeqCst) && VALUE.load(SeqCst) == 7);
    t.join().unwrap();
}

#[test]
fn passes_with_a_box() {
    beside(in_time, || wait_by_box(Box::new(|| FLAG.load(SeqCst))));
}
