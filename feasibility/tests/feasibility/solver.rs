//! Z3 against the grid and against all interleavings.

use crate::random::{self, Owned, Random, Shape};
use crate::{brute, logs, small};
use seqz_feasibility::{Feasibility, ProgressGrid, Verdict, Z3, Z3Incremental, validate};
use std::time::Duration;

/// Z3's verdict, its interleaving replayed.
fn z3(owned: &Owned) -> bool {
    let log = owned.log();
    match Z3::with_time_limit(Duration::from_secs(60)).check(&log) {
        Verdict::Feasible(interleaving) => {
            if let Err(why) = validate(&log, &interleaving) {
                panic!("{why}\n{interleaving:?}\n{owned:#?}");
            }
            true
        }
        Verdict::Infeasible => false,
        Verdict::Unknown(why) => panic!("Z3 does not know: {why}"),
    }
}

#[test]
fn z3_agrees_with_all_interleavings() {
    let mut random = Random::new(7);
    let mut grid = ProgressGrid::new();
    let mut count = [0; 2];
    for at in 0..logs(2_500) {
        let owned = small(&mut random);
        let expected = brute::feasible(&owned.log());
        count[usize::from(expected)] += 1;
        assert_eq!(z3(&owned), expected, "log {at}: {owned:#?}");
        assert_eq!(
            grid.feasible(&owned.log()),
            expected,
            "log {at}: {owned:#?}"
        );
    }
    println!("{} infeasible, {} feasible", count[0], count[1]);
}

#[test]
fn z3_agrees_with_the_grid_on_larger_logs() {
    let mut random = Random::new(8);
    let mut grid = ProgressGrid::new();
    for (events, number) in [(30, 200), (64, 50), (100, 40)] {
        let mut count = [0; 2];
        for at in 0..logs(number) {
            let shape = Shape {
                events: (events, events),
                values: 4 + random.below(20),
                locks: random.below(4),
            };
            let damage = random.below(3);
            let owned = random::run(&mut random, shape, damage);
            let verdict = z3(&owned);
            count[usize::from(verdict)] += 1;
            assert_eq!(
                grid.feasible(&owned.log()),
                verdict,
                "{events} events, log {at}: {owned:#?}"
            );
        }
        println!(
            "{events} events: {} infeasible, {} feasible",
            count[0], count[1]
        );
    }
}

#[test]
fn z3_used_incrementally_agrees() {
    let mut random = Random::new(9);
    let mut grid = ProgressGrid::new();
    for logic in [None, Some("QF_IDL")] {
        for at in 0..logs(300) {
            let owned = small(&mut random);
            let mut incremental = Z3Incremental::new(&owned.interfering, logic);
            for (done, &event) in owned.under_test.iter().enumerate() {
                let mut prefix = owned.clone();
                prefix.under_test.truncate(done + 1);
                let expected = grid.feasible(&prefix.log());
                assert_eq!(
                    incremental.would_be_feasible(event),
                    Some(expected),
                    "log {at}: {prefix:#?}"
                );
                incremental.push(event);
                assert_eq!(incremental.feasible(), Some(expected));
            }
        }
    }
}

#[test]
fn running_out_of_time_is_no_verdict() {
    let mut random = Random::new(10);
    let shape = Shape {
        events: (300, 300),
        values: 30,
        locks: 4,
    };
    let owned = random::run(&mut random, shape, 0);
    match Z3::with_time_limit(Duration::from_millis(1)).check(&owned.log()) {
        Verdict::Unknown(why) => assert!(!why.is_empty()),
        Verdict::Feasible(interleaving) => {
            validate(&owned.log(), &interleaving).expect("a witness is an interleaving");
        }
        Verdict::Infeasible => panic!("the log is that of a run"),
    }
}
