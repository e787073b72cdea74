//! Three stations of a ring, each of which takes the token's number over from the one before.
//!
//! Source: `token_ring_bad` of SCTBench, after the benchmarks of ESBMC.
//!
//! The bug: each station works under the lock, but none waits until it is its turn, and the fourth thread looks at all
//! three numbers at any time.
//!
//! Threads: three stations and one that compares.

use std::sync::{Arc, Mutex};
use std::thread;

const STATIONS: usize = 3;

#[derive(Clone, Default)]
struct Ring {
    numbers: [u32; STATIONS],
}

impl Ring {
    fn pass(&mut self, station: usize) {
        self.numbers[station] = match station {
            0 => self.numbers[STATIONS - 1] + 1,
            _ => self.numbers[station - 1],
        };
    }

    fn round_is_complete(&self) -> bool {
        self.numbers.iter().all(|number| *number == self.numbers[0])
    }
}

#[test]
fn one_round() {
    let ring = Arc::new(Mutex::new(Ring::default()));
    let stations: Vec<_> = (0..STATIONS)
        .map(|station| {
            let ring = Arc::clone(&ring);
            thread::spawn(move || ring.lock().unwrap().pass(station))
        })
        .collect();
    let ring = ring.lock().unwrap().clone();
    assert!(ring.round_is_complete(), "a station has an old token");
    for station in stations {
        station.join().unwrap();
    }
}
