//! The limits of a price band: `../rwlock.rs` with the bug taken out.
//!
//! `width` takes both limits under one read guard.

use std::sync::{Arc, RwLock};
use std::thread;

#[derive(Clone, Copy)]
struct Limits {
    low: u32,
    high: u32,
}

struct Band {
    limits: RwLock<Limits>,
}

impl Band {
    fn move_to(&self, low: u32, high: u32) {
        *self.limits.write().unwrap() = Limits { low, high };
    }

    fn width(&self) -> u32 {
        let limits = self.limits.read().unwrap();
        limits.high - limits.low
    }
}

#[test]
fn width_while_the_band_moves() {
    let band = Arc::new(Band {
        limits: RwLock::new(Limits { low: 40, high: 50 }),
    });
    let moving = {
        let band = Arc::clone(&band);
        thread::spawn(move || band.move_to(20, 30))
    };
    assert_eq!(band.width(), 10, "the band has another width");
    moving.join().unwrap();
}
