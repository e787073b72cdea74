//! Whatever is pushed, taken back and asked in between, the grid answers as one that sees the log for the first time.

use crate::random::{self, Owned, Random, Shape};
use crate::{logs, small};
use seqz_feasibility::log::{Log, Op, TEvent};
use seqz_feasibility::{Grid, validate};

/// By the bits of the grid alone, which a witness is read off.
fn from_scratch(under_test: &[TEvent], interfering: &[Op]) -> bool {
    let mut grid = Grid::in_bits();
    grid.begin(interfering);
    under_test.iter().for_each(|&event| grid.push(event));
    grid.witness().is_some()
}

/// Goes to the log's end with detours: other events that are asked for or pushed and taken back, and steps back.
fn wander(random: &mut Random, grid: &mut Grid, owned: &Owned) {
    grid.begin(&owned.interfering);
    let mut done: Vec<TEvent> = Vec::new();
    while done.len() < owned.under_test.len() {
        let event = owned.under_test[done.len()];
        match random.below(10) {
            0..4 => {
                grid.push(event);
                done.push(event);
            }
            4 => {
                let keep = done.len() - random.below(done.len().min(4) + 1);
                grid.truncate(keep);
                done.truncate(keep);
            }
            5 => assert_eq!(
                grid.feasible(),
                from_scratch(&done, &owned.interfering),
                "{done:?} {owned:#?}"
            ),
            6 => {
                let cut = random.below(owned.interfering.len() + 1);
                let mut fresh = Grid::in_bits();
                fresh.begin(&owned.interfering);
                done.iter().for_each(|&event| fresh.push(event));
                assert_eq!(grid.reachable_at(cut), fresh.witness_at(cut).is_some());
            }
            7 => sources_are_those_that_would_be_feasible(grid, event.op, owned),
            _ => {
                let event = detour(random, event, owned);
                let expected = {
                    let mut done = done.clone();
                    done.push(event);
                    from_scratch(&done, &owned.interfering)
                };
                assert_eq!(
                    grid.would_be_feasible(event),
                    expected,
                    "{done:?} then {event:?} {owned:#?}"
                );
            }
        }
        assert_eq!(grid.len(), done.len());
    }
    let log = Log {
        under_test: &done,
        interfering: &owned.interfering,
    };
    match grid.witness() {
        Some(interleaving) => validate(&log, &interleaving).expect("a witness is an interleaving"),
        None => assert!(!from_scratch(&done, &owned.interfering)),
    }
}

fn sources_are_those_that_would_be_feasible(grid: &mut Grid, op: Op, owned: &Owned) {
    let mut found = vec![7];
    grid.sources(op, &mut found);
    let expected: Vec<u32> = (0..owned.interfering.len())
        .filter(|&at| random::pairs(op, owned.interfering[at]))
        .map(|at| at as u32)
        .filter(|&at| grid.would_be_feasible(TEvent::non_local(op, at)))
        .collect();
    assert_eq!(found, expected, "{op:?} {owned:#?}");
}

/// The event, or the same one with another source.
fn detour(random: &mut Random, event: TEvent, owned: &Owned) -> TEvent {
    let source = random.below(owned.interfering.len().max(1));
    match owned.interfering.get(source) {
        Some(&with) if random::pairs(event.op, with) => TEvent::non_local(event.op, source as u32),
        _ => event,
    }
}

#[test]
fn detours_change_nothing_in_small_logs() {
    for mut grid in [Grid::new(), Grid::in_runs()] {
        let mut random = Random::new(3);
        for _ in 0..logs(20_000) {
            let owned = small(&mut random);
            wander(&mut random, &mut grid, &owned);
        }
    }
}

#[test]
fn detours_change_nothing_in_logs_of_many_words() {
    for mut grid in [Grid::new(), Grid::in_bits(), Grid::in_runs()] {
        let mut random = Random::new(4);
        for _ in 0..logs(150) {
            let shape = Shape {
                events: (40, 55 + random.below(90)),
                values: 3 + random.below(20),
                locks: random.below(3),
            };
            let owned = random::run(&mut random, shape, 1);
            wander(&mut random, &mut grid, &owned);
        }
    }
}

#[test]
fn nothing_changes_where_runs_of_columns_turn_out_to_cost_more() {
    let mut random = Random::new(6);
    let mut grid = Grid::new();
    for _ in 0..logs(10) {
        let shape = Shape {
            events: (300, 400),
            values: 60,
            locks: 3,
        };
        let owned = random::run(&mut random, shape, 1);
        let mut bits = Grid::in_bits();
        grid.begin(&owned.interfering);
        bits.begin(&owned.interfering);
        for &event in &owned.under_test {
            let mut sources = [Vec::new(), Vec::new()];
            for (grid, sources) in [&mut grid, &mut bits].into_iter().zip(&mut sources) {
                grid.sources(event.op, sources);
                grid.push(event);
            }
            assert_eq!(sources[0], sources[1]);
            assert_eq!(grid.feasible(), bits.feasible());
        }
        for cut in 0..=owned.interfering.len() {
            assert_eq!(grid.reachable_at(cut), bits.reachable_at(cut));
        }
        assert_eq!(grid.witness().is_some(), bits.witness().is_some());
    }
}

#[test]
fn more_lanes_than_are_kept() {
    let mut random = Random::new(5);
    let mut grid = Grid::in_bits();
    for _ in 0..logs(10) {
        let shape = Shape {
            events: (30, 300),
            values: 8,
            locks: 1,
        };
        let owned = random::run(&mut random, shape, 0);
        grid.begin(&owned.interfering);
        let mut fresh = Grid::in_runs();
        for &event in &owned.under_test {
            grid.push(event);
            for cut in 0..=owned.interfering.len() {
                let _ = grid.reachable_at(cut);
            }
        }
        fresh.begin(&owned.interfering);
        owned.under_test.iter().for_each(|&event| fresh.push(event));
        for cut in (0..=owned.interfering.len()).rev() {
            assert_eq!(grid.reachable_at(cut), fresh.reachable_at(cut));
        }
        assert!(grid.feasible());
    }
}
