//! Stock in a warehouse, with one lock for all of it.
//!
//! Source: the paper on the lazy happens-before relation, whose case is coarse locking: critical sections that touch
//! different data may come in any order, and all orders come to the same.
//!
//! The bug: `take` looks at the stock in one critical section, and takes from it in the next one.
//!
//! Threads: two that take nails, of which there is one box, and one that takes screws. Where the latter's critical
//! sections are among the others makes no difference.

use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

struct Warehouse {
    lock: Mutex<()>,
    nails: AtomicI32,
    screws: AtomicI32,
}

impl Warehouse {
    /// How many boxes there are.
    fn look(&self, stock: &AtomicI32) -> i32 {
        let _locked = self.lock.lock().unwrap();
        stock.load(Ordering::Relaxed)
    }

    /// Takes a box, if there is one.
    fn take(&self, stock: &AtomicI32) -> bool {
        if self.look(stock) == 0 {
            return false;
        }
        let _locked = self.lock.lock().unwrap();
        let left = stock.load(Ordering::Relaxed) - 1;
        assert!(left >= 0, "a box is taken twice");
        stock.store(left, Ordering::Relaxed);
        true
    }
}

#[test]
fn nails_and_screws() {
    let warehouse = Arc::new(Warehouse {
        lock: Mutex::new(()),
        nails: AtomicI32::new(1),
        screws: AtomicI32::new(5),
    });
    let carpenters = [(); 2].map(|()| {
        let warehouse = Arc::clone(&warehouse);
        thread::spawn(move || warehouse.take(&warehouse.nails))
    });
    let mechanic = {
        let warehouse = Arc::clone(&warehouse);
        thread::spawn(move || (0..2).all(|_| warehouse.take(&warehouse.screws)))
    };
    for carpenter in carpenters {
        carpenter.join().unwrap();
    }
    assert!(mechanic.join().unwrap(), "there are screws enough");
}
