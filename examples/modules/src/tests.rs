//! The harness.

use std::thread;

use crate::registry::log_in;

#[test]
fn two_logins() {
    let ada = thread::spawn(|| log_in("ada"));
    let bob = thread::spawn(|| log_in("bob"));
    ada.join().unwrap();
    bob.join().unwrap();
}
