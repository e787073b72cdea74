//! Bank accounts, each with its lock: `../account.rs` with the bug taken out.
//!
//! `transfer` takes both locks, the one of the account with the smaller number first, so that two transfers in
//! opposite directions cannot block each other.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

struct Account {
    number: u32,
    /// Whoever changes `balance` holds it.
    lock: Mutex<()>,
    balance: AtomicI64,
}

impl Account {
    fn open(number: u32, balance: i64) -> Arc<Self> {
        Arc::new(Self {
            number,
            lock: Mutex::new(()),
            balance: AtomicI64::new(balance),
        })
    }

    /// Takes `amount` out; false if there is not so much.
    fn withdraw(&self, amount: i64) -> bool {
        let _locked = self.lock.lock().unwrap();
        let before = self.balance.load(Ordering::Relaxed);
        if before < amount {
            return false;
        }
        self.balance.store(before - amount, Ordering::Relaxed);
        let after = self.balance.load(Ordering::Relaxed);
        assert_eq!(
            after,
            before - amount,
            "the balance of a locked account has changed"
        );
        true
    }

    /// Moves `amount` from this account to another; false if there is not so much.
    fn transfer(&self, to: &Self, amount: i64) -> bool {
        let (first, second) = if self.number < to.number {
            (self, to)
        } else {
            (to, self)
        };
        let _first_locked = first.lock.lock().unwrap();
        let _second_locked = second.lock.lock().unwrap();
        let before = self.balance.load(Ordering::Relaxed);
        if before < amount {
            return false;
        }
        self.balance.store(before - amount, Ordering::Relaxed);
        let target = to.balance.load(Ordering::Relaxed);
        to.balance.store(target + amount, Ordering::Relaxed);
        true
    }
}

#[test]
fn transfer_during_a_withdrawal() {
    let wages = Account::open(1, 100);
    let savings = Account::open(2, 40);
    let saving = {
        let (wages, savings) = (Arc::clone(&wages), Arc::clone(&savings));
        thread::spawn(move || wages.transfer(&savings, 25))
    };
    let spending = {
        let savings = Arc::clone(&savings);
        thread::spawn(move || savings.withdraw(30))
    };
    assert!(saving.join().unwrap(), "the wages cover the transfer");
    assert!(spending.join().unwrap(), "the savings cover the withdrawal");
    let total = wages.balance.load(Ordering::Relaxed) + savings.balance.load(Ordering::Relaxed);
    assert_eq!(total, 110, "money was lost or made");
}
