//! Bank accounts, each with its lock, and a transfer that takes only one of the two locks.
//!
//! Source: the Account benchmark of Razavi, Farzan and Holzer (2012): "*transfer* acquires a lock on the account
//! transferring money without acquiring the corresponding lock on the target account".
//!
//! The bug: `transfer` changes the balance of `to` without the lock of `to`, so that whoever holds that lock sees the
//! balance change under its hands.
//!
//! Threads: `withdraw` from the savings meets a `transfer` to them. One read of `withdraw` sees a write of `transfer`.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

struct Account {
    /// Whoever changes `balance` holds it.
    lock: Mutex<()>,
    balance: AtomicI64,
}

impl Account {
    fn open(balance: i64) -> Arc<Self> {
        Arc::new(Self {
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
        let _locked = self.lock.lock().unwrap();
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
    let wages = Account::open(100);
    let savings = Account::open(40);
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
}
