//! Three threads that each go round twice, and an error that needs both rounds of all three.
//!
//! Source: Figure 2 of Huang, *Stateless Model Checking Concurrent Programs with Maximal Causality Reduction* (2015).
//!
//! The bug: only some of the accesses to `x` and `y` are made under the lock. Each round of `raise` needs one of `set`
//! between its two accesses to `x`, and the second has to find in `y` what the first round of `check` writes there
//! after the last write of `set`. So `check` sees the 2 that the first round of `raise` has left in `x`, and then waits
//! with its write until the other two have begun to go round again.
//!
//! Threads: the main thread sets, one raises and one checks. `n`, how often a round of `set` writes the same value to
//! `y`, makes no difference to what can happen, but to how many interleavings there are.

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
            let locked = self.lock.lock().unwrap();
            self.x.store(0, Ordering::SeqCst);
            drop(locked);
            if self.x.load(Ordering::SeqCst) > 0 {
                let y = self.y.load(Ordering::SeqCst);
                self.y.store(y + 1, Ordering::SeqCst);
                self.x.store(2, Ordering::SeqCst);
            }
        }
    }

    fn check(&self) {
        for _ in 0..ROUNDS {
            if self.x.load(Ordering::SeqCst) > 1 {
                if self.y.load(Ordering::SeqCst) == 3 {
                    panic!("the error is reached");
                }
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
