//! Two accounts and two transfers in opposite directions: `../deadlock.rs` with the bug taken out.
//!
//! Every transfer takes the lock of the account with the smaller number first.

use std::sync::{Arc, Mutex};
use std::thread;

struct Account {
    number: u32,
    balance: Mutex<i64>,
}

impl Account {
    fn open(number: u32, balance: i64) -> Arc<Self> {
        Arc::new(Self {
            number,
            balance: Mutex::new(balance),
        })
    }
}

fn transfer(from: &Account, to: &Account, amount: i64) {
    if from.number < to.number {
        let mut source = from.balance.lock().unwrap();
        let mut target = to.balance.lock().unwrap();
        *source -= amount;
        *target += amount;
    } else {
        let mut target = to.balance.lock().unwrap();
        let mut source = from.balance.lock().unwrap();
        *source -= amount;
        *target += amount;
    }
}

#[test]
fn opposite_transfers() {
    let rent = Account::open(1, 100);
    let food = Account::open(2, 100);
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
    assert_eq!(*rent.balance.lock().unwrap(), 110, "the rent is wrong");
    assert_eq!(*food.balance.lock().unwrap(), 90, "the food money is wrong");
}
