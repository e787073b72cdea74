//! Fourier coefficients computed by two threads: `../series.rs` with the bug taken out.
//!
//! The worker says that a coefficient is done after it has stored it.

use std::f64::consts::PI;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

const COEFFICIENTS: usize = 3;
const STEPS: u32 = 64;

/// The coefficients a₀/2, (a₁, b₁) and (a₂, b₂) to three digits.
const REFERENCE: [(f64, f64); COEFFICIENTS] = [(2.882, 0.0), (1.134, -1.882), (0.362, -1.165)];

#[derive(Default)]
struct Series {
    coefficients: [Mutex<(f64, f64)>; COEFFICIENTS],
    /// How many of the upper half are done.
    done: AtomicUsize,
}

impl Series {
    /// Computes and stores coefficient `n`.
    fn compute(&self, n: usize) {
        let value = if n == 0 {
            (integrate(|_| 1.0) / 2.0, 0.0)
        } else {
            let omega = PI * n as f64;
            (
                integrate(|x| (omega * x).cos()),
                integrate(|x| (omega * x).sin()),
            )
        };
        *self.coefficients[n].lock().unwrap() = value;
    }

    fn compute_upper_half(&self) {
        for n in 1..COEFFICIENTS {
            self.compute(n);
            self.done.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Holds coefficient `n` against the reference.
    fn validate(&self, n: usize) {
        let (a, b) = *self.coefficients[n].lock().unwrap();
        let (reference_a, reference_b) = REFERENCE[n];
        let error = (a - reference_a).abs().max((b - reference_b).abs());
        assert!(error < 0.01, "coefficient {n} is off by {error:.3}");
    }
}

/// The integral of `(x + 1)^x` times `weight` over `[0, 2]`, by the trapezoidal rule.
fn integrate(weight: impl Fn(f64) -> f64) -> f64 {
    let width = 2.0 / f64::from(STEPS);
    let at = |x: f64| (x + 1.0).powf(x) * weight(x);
    let inner: f64 = (1..STEPS).map(|step| at(width * f64::from(step))).sum();
    width * (inner + (at(0.0) + at(2.0)) / 2.0)
}

#[test]
fn validate_what_is_done() {
    let series = Arc::new(Series::default());
    let worker = {
        let series = Arc::clone(&series);
        thread::spawn(move || series.compute_upper_half())
    };
    series.compute(0);
    series.validate(0);
    for n in 1..=series.done.load(Ordering::SeqCst) {
        series.validate(n);
    }
    worker.join().unwrap();
    for n in 1..COEFFICIENTS {
        series.validate(n);
    }
}
