//! Two threads borrow a cell: to read both may, and to change it one may, if no other thread has it.

use std::sync::Arc;
use std::thread;

use atomic_refcell::AtomicRefCell;

#[test]
fn two_threads_read() {
    let cell = Arc::new(AtomicRefCell::new(1));
    let theirs = cell.clone();
    let other = thread::spawn(move || *theirs.borrow());
    let own = *cell.borrow();
    assert_eq!(other.join().unwrap(), own);
    *cell.borrow_mut() += 1;
    assert_eq!(*cell.borrow(), 2);
}

#[test]
fn two_threads_change_it_if_they_may() {
    let cell = Arc::new(AtomicRefCell::new(0));
    let theirs = cell.clone();
    let add = |cell: &AtomicRefCell<u32>| match cell.try_borrow_mut() {
        Ok(mut value) => {
            *value += 1;
            1
        }
        Err(_) => 0,
    };
    let other = thread::spawn(move || add(&theirs));
    let added = add(&cell) + other.join().unwrap();
    assert_eq!(*cell.borrow(), added);
    assert_ne!(added, 0);
}
