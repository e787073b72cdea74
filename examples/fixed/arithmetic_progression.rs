//! The sum of 1 to n: `../arithmetic_progression.rs` with the bug taken out.
//!
//! The one that adds stops when all numbers have been handed over and none lies there.

use std::sync::{Arc, Condvar, Mutex};
use std::thread;

const LAST: u32 = 3;

#[derive(Clone, Default)]
struct Place {
    number: Option<u32>,
    all_handed_over: bool,
}

#[derive(Default)]
struct Hand {
    place: Mutex<Place>,
    changed: Condvar,
}

impl Hand {
    fn hand_over(&self, number: u32) {
        let mut place = self.place.lock().unwrap();
        while place.number.is_some() {
            place = self.changed.wait(place).unwrap();
        }
        place.number = Some(number);
        self.changed.notify_one();
    }

    fn end(&self) {
        self.place.lock().unwrap().all_handed_over = true;
        self.changed.notify_one();
    }

    /// The next number, until there are no more.
    fn take(&self) -> Option<u32> {
        let mut place = self.place.lock().unwrap();
        loop {
            if let Some(number) = place.number.take() {
                self.changed.notify_one();
                return Some(number);
            }
            if place.all_handed_over {
                return None;
            }
            place = self.changed.wait(place).unwrap();
        }
    }
}

#[test]
fn one_to_three() {
    let hand = Arc::new(Hand::default());
    let adding = {
        let hand = Arc::clone(&hand);
        thread::spawn(move || std::iter::from_fn(|| hand.take()).sum::<u32>())
    };
    for number in 1..=LAST {
        hand.hand_over(number);
    }
    hand.end();
    let sum = adding.join().unwrap();
    assert_eq!(sum, LAST * (LAST + 1) / 2, "a number is left out");
}
