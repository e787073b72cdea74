//! Values under locks that change without being borrowed mutably: what changes them is out of sight of whoever holds the lock.

use std::cell::{Cell, RefCell};
use std::sync::{Arc, Mutex};
use std::thread;

fn numbers() -> impl Fn() -> u32 + Send {
    let count = Cell::new(0);
    move || {
        count.set(count.get() + 1);
        count.get()
    }
}

fn boxed() -> Box<dyn Fn() -> u32 + Send> {
    Box::new(numbers())
}

// doubtful for `check`: copies of `{{closure}}`, whose `Clone` may make another value
#[test]
fn fails_after_a_call_of_the_same_closure() {
    let m = Arc::new(Mutex::new(numbers()));
    let n = m.clone();
    let t = thread::spawn(move || {
        (n.lock().unwrap())();
    });
    let first = (m.lock().unwrap())();
    t.join().unwrap();
    assert_eq!(first, 1, "another one came before");
}

// doubtful for `check`: copies of `{{closure}}`, whose `Clone` may make another value
#[test]
fn passes_with_numbers_of_a_closure() {
    let m = Arc::new(Mutex::new(numbers()));
    let n = m.clone();
    let t = thread::spawn(move || (n.lock().unwrap())());
    let a = (m.lock().unwrap())();
    let b = t.join().unwrap();
    assert_ne!(a, b, "never");
    assert_eq!(a + b, 3, "never");
}

// not for `check`: so it has to be `Clone`
#[test]
fn fails_after_a_call_of_a_boxed_closure() {
    let m = Arc::new(Mutex::new(boxed()));
    let n = m.clone();
    let t = thread::spawn(move || {
        (n.lock().unwrap())();
    });
    let first = (m.lock().unwrap())();
    t.join().unwrap();
    assert_eq!(first, 1, "another one came before");
}

trait Kind {
    type Slot: Default + Send;
    fn put(slot: &Self::Slot, x: u32) -> usize;
}

struct Rows;
impl Kind for Rows {
    type Slot = RefCell<Vec<u32>>;
    fn put(slot: &Self::Slot, x: u32) -> usize {
        slot.borrow_mut().push(x);
        slot.borrow().len()
    }
}

struct Store<T: Kind>(Mutex<T::Slot>);

fn beside<T: Kind>() -> usize {
    let store: Store<T> = Store(Default::default());
    thread::scope(|scope| {
        scope.spawn(|| {
            T::put(&store.0.lock().unwrap(), 1);
        });
        T::put(&store.0.lock().unwrap(), 2)
    })
}

// doubtful for `check`: a `RefCell<Vec<u32>>` in which there may be a `Cell`
#[test]
fn fails_after_a_row_of_an_associated_type() {
    assert_eq!(beside::<Rows>(), 1, "another one came before");
}
