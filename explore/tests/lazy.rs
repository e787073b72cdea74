//! The lazy happens-before relation, and what is built on it, against a plain interpreter on random programs.

mod model;

use std::collections::HashSet;

use model::generate::{FLAVOURS, Flavour, longer_program, program};
use model::interpreter::{schedules, terminal_states};
use model::racy::Racy;
use model::{Expr, Model, Op, Program};
use seqz_explore::search::Counts;
use seqz_explore::{CachedDpor, Dfs, Dpor, HbrCache, LazyDpor, Promise, Search, Strategy};

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

/// Caches over reduction: with the plain relation there is nothing to give up, with the lazy one no lazy relation is lost.
#[test]
fn caches_over_reduction_reach_what_the_interpreter_reaches() {
    let mut executions = [0, 0];
    let mut given_up = 0;
    for program in programs(1 << 33, count() / 4, 2000) {
        let reachable = terminal_states(&program, None);
        let everything = all(&program, HbrCache::lazy());
        let dpor = all(&program, Dpor::new());
        let [hbr, lazy] = [CachedDpor::new(), CachedDpor::lazy()].map(|s| all(&program, s));
        assert_eq!(states(&lazy), reachable, "{program:?}");
        assert_eq!(
            lazy_relations(&lazy),
            lazy_relations(&everything),
            "{program:?}"
        );
        assert_eq!(lazy.promise(), LAZY);
        assert_eq!(hbr.counts(), dpor.counts(), "{program:?}");
        assert_eq!(hbr.strategy().given_up(), 0, "{program:?}");
        assert_eq!(hbr.promise(), Promise::Exhausted);
        let [lazy_counts, dpor] = [lazy.counts(), dpor.counts()];
        let saw_failures = |counts: Counts| counts.failures > 0;
        assert_eq!(saw_failures(lazy_counts), saw_failures(dpor), "{program:?}");
        let lazies = lazy_counts.lazy_relations.expect("they are counted");
        assert!(lazy_counts.states <= lazies, "{program:?}");
        assert!(lazies <= lazy_counts.relations, "{program:?}");
        assert!(lazy_counts.relations <= lazy_counts.executions);
        assert_eq!(lazy_counts.redundant, 0, "{program:?}");
        executions[0] += lazy_counts.executions;
        executions[1] += dpor.executions;
        given_up += lazy.strategy().given_up();
    }
    assert!(given_up > 100);
}

