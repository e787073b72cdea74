//! The limits of a price band, read one at a time while both are moved.
//!
//! Source: folklore; a torn read, of one value through two guards.
//!
//! The bug: `width` takes a read guard for each limit, and the writer comes between the two.
//!
//! Threads: the reader, which is the rest of the test, meets the writer. One read of the reader, the second guard's,
//! sees the write.

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

    fn low(&self) -> u32 {
        self.limits.read().unwrap().low
    }

    fn high(&self) -> u32 {
        self.limits.read().unwrap().high
    }

    fn width(&self) -> u32 {
        let low = self.low();
        self.high() - low
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
