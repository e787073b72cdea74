//! Strategies that draw schedules at random: the same for the same seed, and as likely to hit what they should.

mod model;

use std::collections::HashMap;

use model::{Expr, Model, Op, Program};
use seqz_explore::{Dfs, Pct, Pos, Promise, Random, Search, Strategy, Surw};

/// The happens-before relations of the first executions.
fn drawn<S: Strategy>(program: &Program, strategy: S, executions: u64) -> Vec<u64> {
    let mut search = Search::new(strategy);
    let mut model = Model::new(program);
    let relations = (0..executions)
        .map(|_| {
            let run = search.step(&mut model).expect("models are deterministic");
            run.expect("sampling does not end").relation
        })
        .collect();
    assert_eq!(search.promise(), Promise::Sampled);
    relations
}

fn frequencies(drawn: &[u64]) -> HashMap<u64, usize> {
    let mut frequencies = HashMap::new();
    for &relation in drawn {
        *frequencies.entry(relation).or_default() += 1;
    }
    frequencies
}

/// Three threads of two increments each.
fn increments() -> Program {
    Program::of(vec![vec![Op::FetchAdd(0, 0, 1), Op::FetchAdd(1, 1, 1)]; 3])
}

fn check_seeds<S: Strategy>(new: impl Fn(u64) -> S) {
    let program = increments();
    let first = drawn(&program, new(7), 300);
    assert_eq!(first, drawn(&program, new(7), 300), "same seed");
    assert_ne!(first, drawn(&program, new(8), 300), "other seed");
}

#[test]
fn same_seed_same_schedules() {
    check_seeds(Random::new);
    check_seeds(|seed| Pct::new(seed, 3));
    check_seeds(Pos::new);
    check_seeds(Surw::new);
}

#[test]
fn every_trace_is_drawn() {
    let program = increments();
    let mut dfs = Search::new(Dfs::new());
    dfs.run(&mut Model::new(&program), u64::MAX)
        .expect("models are deterministic");
    let traces = dfs.counts().relations as usize;
    assert_eq!(traces, 36);
    assert_eq!(
        frequencies(&drawn(&program, Random::new(1), 5000)).len(),
        traces
    );
    assert_eq!(
        frequencies(&drawn(&program, Pos::new(1), 5000)).len(),
        traces
    );
    assert_eq!(
        frequencies(&drawn(&program, Surw::new(1), 5000)).len(),
        traces
    );
    assert_eq!(
        frequencies(&drawn(&program, Pct::new(1, 4), 20_000)).len(),
        traces
    );
}

#[test]
fn random_is_uniform_at_each_point() {
    // Two threads, one event each: two relations of probability 1/2.
    let program = Program::of(vec![vec![Op::FetchAdd(0, 0, 1)]; 2]);
    let drawn = drawn(&program, Random::new(3), 10_000);
    for (_, count) in frequencies(&drawn) {
        // Five standard deviations.
        assert!(count.abs_diff(5000) < 250, "{count} of 10000");
    }
}

#[test]
fn pct_keeps_its_bound() {
    // A bug of depth 2 for n threads and k events has probability at least 1 / (n k): here the read of the first thread
    // must come between the two writes of the second, while a third makes noise.
    let program = Program::of(vec![
        vec![Op::Load(0, 0), Op::Refuse(0, 1)],
        vec![Op::Store(0, Expr::Const(1)), Op::Store(0, Expr::Const(2))],
        vec![Op::Store(1, Expr::Const(1)); 7],
    ]);
    let mut search = Search::new(Pct::new(5, 2));
    search
        .run(&mut Model::new(&program), 20_000)
        .expect("models are deterministic");
    let found = search.counts().failures as f64 / 20_000.0;
    assert!(found > 1.0 / (3.0 * 10.0), "{found}");
}

#[test]
fn surw_is_uniform_over_interleavings_of_the_interesting_events() {
    // Six events against one: seven interleavings. A random walk runs the lone event last once in 64, surw once in 7.
    let program = Program::of(vec![
        vec![Op::FetchAdd(0, 0, 1); 6],
        vec![Op::FetchAdd(0, 0, 1)],
    ]);
    let executions = 14_000;
    let frequencies = frequencies(&drawn(&program, Surw::new(11), executions));
    assert_eq!(frequencies.len(), 7);
    for (_, count) in frequencies {
        // Six standard deviations, and what the first executions do without counts.
        assert!(count.abs_diff(2000) < 260, "{count} of {executions}");
    }
}

#[test]
fn surw_counts_threads_that_are_still_to_be_forked() {
    // The thread that forks has an event before and one after that: the first comes first, and the three others have six
    // orders.
    let add = Op::FetchAdd(0, 0, 1);
    let program = Program {
        threads: vec![
            vec![add, Op::Fork(1), Op::Fork(2), add, Op::Join(1), Op::Join(2)],
            vec![add],
            vec![add],
        ],
        roots: 1,
        initial: [0; 4],
    };
    let executions = 12_000;
    let frequencies = frequencies(&drawn(&program, Surw::new(5), executions));
    assert_eq!(frequencies.len(), 6);
    for (_, count) in frequencies {
        // Six standard deviations, and what the first executions do without counts.
        assert!(count.abs_diff(2000) < 245, "{count} of {executions}");
    }
}

#[test]
fn pos_is_less_biased_than_a_random_walk() {
    // One write against a thread of eight events of which only the last matters.
    let mut long = vec![Op::Store(1, Expr::Const(1)); 7];
    long.push(Op::Load(0, 0));
    let program = Program::of(vec![long, vec![Op::Store(0, Expr::Const(1))]]);
    let rare = |drawn: Vec<u64>| frequencies(&drawn).into_values().min().unwrap_or(0);
    let walk = rare(drawn(&program, Random::new(2), 20_000));
    let sampled = rare(drawn(&program, Pos::new(2), 20_000));
    assert!(sampled > 4 * walk, "{sampled} against {walk}");
}
