//! Feasibility held against all interleavings, against an obvious grid, and (feature `z3`) against Z3.

mod brute;
mod exact;
mod incremental;
mod large;
mod many;
mod paper;
mod random;
mod slow;
#[cfg(feature = "z3")]
mod solver;

use random::{Owned, Random, Shape};

/// How many random logs: `SEQZ_LOGS` is a factor on what is usual.
fn logs(usual: usize) -> usize {
    let factor = std::env::var("SEQZ_LOGS")
        .ok()
        .and_then(|factor| factor.parse().ok())
        .unwrap_or(1);
    usual * factor
}

/// A small log. Most have a non-local read: without one, T alone is an interleaving.
fn small(random: &mut Random) -> Owned {
    loop {
        let shape = Shape {
            events: (3 + random.below(8), 2 + random.below(8)),
            values: 1 + random.below(3),
            locks: random.below(3),
        };
        let owned = if random.percent(75) {
            random::arbitrary(random, shape)
        } else {
            let damage = random.below(3);
            random::run(random, shape, damage)
        };
        let coupled = owned.under_test.iter().any(|event| event.source.is_some());
        if coupled || random.percent(3) {
            return owned;
        }
    }
}
