//! Three threads that each go round twice: `../mcr.rs` with the bug taken out.
//!
//! All rounds are made under the lock.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

const ROUNDS: usize = 2;

#[derive(Default)]
struct Shared {
    x: AtomicU32,
    y: AtomicU32,
    lock: Mutex<()>,
}

impl Shared {
    fn set(&self, n: u8) {
        for _ in 0..ROUNDS {
            let _locked = self.lock.lock().unwrap();
            self.x.store(1, Ordering::SeqCst);
            for _ in 0..n {
                self.y.store(1, Ordering::SeqCst);
            }
        }
    }

    fn raise(&self) {
        for _ in 0..ROUNDS {
            let _locked = self.lock.lock().unwrap();
            self.x.store(0, Ordering::SeqCst);
            if self.x.load(Ordering::SeqCst) > 0 {
                let y = self.y.load(Ordering::SeqCst);
                self.y.store(y + 1, Ordering::SeqCst);
                self.x.store(2, Ordering::SeqCst);
            }
        }
    }

    fn check(&self) {
        for _ in 0..ROUNDS {
            let _locked = self.lock.lock().unwrap();
            if self.x.load(Ordering::SeqCst) > 1 {
                let y = self.y.load(Ordering::SeqCst);
                assert_ne!(y, 3, "the error is reached");
                self.y.store(2, Ordering::SeqCst);
            }
        }
    }
}

/// The example, with `n` writes of `y` a round.
pub fn motivating_example(n: u8) {
    let shared = Arc::new(Shared::default());
    let raiser = {
        let shared = Arc::clone(&shared);
        thread::spawn(move || shared.raise())
    };
    let checker = {
        let shared = Arc::clone(&shared);
        thread::spawn(move || shared.check())
    };
    shared.set(n);
    raiser.join().unwrap();
    checker.join().unwrap();
}

#[test]
fn one_write_a_round() {
    motivating_example(1);
}