/// A data race is no state. Whether one is seen must not depend on what is given up.
#[test]
fn data_races_are_seen() {
    fn sees(program: &Program, strategy: impl Strategy) -> bool {
        let mut search = Search::new(strategy);
        search
            .run(&mut Racy::new(program), u64::MAX)
            .unwrap_or_else(|divergence| panic!("{divergence} in {program:?}"));
        search.counts().failures > 0
    }
    let mut racy = 0;
    for program in programs(1 << 34, count() / 4, 1000) {
        let races = sees(&program, Dpor::new());
        for (name, lazily) in [
            ("lazy-hbr", sees(&program, HbrCache::lazy())),
            ("lazy-hbr+dpor", sees(&program, CachedDpor::lazy())),
            ("lazy-dpor", sees(&program, LazyDpor::new())),
        ] {
            assert_eq!(lazily, races, "{name}: {program:?}");
        }
        racy += usize::from(races);
    }
    assert!(racy * 10 > count() / 4 && racy * 2 < count() / 4, "{racy}");
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

/// How many programs are tried: more if one asks for it.
fn count() -> usize {
    std::env::var("SEQZ_LAZY_PROGRAMS").map_or(2500, |n| n.parse().expect("a number"))
}

#[test]
fn lazy_reduction_reaches_what_the_interpreter_reaches() {
    let mut executions = [0, 0];
    for program in programs(1 << 32, count(), 2000) {
        let reachable = terminal_states(&program, None);
        let lazy = all(&program, LazyDpor::new());
        let everything = all(&program, HbrCache::lazy());
        assert_eq!(states(&lazy), reachable, "{program:?}");
        assert_eq!(
            lazy_relations(&lazy),
            lazy_relations(&everything),
            "{program:?}"
        );
        assert_eq!(lazy.promise(), LAZY);
        let [lazy, dpor] = [lazy.counts(), all(&program, Dpor::new()).counts()];
        // None is executed twice, and none that dpor does not execute.
        assert_eq!(lazy.redundant, 0, "{program:?}");
        assert!(lazy.relations <= dpor.relations, "{program:?}");
        let saw_failures = |counts: Counts| counts.failures > 0;
        assert_eq!(saw_failures(lazy), saw_failures(dpor), "{program:?}");
        executions[0] += lazy.executions;
        executions[1] += dpor.executions;
    }
    // With those that are given up, that need not hold of each program: see below.
    assert!(executions[0] < executions[1], "{executions:?}");
}

#[test]
fn lazy_reduction_keeps_every_lazy_relation_of_longer_programs() {
    for seed in 0..400 {
        let program = longer_program(seed, Flavour::Guards);
        let mut dpor = Search::new(Dpor::new()).counting_lazy_relations();
        dpor.run(&mut Model::new(&program), 2000)
            .expect("models are deterministic");
        if dpor.promise() != Promise::Exhausted {
            continue;
        }
        let lazy = all(&program, LazyDpor::new());
        assert_eq!(lazy_relations(&lazy), lazy_relations(&dpor), "{program:?}");
        assert_eq!(states(&lazy), states(&dpor), "{program:?}");
    }
}

/// Sections of one lock with nothing in common, by which plain reduction has n! executions.
#[test]
fn sections_that_share_nothing_are_not_turned_round() {
    for threads in 2..6 {
        let own = (0..threads).map(|n| vec![Op::Lock(0), Op::Load(0, n % 4), Op::Unlock(0)]);
        let program = Program::of(own.collect());
        assert_eq!(all(&program, LazyDpor::new()).counts().executions, 1);
        let factorial: u64 = (1..=u64::from(threads)).product();
        assert_eq!(all(&program, Dpor::new()).counts().executions, factorial);
    }
}

/// What the order of sections decides though they have no data in common.
#[test]
fn sections_are_turned_round_for_a_reason() {
    let section = |lock, body: &[Op]| [&[Op::Lock(lock)], body, &[Op::Unlock(lock)]].concat();
    let nested = |outer, inner| section(outer, &section(inner, &[]));
    let attempt = vec![Op::TryLock(0, 0), Op::Unless(0, 1, 1), Op::Unlock(0)];
    let spinning = section(0, &[Op::Await(0, 1)]);
    let writing = [section(0, &[]), vec![Op::Store(0, Expr::Const(1))]].concat();
    let after = [section(0, &[]), vec![Op::Load(0, 0)]].concat();
    let for_good = vec![Op::Lock(0)];
    for (threads, what) in [
        (vec![nested(0, 1), nested(1, 0)], "a deadlock"),
        (vec![section(0, &[]), attempt], "an attempt that fails"),
        (vec![spinning, writing.clone()], "a wait for ever"),
        (vec![after, writing], "what comes after the sections"),
        (vec![section(0, &[]), for_good], "a lock that is kept"),
    ] {
        let program = Program::of(threads);
        let lazy = all(&program, LazyDpor::new());
        assert_eq!(states(&lazy), terminal_states(&program, None), "{what}");
        assert!(lazy.counts().states > 1, "{what}");
    }
}

/// The counterexample of docs/lazy.md: five schedules are begun, of which one is given up, where `dpor` has four.
#[test]
fn more_may_be_given_up() {
    let program = Program {
        threads: vec![
            vec![Op::Fork(2), Op::Lock(1), Op::Load(2, 1), Op::Unlock(1)],
            vec![Op::Lock(1), Op::FetchAdd(0, 1, 1), Op::Unlock(1)],
            vec![Op::Load(1, 1)],
        ],
        roots: 2,
        initial: [0; 4],
    };
    let lazy = all(&program, LazyDpor::new()).counts();
    let dpor = all(&program, Dpor::new()).counts();
    assert_eq!((lazy.executions, lazy.abandoned), (5, 1));
    assert_eq!((dpor.executions, dpor.abandoned), (4, 0));
}
