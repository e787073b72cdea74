//! The order of readers that no writer meets is not searched, and the search misses nothing.

mod model;

use std::collections::HashSet;

use model::generate::{Flavour, counting, program};
use model::interpreter::{schedules, terminal_states};
use model::{Expr, Model, Op, Program};
use seqz_explore::random_numbers::RandomNumbers;
use seqz_explore::{CachedDpor, Dpor, HbrCache, Odpor, Promise, Readers, Search, Strategy};

fn all<S: Strategy>(program: &Program, strategy: S) -> Search<S> {
    let mut search = Search::new(strategy);
    search
        .run(&mut Model::new(program), u64::MAX)
        .unwrap_or_else(|divergence| panic!("{divergence} in {program:?}"));
    assert_eq!(search.promise(), Promise::Exhausted, "{program:?}");
    search
}

fn states<S: Strategy>(search: &Search<S>) -> HashSet<u64> {
    search.states().collect()
}

/// Executions of all strategies that leave readers out, each of which sees what the interpreter sees.
fn executions(program: &Program) -> [u64; 3] {
    let reachable = terminal_states(program, None);
    let odpor = all(program, Readers::new(Odpor::new()));
    assert_eq!(states(&odpor), reachable, "odpor: {program:?}");
    let dpor = all(program, Readers::new(Dpor::new()));
    assert_eq!(states(&dpor), reachable, "dpor: {program:?}");
    let cached = all(program, Readers::new(CachedDpor::new()));
    assert_eq!(states(&cached), reachable, "hbr-cache+dpor: {program:?}");
    let cache = all(program, Readers::new(HbrCache::new()));
    assert_eq!(states(&cache), reachable, "hbr-cache: {program:?}");
    [
        odpor.counts().executions,
        dpor.counts().executions,
        cached.counts().executions,
    ]
}

fn read() -> Vec<Op> {
    vec![Op::LockShared(0), Op::Load(0, 0), Op::UnlockShared(0)]
}

fn try_to_read() -> Vec<Op> {
    let mut ops = vec![Op::TryLockShared(1, 0), Op::Unless(1, 1, 1)];
    ops.push(Op::UnlockShared(0));
    ops
}

fn write() -> Vec<Op> {
    vec![Op::Lock(0), Op::Store(0, Expr::Const(1)), Op::Unlock(0)]
}

/// A thread that does this, forks these, joins them, and does that.
fn around(before: Vec<Op>, threads: Vec<Vec<Op>>, after: Vec<Op>) -> Program {
    let names = 1..=u8::try_from(threads.len()).unwrap();
    let mut main = before;
    main.extend(names.clone().map(Op::Fork));
    main.extend(names.map(Op::Join));
    main.extend(after);
    let mut all = vec![main];
    all.extend(threads);
    Program {
        threads: all,
        roots: 1,
        initial: [0; 4],
    }
}

#[test]
fn readers_alone_are_one_execution() {
    for (before, after) in [(vec![], vec![]), (write(), write()), (read(), write())] {
        for reader in [read(), try_to_read(), [read(), read()].concat()] {
            let program = around(before.clone(), vec![reader; 4], after.clone());
            assert_eq!(executions(&program), [1; 3], "{program:?}");
        }
    }
    // They hold two locks at a time, in different orders.
    let nested = |one, other| {
        vec![
            Op::LockShared(one),
            Op::LockShared(other),
            Op::UnlockShared(one),
            Op::UnlockShared(other),
        ]
    };
    let program = Program::of(vec![nested(0, 1), nested(1, 0), nested(0, 1)]);
    assert_eq!(executions(&program), [1; 3]);
}

#[test]
fn a_reader_that_a_writer_meets_counts() {
    let programs = [
        Program::of(vec![read(), read(), write()]),
        Program::of(vec![try_to_read(), read(), write()]),
        around(vec![], vec![read(), read()], vec![]),
        // The writer waits for readers that wait for each other.
        Program::of(vec![
            [
                vec![
                    Op::LockShared(0),
                    Op::Store(1, Expr::Const(1)),
                    Op::Await(2, 1),
                ],
                vec![Op::UnlockShared(0)],
            ]
            .concat(),
            [
                vec![
                    Op::LockShared(0),
                    Op::Store(2, Expr::Const(1)),
                    Op::Await(1, 1),
                ],
                vec![Op::UnlockShared(0)],
            ]
            .concat(),
            write(),
        ]),
        // It comes while its maker reads.
        around(
            vec![Op::LockShared(0)],
            vec![write(), read()],
            vec![Op::UnlockShared(0)],
        ),
        around(
            vec![Op::LockShared(0)],
            vec![vec![Op::TryLock(1, 0)], read()],
            vec![Op::UnlockShared(0)],
        ),
        around(
            vec![Op::Lock(0)],
            vec![try_to_read(), try_to_read()],
            vec![Op::Unlock(0)],
        ),
    ];
    for program in programs {
        let told = all(&program, Odpor::new()).counts().executions;
        let [odpor, ..] = executions(&program);
        assert!(odpor <= told, "{program:?}");
    }
}

