//! The lazy happens-before relation, and what is built on it, against a plain interpreter on random programs.

mod model;

use std::collections::HashSet;

use model::generate::{FLAVOURS, Flavour, program};
use model::interpreter::{schedules, terminal_states};
use model::{Expr, Model, Op, Program};
use seqz_explore::{Dfs, HbrCache, Promise, Search, Strategy};

fn all<S: Strategy>(program: &Program, strategy: S) -> Search<S> {
    let mut search = Search::new(strategy).counting_lazy_relations();
    search
        .run(&mut Model::new(program), u64::MAX)
        .unwrap_or_else(|divergence| panic!("{divergence} in {program:?}"));
    search
}

fn states<S: Strategy>(search: &Search<S>) -> HashSet<u64> {
    search.states().collect()
}

fn relations<S: Strategy>(search: &Search<S>) -> HashSet<u64> {
    search.relations().collect()
}

fn lazy_relations<S: Strategy>(search: &Search<S>) -> HashSet<u64> {
    search.lazy_relations().collect()
}

const LAZY: Promise = Promise::ExhaustedLazily { truncated: false };

/// Programs with no more schedules than dfs can walk in a test: every second one made of critical sections.
fn programs(from: u64, count: usize, schedules_at_most: u64) -> impl Iterator<Item = Program> {
    (from..)
        .map(|seed| {
            let flavour = match seed % 2 {
                0 => Flavour::Guards,
                _ => FLAVOURS[(seed / 2) as usize % FLAVOURS.len()],
            };
            program(seed, flavour)
        })
        .filter(move |program| {
            schedules(program, 20_000).is_some_and(|count| count <= schedules_at_most)
        })
        .take(count)
}

#[test]
fn caches_reach_what_the_interpreter_reaches() {
    let mut saved = [0, 0];
    for program in programs(0, 1500, 400) {
        let reachable = terminal_states(&program, None);
        let dfs = all(&program, Dfs::new());
        let [hbr, lazy] = [HbrCache::new(), HbrCache::lazy()].map(|cache| all(&program, cache));
        assert_eq!(states(&hbr), reachable, "hbr-cache: {program:?}");
        assert_eq!(states(&lazy), reachable, "lazy-hbr: {program:?}");
        assert_eq!(relations(&hbr), relations(&dfs), "hbr-cache: {program:?}");
        assert_eq!(
            lazy_relations(&lazy),
            lazy_relations(&dfs),
            "lazy-hbr: {program:?}"
        );
        assert_eq!(hbr.promise(), Promise::Exhausted);
        assert_eq!(lazy.promise(), LAZY);
        // The paper's inequality; and what is coarser never takes longer.
        let counts = dfs.counts();
        let lazies = counts.lazy_relations.expect("they are counted");
        assert!(counts.states <= lazies, "{program:?}");
        assert!(lazies <= counts.relations, "{program:?}");
        assert!(counts.relations <= counts.executions, "{program:?}");
        let [hbr, lazy] = [hbr.counts(), lazy.counts()];
        assert!(lazy.executions <= hbr.executions, "{program:?}");
        assert!(hbr.executions <= counts.executions, "{program:?}");
        saved[0] += counts.executions - hbr.executions;
        saved[1] += hbr.executions - lazy.executions;
    }
    assert!(saved.iter().all(|&saved| saved > 1000), "{saved:?}");
}

/// Figure 1 of the paper: two threads that read a variable under a lock, and then write one each.
#[test]
fn figure_1() {
    let body = |own| {
        vec![
            Op::Lock(0),
            Op::Load(0, 0),
            Op::Unlock(0),
            Op::Store(own, Expr::Const(1)),
        ]
    };
    let program = Program::of(vec![body(1), body(2)]);
    let counts = all(&program, Dfs::new()).counts();
    assert_eq!((counts.relations, counts.lazy_relations), (2, Some(1)));
    assert_eq!(counts.states, 1);
}

/// What a lock protects orders critical sections, though the lock does not.
#[test]
fn contents_of_locks_count() {
    let writes = |by| {
        vec![
            Op::LockAndRead(0, 0),
            Op::WriteAndUnlock(0, Expr::Plus(0, by)),
        ]
    };
    let reads = vec![Op::LockAndRead(0, 0), Op::Unlock(0)];
    for (threads, lazies) in [
        (vec![writes(1), writes(2)], 2),
        (vec![writes(1), reads.clone()], 2),
        (vec![reads.clone(), reads.clone()], 1),
        (vec![reads.clone(), reads.clone(), writes(1)], 4),
        // Written, but not changed.
        (vec![writes(0), reads], 1),
    ] {
        let counts = all(&Program::of(threads), Dfs::new()).counts();
        assert_eq!(counts.lazy_relations, Some(lazies));
        assert!(counts.states <= lazies);
    }
}
