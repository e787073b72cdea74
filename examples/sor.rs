//! Successive over-relaxation of a grid by two threads, each with half of the rows.
//!
//! Source: the SOR benchmark of the Java Grande suite, with a bug put into its synchronization, as Razavi, Farzan and
//! Holzer (2012) did. Rows of one parity are relaxed in every phase, and read rows of the other parity. After each
//! phase a thread says so and waits for its neighbour; if that takes too long, it gives up.
//!
//! The bug: the lower thread does not wait for the upper one. It runs ahead, and the upper one relaxes its last row
//! against a row that is phases too new.
//!
//! Threads: the main thread, which has the upper rows and validates them, meets the one with the lower rows. Two reads
//! of the main thread see its writes: of its progress, and of the row next to the border.

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

    /// The main thread's part; false if the lower thread did not keep up.
    fn relax_upper(&self) -> bool {
        for phase in 0..PHASES {
            for i in (1..BORDER).filter(|i| i % 2 != phase % 2) {
                self.relax(i);
            }
            self.progress[0].store(phase + 1, Ordering::SeqCst);
            if !self.wait_for(1, phase + 1) {
                return false;
            }
        }
        true
    }

    fn relax_lower(&self) {
        for phase in 0..PHASES {
            for i in (BORDER..ROWS - 1).filter(|i| i % 2 != phase % 2) {
                self.relax(i);
            }
            self.progress[1].store(phase + 1, Ordering::SeqCst);
        }
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
        thread::spawn(move || grid.relax_lower())
    };
    if grid.relax_upper() {
        for (i, expected) in (1..).zip(&reference[1..BORDER]) {
            assert_eq!(grid.row(i), *expected, "row {i} is wrong");
        }
    }
    lower.join().unwrap();
}
