//! What an event costs a strategy in short executions and in long ones.
//!
//! `cargo run --release -p seqz-explore --example growth [EVENTS] [STRATEGY or all] [SHAPE]`

#[path = "../tests/long/mod.rs"]
mod long;

use std::fs;

use long::{Long, Shape};
use seqz_explore::{
    CachedDpor, Dfs, Dpor, GuidedPcb, Hapset, HbrCache, Icb, IcbDpor, LazyDpor, Mcr, Odpor, Pcb,
    Pct, Pos, Random, RvCausal, Search, Strategy, Surw,
};

/// Executions of each search.
const EXECUTIONS: u64 = 4;

/// How long this thread has run, in nanoseconds: other programs' time is not in it.
fn worked() -> f64 {
    let told = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let first = told.split(' ').next().and_then(|n| n.parse().ok());
    first.unwrap_or(f64::NAN)
}

/// Searches anew until there have been so many events: the system tells time in ticks of milliseconds.
const ENOUGH: u64 = 400_000;

fn measure<S: Strategy>(shape: Shape, events: usize, strategy: impl Fn() -> S) {
    let rounds = events / 2 / shape.events();
    let (mut all, mut executions, mut nanoseconds) = (0, 0, 0.0);
    while all < ENOUGH && nanoseconds < 5e9 {
        let mut search = Search::new(strategy());
        let mut program = Long::new(shape, 2, rounds);
        let start = worked();
        if let Err(divergence) = search.run(&mut program, EXECUTIONS) {
            println!("{divergence}");
        }
        nanoseconds += worked() - start;
        executions += search.counts().executions;
        all += search.counts().events;
    }
    println!(
        "{shape:?} {events:>7} {:16} {executions:>6} executions {:>10.1} ns an event",
        strategy().name(),
        nanoseconds / all as f64,
    );
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let most = arguments.next().and_then(|s| s.parse().ok());
    let only = arguments.next();
    let shape_named = arguments.next();
    let wanted = |name: &str| {
        only.as_deref()
            .is_none_or(|only| only == name || only == "all")
    };
    let most: usize = most.unwrap_or(10_000);
    let shapes = [
        Shape::Apart,
        Shape::Racy,
        Shape::Locked,
        Shape::Read,
        Shape::Private,
    ];
    for shape in shapes {
        let name = format!("{shape:?}");
        if shape_named.as_deref().is_some_and(|only| only != name) {
            continue;
        }
        let mut events = 100;
        while events <= most {
            macro_rules! all {
                ($($strategy:expr),* $(,)?) => {
                    $( if wanted($strategy.name()) { measure(shape, events, || $strategy); } )*
                };
            }
            all!(
                Dfs::new(),
                Random::new(1),
                Pct::new(1, 3),
                Pos::new(1),
                Surw::new(1),
                Pcb::new(2),
                Icb::new(None),
                IcbDpor::new(None),
                Dpor::new(),
                Odpor::new(),
                LazyDpor::new(),
                HbrCache::new(),
                HbrCache::lazy(),
                CachedDpor::new(),
                CachedDpor::lazy(),
                Hapset::new(1, 1),
                GuidedPcb::new(2, 1, 1),
                Mcr::new(),
                RvCausal::new(),
            );
            events *= 10;
        }
    }
}
