use std::sync::Arc;
use std::thread;

use parking_lot::RwLock;

#[test]
fn a_reader_waits_behind_an_upgradable_one() {
    let lock = Arc::new(RwLock::new(0));
    let upgradable = lock.upgradable_read();
    let other = {
        let lock = Arc::clone(&lock);
        thread::spawn(move || drop(lock.upgradable_read()))
    };
    let reader = {
        let lock = Arc::clone(&lock);
        thread::spawn(move || drop(lock.read()))
    };
    reader.join().unwrap();
    drop(upgradable);
    other.join().unwrap();
}
