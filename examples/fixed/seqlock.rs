//! A sequence lock around a pair of coordinates: `../seqlock.rs` with the bug taken out.
//!
//! The reader makes sure that the sequence number is even, too.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

const ATTEMPTS: usize = 2;

#[derive(Default)]
struct Position {
    sequence: AtomicU32,
    x: AtomicU32,
    y: AtomicU32,
}

impl Position {
    fn move_to(&self, x: u32, y: u32) {
        self.sequence.fetch_add(1, Ordering::SeqCst);
        self.x.store(x, Ordering::SeqCst);
        self.y.store(y, Ordering::SeqCst);
        self.sequence.fetch_add(1, Ordering::SeqCst);
    }

    /// The coordinates, unless a writer is in the way at each attempt.
    fn get(&self) -> Option<(u32, u32)> {
        for _ in 0..ATTEMPTS {
            let before = self.sequence.load(Ordering::SeqCst);
            let x = self.x.load(Ordering::SeqCst);
            let y = self.y.load(Ordering::SeqCst);
            let after = self.sequence.load(Ordering::SeqCst);
            if before.is_multiple_of(2) && before == after {
                return Some((x, y));
            }
        }
        None
    }
}

#[test]
fn read_while_the_position_changes() {
    let position = Arc::new(Position::default());
    let reader = {
        let position = Arc::clone(&position);
        thread::spawn(move || {
            if let Some((x, y)) = position.get() {
                assert_eq!(x, y, "half of a move was read");
            }
        })
    };
    let writer = {
        let position = Arc::clone(&position);
        thread::spawn(move || position.move_to(5, 5))
    };
    reader.join().unwrap();
    writer.join().unwrap();
}
