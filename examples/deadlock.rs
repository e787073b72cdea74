//! Two accounts and two transfers in opposite directions, each of which takes both locks.
//!
//! Source: folklore; the repair of `account.rs` that first comes to mind.
//!
//! The bug: `transfer` takes the lock of the account that it takes money from first, so that the two can each hold one
//! lock and wait for the other.
//!
//! Threads: the two transfers. No read has to see the other thread's write.

use std::sync::{Arc, Mutex};
use std::thread;

type Account = Mutex<i64>;

fn transfer(from: &Account, to: &Account, amount: i64) {
    let mut source = from.lock().unwrap();
    let mut target = to.lock().unwrap();
    *source -= amount;
    *target += amount;
}

#[test]
fn opposite_transfers() {
    let rent = Arc::new(Account::new(100));
    let food = Arc::new(Account::new(100));
    let there = {
        let (rent, food) = (Arc::clone(&rent), Arc::clone(&food));
        thread::spawn(move || transfer(&rent, &food, 10))
    };
    let back = {
        let (rent, food) = (Arc::clone(&rent), Arc::clone(&food));
        thread::spawn(move || transfer(&food, &rent, 20))
    };
    there.join().unwrap();
    back.join().unwrap();
    assert_eq!(*rent.lock().unwrap(), 110, "the rent is wrong");
    assert_eq!(*food.lock().unwrap(), 90, "the food money is wrong");
}
