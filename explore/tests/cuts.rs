//! Threads that look for ever for an event of another thread: no thread starves, and a search with cuts promises nothing.

mod long;

use long::{Long, Shape};
use seqz_explore::{
    CachedDpor, Dfs, Dpor, GuidedPcb, Hapset, HbrCache, Icb, IcbDpor, LazyDpor, Mcr, Odpor, Pcb,
    Pct, Pos, Promise, Random, RvCausal, Search, Strategy, Surw,
};

const SHAPES: [Shape; 4] = [Shape::Spin, Shape::Poll, Shape::SpinLast, Shape::PollLast];

/// Makes a few executions. Returns the number of the first one in which the thread found the other thread's event.
fn found_in<S: Strategy>(strategy: S, shape: Shape, bound: usize) -> (Option<u64>, Search<S>) {
    let mut search = Search::new(strategy);
    let mut program = Long::new(shape, 2, 4);
    program.bound = bound;
    let mut found = None;
    for execution in 1..=40 {
        let run = search
            .step(&mut program)
            .expect("programs are deterministic");
        let Some(run) = run else { break };
        if !run.end.failures.is_empty() {
            found = found.or(Some(execution));
        }
    }
    (found, search)
}

/// What a strategy has to do, wherever its executions are cut.
fn try_out<S: Strategy>(few: u64, strategy: impl Fn() -> S) {
    for shape in SHAPES {
        for bound in [400, 2000, 20_000] {
            let (found, search) = found_in(strategy(), shape, bound);
            let name = std::any::type_name::<S>();
            assert!(
                found.is_some_and(|found| found <= few),
                "{name}, {shape:?}, {bound}: {found:?}"
            );
            if search.counts().truncated > 0 {
                assert!(
                    !matches!(
                        search.promise(),
                        Promise::Exhausted
                            | Promise::ExhaustedLazily { truncated: false }
                            | Promise::ExhaustedByValues { truncated: false }
                            | Promise::Bounded {
                                truncated: false,
                                ..
                            }
                    ),
                    "{name}, {shape:?}, {bound}: {:?}",
                    search.promise()
                );
            }
        }
    }
}

#[test]
fn systematic_strategies_let_everybody_run() {
    try_out(3, Dfs::new);
    try_out(3, || Pcb::new(1));
    try_out(3, || Icb::new(None));
    try_out(3, || IcbDpor::new(None));
    try_out(3, HbrCache::new);
    try_out(3, HbrCache::lazy);
}

#[test]
fn reductions_let_everybody_run() {
    try_out(3, Odpor::new);
    try_out(3, Dpor::new);
    try_out(3, LazyDpor::new);
    try_out(3, CachedDpor::new);
    try_out(3, CachedDpor::lazy);
    try_out(3, Mcr::new);
    try_out(3, RvCausal::new);
}

#[test]
fn strategies_that_learn_or_draw_let_everybody_run() {
    try_out(3, || Hapset::new(0, 1));
    try_out(3, || GuidedPcb::new(1, 0, 1));
    try_out(20, || Random::new(1));
    try_out(20, || Pct::new(1, 3));
    try_out(20, || Pos::new(1));
    try_out(20, || Surw::new(1));
}
