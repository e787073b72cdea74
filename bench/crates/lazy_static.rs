//! Two threads come to a static at once, as in the crate's documentation.

#[macro_use]
extern crate lazy_static;

use std::collections::HashMap;
use std::sync::Mutex;
use std::thread;

lazy_static! {
    static ref SQUARES: Mutex<HashMap<u32, u32>> = Mutex::new(HashMap::from([(1, 1)]));
}

#[test]
fn two_threads_add() {
    let other = thread::spawn(|| SQUARES.lock().unwrap().insert(2, 4));
    SQUARES.lock().unwrap().insert(3, 9);
    other.join().unwrap();
    assert_eq!(SQUARES.lock().unwrap().len(), 3);
}
