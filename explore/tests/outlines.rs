//! Searches that keep outlines of executions only, and make these again, against those that keep all of them.

mod long;
mod model;

use long::{Long, Shape};
use model::Model;
use model::generate::{FLAVOURS, longer_program, program};
use seqz_explore::{Counts, Executor, Odpor, Part, Promise, Search};

/// What a search did: the relations of its executions, in order, its counts, and all that it made.
fn walk(executor: &mut impl Executor, strategy: Odpor, most: u64) -> (Vec<u64>, Counts, u64) {
    let mut search = Search::new(strategy);
    let mut relations = Vec::new();
    let mut made = 0;
    while search.counts().executions < most {
        let run = search.step(executor).expect("models are deterministic");
        let Some(run) = run else {
            assert_eq!(search.promise(), Promise::Exhausted);
            break;
        };
        made += 1;
        if run.standing.own {
            relations.push(run.relation);
        }
    }
    (relations, search.counts(), made)
}

#[test]
fn what_is_made_again_changes_nothing() {
    let mut again = 0;
    for seed in 0..400 {
        let flavour = FLAVOURS[seed as usize % FLAVOURS.len()];
        let program = if seed % 3 == 0 {
            longer_program(seed, flavour)
        } else {
            program(seed, flavour)
        };
        let part = Part::new(seed as u32 % 2, 2).expect("a part");
        for (of, looks) in [(Part::WHOLE, 4096), (Part::WHOLE, 1), (part, 2)] {
            let make = || Odpor::part(of).looking_at(looks).taking_turns_of(3);
            let mut model = Model::new(&program);
            let all = walk(&mut model, make(), 2000);
            for most in [0, 20] {
                let some = walk(&mut model, make().keeping(most), 2000);
                assert_eq!((&some.0, some.1), (&all.0, all.1), "{program:?}");
                again += some.2 - all.2;
            }
        }
    }
    assert!(again > 10_000, "{again}");
}

#[test]
fn nor_in_long_executions() {
    for shape in [Shape::Racy, Shape::Locked, Shape::Read] {
        let mut program = Long::new(shape, 3, 400);
        let all = walk(&mut program, Odpor::new(), 300);
        let some = walk(&mut program, Odpor::new().keeping(5000), 300);
        assert_eq!((some.0, some.1), (all.0, all.1), "{shape:?}");
    }
}

/// As deep as a search goes, no execution is made again twice without one that is new in between.
#[test]
fn at_most_as_many_are_made_again_as_there_are() {
    for seed in 0..100 {
        let program = program(seed, FLAVOURS[seed as usize % FLAVOURS.len()]);
        let (_, counts, made) = walk(&mut Model::new(&program), Odpor::new().keeping(0), 2000);
        assert!(made <= 2 * counts.executions, "{made}: {counts:?}");
    }
}
