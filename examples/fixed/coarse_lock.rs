//! Stock in a warehouse: `../coarse_lock.rs` with the bug taken out.
//!
//! `take` looks and takes in one critical section.

use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

struct Warehouse {
    lock: Mutex<()>,
    nails: AtomicI32,
    screws: AtomicI32,
}

impl Warehouse {
    /// Takes a box, if there is one.
    fn take(&self, stock: &AtomicI32) -> bool {
        let _locked = self.lock.lock().unwrap();
        let boxes = stock.load(Ordering::Relaxed);
        if boxes == 0 {
            return false;
        }
        stock.store(boxes - 1, Ordering::Relaxed);
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
