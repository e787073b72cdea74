//! Successive over-relaxation of a grid by two threads: `../sor.rs` with the bug taken out.
//!
//! Both threads do the same: after each phase, each says so and waits for the other.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, RwLock};
use std::thread;

const COLUMNS: usize = 4;
/// Rows with the two at the edge, which stay as they are.
const ROWS: usize = 6;
/// The rows from here on are the lower thread's.
const BORDER: usize = 3;
const PHASES: usize = 6;
const OMEGA: f64 = 1.25;
/// How often a thread looks for its neighbour before it gives up.
const PATIENCE: usize = 2;

type Row = [f64; COLUMNS];

struct Grid {
    rows: [RwLock<Row>; ROWS],
    /// The phases that the upper and the lower thread have done.
    progress: [AtomicUsize; 2],
}

impl Grid {
    fn new() -> Self {
        let row = |i: usize| RwLock::new([1.0, 2.0, 3.0, 4.0].map(|x: f64| x * (i * i) as f64));
        Self {
            rows: std::array::from_fn(row),
            progress: Default::default(),
        }
    }

    fn row(&self, i: usize) -> Row {
        *self.rows[i].read().unwrap()
    }

    /// Relaxes the inner points of one row.
    fn relax(&self, i: usize) {
        let (above, below) = (self.row(i - 1), self.row(i + 1));
        let mut row = self.rows[i].write().unwrap();
        for j in 1..COLUMNS - 1 {
            let mean = (above[j] + below[j] + row[j - 1] + row[j + 1]) / 4.0;
            row[j] += OMEGA * (mean - row[j]);
        }
    }

    /// Waits until thread `neighbour` has done `phases`; false if it takes too long.
    fn wait_for(&self, neighbour: usize, phases: usize) -> bool {
        for _ in 0..PATIENCE {
            if self.progress[neighbour].load(Ordering::SeqCst) >= phases {
                return true;
            }
            thread::yield_now();
        }
        false
    }

    /// The part of thread `me`; false if the other one did not keep up.
    fn relax_half(&self, me: usize, rows: Range<usize>) -> bool {
        for phase in 0..PHASES {
            for i in rows.clone().filter(|i| i % 2 != phase % 2) {
                self.relax(i);
            }
            self.progress[me].store(phase + 1, Ordering::SeqCst);
            if !self.wait_for(1 - me, phase + 1) {
                return false;
            }
        }
        true
    }

    /// Relaxes the whole grid, with no other thread.
    fn relax_alone(&self) {
        for phase in 0..PHASES {
            for i in (1..ROWS - 1).filter(|i| i % 2 != phase % 2) {
                self.relax(i);
            }
        }
    }
}

#[test]
fn two_halves_of_a_grid() {
    let alone = Grid::new();
    alone.relax_alone();
    let reference: [Row; ROWS] = std::array::from_fn(|i| alone.row(i));
    let grid = Arc::new(Grid::new());
    let lower = {
        let grid = Arc::clone(&grid);
        thread::spawn(move || grid.relax_half(1, BORDER..ROWS - 1))
    };
    if grid.relax_half(0, 1..BORDER) {
        for (i, expected) in (1..).zip(&reference[1..BORDER]) {
            assert_eq!(grid.row(i), *expected, "row {i} is wrong");
        }
    }
    lower.join().unwrap();
}
