//! Each row of the catalogue of strategies against the search that it makes.

mod model;

use std::collections::BTreeSet;

use model::{Expr, Model, Op, Program};
use seqz_explore::catalogue::{self, Config, Ends, Entry, STRATEGIES, Trait};
use seqz_explore::{AnySearch, Counts, Part, Promise};

/// Each of two threads reads, and writes one more than it has read.
fn increments() -> Program {
    let thread = vec![Op::Load(0, 0), Op::Store(0, Expr::Plus(0, 1))];
    Program::of(vec![thread; 2])
}

/// Runs a search of the program to its end, or for a number of executions. Returns whether the search came to its end.
fn run<'p>(
    entry: &Entry,
    config: Config,
    program: &'p Program,
    most: u32,
) -> (bool, Box<dyn AnySearch<Model<'p>>>) {
    let mut search = catalogue::search(entry, config).unwrap();
    let mut model = Model::new(program);
    for _ in 0..most {
        let ran = search.step(&mut model);
        if ran.expect("programs are deterministic").is_none() {
            return (true, search);
        }
    }
    (false, search)
}

#[test]
fn names_are_unique_and_found() {
    let names: BTreeSet<_> = STRATEGIES.iter().map(|entry| entry.name).collect();
    assert_eq!(names.len(), STRATEGIES.len());
    for entry in STRATEGIES {
        assert_eq!(catalogue::named(entry.name), Some(entry));
    }
    assert_eq!(catalogue::default().name, catalogue::DEFAULT);
    // A name without a row is not taken for another name.
    for name in ["", "Dfs", "odpor ", "dpo", "icb-dpor"] {
        assert_eq!(catalogue::named(name), None, "{name}");
    }
}

#[test]
fn each_strategy_ends_as_its_row_says() {
    let program = increments();
    for entry in STRATEGIES {
        let samples = entry.has(Trait::Samples);
        assert_eq!(samples, entry.ends == Ends::Sampled, "{entry:?}");
        let (is_over, search) = run(entry, Config::default(), &program, 1000);
        assert_eq!(is_over, !samples, "{entry:?}");
        assert!(
            entry.ends.is_kept_by(search.promise()),
            "{entry:?}: {:?}",
            search.promise()
        );
        assert!(!entry.ends.is_kept_by(Promise::Unfinished), "{entry:?}");
        assert_eq!(search.counts().failures, 0, "{entry:?}");
        if !samples && entry.ends != Ends::Heuristic {
            // No update is lost, or that of the one, or that of the other.
            assert_eq!(search.counts().states, 3, "{entry:?}");
        }
    }
}

#[test]
fn a_bound_is_the_default_of_the_row_where_none_is_given() {
    let program = Program::of(vec![
        vec![
            Op::Load(0, 0),
            Op::Store(0, Expr::Plus(0, 1)),
            Op::Load(0, 0)
        ];
        2
    ]);
    let count = |entry, bound| -> (Counts, Promise) {
        let config = Config {
            bound,
            ..Config::default()
        };
        let (_, search) = run(entry, config, &program, 100);
        (search.counts(), search.promise())
    };
    for entry in STRATEGIES {
        let usual = count(entry, None);
        match entry.bound {
            Some(bound) => {
                assert_eq!(count(entry, bound.default), usual, "{entry:?}");
                assert_ne!(count(entry, Some(0)), usual, "{entry:?}");
            }
            None => assert_eq!(count(entry, Some(0)), usual, "{entry:?}"),
        }
    }
}

#[test]
fn those_that_divide_make_parts_and_the_others_the_whole() {
    let program = increments();
    for entry in STRATEGIES {
        let own = |part| {
            let config = Config {
                part,
                ..Config::default()
            };
            let (_, search) = run(entry, config, &program, 100);
            search.counts().executions
        };
        let parts = [0, 1].map(|index| own(Part::new(index, 2).unwrap()));
        let whole = own(Part::WHOLE);
        let sum = parts.iter().sum::<u64>();
        if entry.has(Trait::Divides) {
            assert_eq!(sum, whole, "{entry:?}");
        } else {
            assert_eq!(sum, 2 * whole, "{entry:?}");
        }
    }
}
