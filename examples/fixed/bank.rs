//! A bank: `../bank.rs` with the bug taken out.
//!
//! `transfer` adds the money under the lock, in one step.

use std::sync::{Arc, Mutex};
use std::thread;

const OPENING: i64 = 100;
const PAID_IN: i64 = 30;
const SENT: i64 = 20;

#[derive(Clone)]
struct Account(Arc<Mutex<i64>>);

impl Account {
    fn open() -> Self {
        Self(Arc::new(Mutex::new(OPENING)))
    }

    fn balance(&self) -> i64 {
        *self.0.lock().unwrap()
    }

    fn pay_in(&self, amount: i64) {
        *self.0.lock().unwrap() += amount;
    }

    fn transfer(&self, to: &Self, amount: i64) {
        *self.0.lock().unwrap() -= amount;
        to.pay_in(amount);
    }
}

fn customers<const N: usize>() {
    let accounts = [(); N].map(|()| Account::open());
    let customers: Vec<_> = (0..N)
        .map(|i| {
            let own = accounts[i].clone();
            let next = accounts[(i + 1) % N].clone();
            thread::spawn(move || {
                own.pay_in(PAID_IN);
                own.transfer(&next, SENT);
            })
        })
        .collect();
    for customer in customers {
        customer.join().unwrap();
    }
    let all: i64 = accounts.iter().map(Account::balance).sum();
    assert_eq!(all, N as i64 * (OPENING + PAID_IN), "money is lost");
}

#[test]
fn three_customers() {
    customers::<3>();
}

#[test]
fn four_customers() {
    customers::<4>();
}
