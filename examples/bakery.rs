//! Lamport's bakery, where customers draw numbers without saying that they do.
//!
//! Source: Lamport, *A New Solution of Dijkstra's Concurrent Programming Problem* (1974).
//!
//! The bug: to look for the largest number and to take the next one are two steps, and nobody waits for who is between
//! them. A customer can so come to the same number as one who is inside already, and be first by name.
//!
//! Threads: two customers. Two reads of the first see the other's writes: its number, and the count of those inside.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

const CUSTOMERS: usize = 2;

/// How often a customer looks whether another one is served before it gives up.
const PATIENCE: usize = 2;

#[derive(Default)]
struct Bakery {
    /// The number of each customer; 0 is none.
    numbers: [AtomicU32; CUSTOMERS],
    inside: AtomicU32,
}

impl Bakery {
    fn draw(&self, me: usize) -> u32 {
        let others = (0..CUSTOMERS).filter(|&other| other != me);
        let largest = others
            .map(|other| self.numbers[other].load(Ordering::SeqCst))
            .max();
        let number = largest.unwrap_or(0) + 1;
        self.numbers[me].store(number, Ordering::SeqCst);
        number
    }

    fn enter(&self, me: usize) -> bool {
        let number = self.draw(me);
        let mut others = (0..CUSTOMERS).filter(|&other| other != me);
        let first = others.all(|other| {
            (0..PATIENCE).any(|_| {
                let theirs = self.numbers[other].load(Ordering::SeqCst);
                let before = theirs == 0 || (number, me) < (theirs, other);
                if !before {
                    thread::yield_now();
                }
                before
            })
        });
        if !first {
            self.leave(me);
        }
        first
    }

    fn leave(&self, me: usize) {
        self.numbers[me].store(0, Ordering::SeqCst);
    }

    fn shop(&self, me: usize) {
        if self.enter(me) {
            let others = self.inside.fetch_add(1, Ordering::SeqCst);
            assert_eq!(others, 0, "two customers are served at once");
            self.inside.fetch_sub(1, Ordering::SeqCst);
            self.leave(me);
        }
    }
}

#[test]
fn two_customers() {
    let bakery = Arc::new(Bakery::default());
    let customers = [0, 1].map(|me| {
        let bakery = Arc::clone(&bakery);
        thread::spawn(move || bakery.shop(me))
    });
    for customer in customers {
        customer.join().unwrap();
    }
}
