//! The same programs with real concurrency, on the scheduled machine: strategies that promise to be exhaustive see the
//! same failures, and among them all that P̂ₖ finds.
//!
//! The sets need not be equal: P̂ₖ covers the traces in which one of the two threads sees nothing of the other one.

use std::collections::BTreeSet;

use seqz_explore::search::Counts;
use seqz_explore::{
    CachedDpor, Dfs, Dpor, HbrCache, LazyDpor, Mcr, Odpor, Promise, Search, Strategy,
};
use seqz_runtime::memory::arena::Allocator;
use seqz_runtime::scheduled::{Idle, Machine, Settings};
use seqz_runtime::vocabulary::FailureKind;

use crate::execute::Harness;
use crate::interpret::{Behaviours, Failure};
use crate::program::Program;
use crate::random::Random;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// A failure as both sides can tell it: a thread that waits for itself is as stuck as two that wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Seen {
    Assertion(u32),
    Stuck,
}

/// How many executions plain enumeration may take.
const FEW: u64 = 20_000;

/// What a strategy sees; nothing if it takes too many executions.
fn failures(program: &Program, strategy: impl Strategy) -> Option<BTreeSet<Seen>> {
    explored(program, strategy).map(|(seen, _)| seen)
}

/// Whether a schedule leaves the harness waiting for ever, as far as that can be told.
pub(crate) fn can_hang(program: &Program) -> bool {
    failures(program, Odpor::new()).is_none_or(|seen| seen.contains(&Seen::Stuck))
}

fn explored(program: &Program, strategy: impl Strategy) -> Option<(BTreeSet<Seen>, Counts)> {
    let harness = Harness::new(program);
    let run = || harness.run();
    let settings = Settings {
        idle: Idle::GoesOn,
        values: true,
        ..Settings::default()
    };
    let mut machine = Machine::new(&run, settings);
    let mut search = Search::new(strategy).counting_lazy_relations();
    let mut seen = BTreeSet::new();
    loop {
        match search.step(&mut machine) {
            Ok(Some(_)) if search.counts().executions > FEW => return None,
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(divergence) => panic!("{divergence}\n{program}"),
        }
        for failure in machine.failures() {
            let id = failure
                .message
                .strip_prefix("assertion ")
                .and_then(|id| id.parse().ok());
            match (failure.kind, id) {
                (FailureKind::Panic, Some(id)) => {
                    seen.insert(Seen::Assertion(id));
                }
                // The harness's `unwrap` of what it joined.
                (FailureKind::Panic, None) => {}
                _ => {
                    seen.insert(Seen::Stuck);
                }
            }
        }
    }
    assert!(matches!(
        search.promise(),
        Promise::Exhausted
            | Promise::ExhaustedLazily { truncated: false }
            | Promise::ExhaustedByValues { truncated: false }
    ));
    Some((seen, search.counts()))
}

#[test]
fn strategies_see_the_same_and_all_that_is_found_by_interference() {
    let programs: u64 = crate::setting("SEQZ_ORACLE_SCHEDULED", 400);
    let mut random = Random::new(crate::setting("SEQZ_ORACLE_SEED", 1));
    let mut enumerated = 0;
    for _ in 0..programs {
        let (program, found) = crate::sample(&mut random);
        let Some(optimal) = failures(&program, Odpor::new()) else {
            continue;
        };
        if let Some(lazy) = failures(&program, LazyDpor::new()) {
            assert_eq!(lazy, optimal, "lazy-dpor and odpor differ\n{program}");
        }
        if let Some(lazy) = failures(&program, CachedDpor::lazy()) {
            assert_eq!(lazy, optimal, "lazy-hbr+dpor and odpor differ\n{program}");
        }
        if let Some((seen, counts)) = explored(&program, Mcr::new()) {
            assert_eq!(seen, optimal, "mcr and odpor differ\n{program}");
            assert_eq!(counts.redundant, 0, "{program}");
        }
        if let Some(reduced) = failures(&program, Dpor::new()) {
            assert_eq!(reduced, optimal, "dpor and odpor differ\n{program}");
        }
        if let Some((all, counts)) = explored(&program, Dfs::new()) {
            enumerated += 1;
            assert_eq!(all, optimal, "dfs and odpor differ\n{program}");
            caches_see_the_same(&program, &all, counts);
        }
        for failure in found
            .iter()
            .flat_map(Behaviours::findings)
            .map(|(failure, _)| failure)
        {
            let failure = match failure {
                Failure::Assertion(id) => Seen::Assertion(id),
                Failure::Relock | Failure::Deadlock => Seen::Stuck,
            };
            assert!(
                optimal.contains(&failure),
                "{failure:?} is not among {optimal:?}\n{program}"
            );
        }
    }
    assert!(
        enumerated * 2 > programs,
        "only {enumerated} programs were small enough"
    );
}

/// Caches of happens-before relations see what plain enumeration sees, in no more executions; and its counts are in order.
fn caches_see_the_same(program: &Program, all: &BTreeSet<Seen>, dfs: Counts) {
    let lazies = dfs.lazy_relations.expect("they are counted");
    assert!(dfs.states <= lazies, "{dfs:?}\n{program}");
    assert!(lazies <= dfs.relations, "{dfs:?}\n{program}");
    assert!(dfs.relations <= dfs.executions, "{dfs:?}\n{program}");
    let (lazy_sees, lazy) = explored(program, LazyDpor::new()).expect("no more than dfs");
    assert_eq!(&lazy_sees, all, "lazy-dpor and dfs differ\n{program}");
    assert_eq!(lazy.lazy_relations, dfs.lazy_relations, "{program}");
    assert_eq!(lazy.states, dfs.states, "{program}");
    let (lazy_sees, lazy) = explored(program, CachedDpor::lazy()).expect("no more than dfs");
    assert_eq!(&lazy_sees, all, "lazy-hbr+dpor and dfs differ\n{program}");
    assert_eq!(lazy.lazy_relations, dfs.lazy_relations, "{program}");
    assert_eq!(lazy.states, dfs.states, "{program}");
    let [(hbr_sees, hbr), (lazy_sees, lazy)] = [HbrCache::new(), HbrCache::lazy()]
        .map(|cache| explored(program, cache).expect("no more than dfs"));
    assert_eq!(&hbr_sees, all, "hbr-cache and dfs differ\n{program}");
    assert_eq!(&lazy_sees, all, "lazy-hbr and dfs differ\n{program}");
    assert_eq!(hbr.relations, dfs.relations, "{program}");
    assert_eq!(lazy.lazy_relations, dfs.lazy_relations, "{program}");
    assert_eq!(
        (hbr.states, lazy.states),
        (dfs.states, dfs.states),
        "{program}"
    );
    assert!(hbr.executions <= dfs.executions, "{program}");
    assert!(lazy.executions <= hbr.executions, "{program}");
}