/// A thread that does this only if it finds what another one has written, which no first execution shows it.
fn if_it_comes_late(ops: &[Op]) -> Vec<Op> {
    let skipped = u8::try_from(ops.len()).unwrap();
    let mut all = vec![Op::Load(2, 3), Op::Unless(2, 1, skipped)];
    all.extend_from_slice(ops);
    all
}

#[test]
fn a_writer_that_comes_in_few_executions_is_not_missed() {
    let try_to_write = vec![Op::TryLock(1, 0), Op::Unless(1, 1, 1), Op::Unlock(0)];
    for writer in [
        write(),
        try_to_write,
        [vec![Op::LockShared(1)], write(), vec![Op::UnlockShared(1)]].concat(),
    ] {
        let late = if_it_comes_late(&writer);
        let flag = vec![Op::Store(3, Expr::Const(1))];
        for readers in [vec![read(), read()], vec![try_to_read(), read()]] {
            let mut threads = vec![late.clone()];
            threads.extend(readers);
            threads.push(flag.clone());
            let program = Program::of(threads);
            let told = all(&program, Odpor::new()).counts().executions;
            let [odpor, ..] = executions(&program);
            assert!(
                odpor >= told && odpor <= told + 4,
                "{odpor} {told} {program:?}"
            );
        }
    }
}

/// A program of readers, some of which only try the lock, and of flags, in which a thread writes if it finds a flag set.
fn seldom_written(seed: u64) -> Program {
    let mut numbers = RandomNumbers::new(seed);
    let mut below = |limit| u8::try_from(numbers.below(limit)).unwrap();
    let threads = (0..3 + below(2)).map(|_| {
        let mut ops = Vec::new();
        for _ in 0..1 + below(2) {
            match below(8) {
                0..3 => ops.extend(read()),
                3 => ops.extend(try_to_read()),
                4 => ops.extend([
                    Op::LockShared(0),
                    Op::Store(3, Expr::Const(1)),
                    Op::UnlockShared(0),
                ]),
                5 => ops.push(Op::Store(3, Expr::Const(1))),
                6 => ops.extend(if_it_comes_late(&write())),
                _ => ops.extend(if_it_comes_late(&[
                    Op::TryLock(1, 0),
                    Op::Unless(1, 1, 1),
                    Op::Unlock(0),
                ])),
            }
        }
        ops
    });
    let threads = threads.collect();
    match below(3) {
        0 => around(write(), threads, write()),
        1 => around(vec![Op::LockShared(0)], threads, vec![Op::UnlockShared(0)]),
        _ => Program::of(threads),
    }
}

#[test]
fn random_readers_reach_what_the_interpreter_reaches() {
    let few = |program: &Program| schedules(program, 100_000).is_some_and(|count| count <= 20_000);
    let (mut fewer, mut late) = (0, 0);
    for program in (0..).map(seldom_written).filter(few).take(400) {
        let told = all(&program, Odpor::new()).counts().executions;
        let [odpor, ..] = executions(&program);
        fewer += u32::from(odpor < told);
        late += u32::from(odpor > told);
    }
    assert!(fewer > 50 && late > 5, "{fewer}, {late}");
}

#[test]
fn random_programs_reach_what_the_interpreter_reaches() {
    let few = |program: &Program| schedules(program, 20_000).is_some_and(|count| count <= 400);
    let (mut fewer, mut programs) = (0, 0);
    for flavour in [Flavour::SharedLocks, Flavour::Everything, Flavour::Guards] {
        let all_of_it = (0..600).map(|seed| program(seed, flavour)).filter(few);
        for program in all_of_it.take(250) {
            let told = all(&program, Odpor::new()).counts().executions;
            let [odpor, ..] = executions(&program);
            fewer += u32::from(odpor < told);
            programs += 1;
        }
    }
    for program in (0..).map(counting).filter(few).take(100) {
        let told = all(&program, Odpor::new()).counts().executions;
        assert_eq!(executions(&program)[0], told, "nobody reads: {program:?}");
    }
    assert!(programs > 500 && fewer > 20, "{fewer} of {programs}");
}
