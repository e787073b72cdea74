//! Larger logs, with rows of one, two and more words: the grid against the obvious one.

use crate::random::{self, Random, Shape};
use crate::{logs, slow};
use seqz_feasibility::{Feasibility, Grid, ProgressGrid, Verdict, validate};

#[test]
fn the_grid_agrees_with_the_obvious_one() {
    let mut random = Random::new(6);
    let mut engine = ProgressGrid::new();
    let mut grid = Grid::new();
    for (events, number) in [
        (30, 600),
        (63, 150),
        (64, 150),
        (65, 100),
        (100, 60),
        (140, 20),
    ] {
        let mut count = [0; 2];
        for at in 0..logs(number) {
            let shape = Shape {
                events: (events, events),
                values: 2 + random.below(24),
                locks: random.below(4),
            };
            let damage = random.below(3);
            let owned = random::run(&mut random, shape, damage);
            let log = owned.log();
            let expected = slow::reachable(&log);
            let feasible = expected.contains(&true);
            count[usize::from(feasible)] += 1;
            assert!(
                feasible || damage > 0,
                "{events} events, log {at}: {owned:#?}"
            );
            match engine.check(&log) {
                Verdict::Feasible(interleaving) => {
                    assert!(feasible, "{events} events, log {at}: {owned:#?}");
                    validate(&log, &interleaving).expect("a witness is an interleaving");
                }
                _ => assert!(!feasible, "{events} events, log {at}: {owned:#?}"),
            }
            grid.begin(log.interfering);
            log.under_test.iter().for_each(|&event| grid.push(event));
            let all: Vec<bool> = (0..expected.len())
                .map(|cut| grid.reachable_at(cut))
                .collect();
            assert_eq!(all, expected, "{events} events, log {at}: {owned:#?}");
        }
        println!(
            "{events} events: {} infeasible, {} feasible",
            count[0], count[1]
        );
        assert!(count.iter().all(|&n| n > logs(number) / 10), "{count:?}");
    }
}
