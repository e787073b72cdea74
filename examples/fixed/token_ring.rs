//! A ring of three stations: `../token_ring.rs` with the bug taken out.
//!
//! Whoever passes the token takes it all the way round under one lock, whichever station starts.

use std::sync::{Arc, Mutex};
use std::thread;

const STATIONS: usize = 3;

#[derive(Clone, Default)]
struct Ring {
    numbers: [u32; STATIONS],
}

impl Ring {
    fn pass(&mut self, station: usize) {
        let number = self.numbers[station] + 1;
        for next in station..station + STATIONS {
            self.numbers[next % STATIONS] = number;
        }
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
