//! Feasibility held against all interleavings, against an obvious grid, and (feature `z3`) against Z3.

mod brute;
mod random;

use random::{Owned, Random, Shape};
use seqz_runtime::feasibility::{Feasibility, Grid, ProgressGrid, Verdict, validate};

/// How many random logs: more with `SEQZ_LOGS=n` (a factor).
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

#[test]
fn the_grid_agrees_with_all_interleavings() {
    let mut random = Random::new(1);
    let mut engine = ProgressGrid::new();
    let mut count = [0; 2];
    for at in 0..logs(50_000) {
        let owned = small(&mut random);
        let log = owned.log();
        let expected = brute::feasible(&log);
        count[usize::from(expected)] += 1;
        match engine.check(&log) {
            Verdict::Feasible(interleaving) => {
                assert!(expected, "log {at} is not feasible: {owned:#?}");
                if let Err(why) = validate(&log, &interleaving) {
                    panic!("log {at}: {why}\n{interleaving:?}\n{owned:#?}");
                }
            }
            Verdict::Infeasible => assert!(!expected, "log {at} is feasible: {owned:#?}"),
            Verdict::Unknown(why) => panic!("the grid always knows, but: {why}"),
        }
    }
    println!("{} infeasible, {} feasible", count[0], count[1]);
    assert!(count[0] > 10_000 && count[1] > 10_000, "{count:?}");
}

#[test]
fn every_prefix_of_the_interfering_thread_agrees_with_all_interleavings() {
    let mut random = Random::new(2);
    let mut grid = Grid::new();
    for at in 0..logs(20_000) {
        let owned = small(&mut random);
        let log = owned.log();
        grid.begin(log.interfering);
        log.under_test.iter().for_each(|&event| grid.push(event));
        for (cut, &expected) in brute::reachable(&log).iter().enumerate() {
            assert_eq!(
                grid.reachable_at(cut),
                expected,
                "log {at}, cut {cut}: {owned:#?}"
            );
            match grid.witness_at(cut) {
                Some(interleaving) => {
                    assert!(expected);
                    assert_eq!(interleaving.cut(), cut);
                    validate(&log, &interleaving).expect("a witness is an interleaving");
                }
                None => assert!(!expected),
            }
        }
    }
}
