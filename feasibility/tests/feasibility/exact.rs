//! Small logs: the grid against all interleavings.

use crate::random::Random;
use crate::{brute, logs, slow, small};
use seqz_feasibility::{Feasibility, Grid, ProgressGrid, Verdict, validate};

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
    assert!(count.iter().all(|&n| n > logs(10_000)), "{count:?}");
}

#[test]
fn every_prefix_of_the_interfering_thread_agrees_with_all_interleavings() {
    every_prefix_agrees(Grid::new());
}

#[test]
fn so_it_does_in_runs_of_columns() {
    every_prefix_agrees(Grid::in_runs());
}

fn every_prefix_agrees(mut grid: Grid) {
    let mut random = Random::new(2);
    for at in 0..logs(20_000) {
        let owned = small(&mut random);
        let log = owned.log();
        grid.begin(log.interfering);
        log.under_test.iter().for_each(|&event| grid.push(event));
        let all = brute::reachable(&log);
        assert_eq!(slow::reachable(&log), all, "log {at}: {owned:#?}");
        for (cut, &expected) in all.iter().enumerate() {
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
