//! What an event costs in short executions and in long ones: the cost may not grow with their length.

#[path = "../../explore/tests/long/mod.rs"]
mod long;
#[cfg(all(feature = "peers", feature = "z3"))]
mod pages;
#[cfg(feature = "peers")]
mod programs;

use std::process::ExitCode;
use std::sync::OnceLock;
use std::time::Duration;

use seqz_explore::{
    CachedDpor, Dfs, Dpor, Executor, Hapset, HbrCache, Icb, IcbDpor, Mcr, Odpor, Pcb, Pct, Pos,
    Random, RvCausal, Search, Strategy, Surw,
};
use seqz_runtime::feasibility::Grid;
use seqz_runtime::log::{Op, TEvent};

use crate::clock::Clock;
use long::queue::Queue;
use long::{Long, Shape};

/// Events of an execution.
const LENGTHS: [usize; 4] = [100, 1000, 10_000, 100_000];

/// Executions of each search.
const EXECUTIONS: u64 = 4;

/// Searches begin anew until there have been so many events.
const ENOUGH: u64 = 400_000;

/// Longer than this nobody waits for one figure.
const PATIENCE: Duration = Duration::from_secs(20);

/// What the names of rows must have in them.
static PART: OnceLock<String> = OnceLock::new();

/// Prints the table, or the rows whose names have `part` in them.
pub(crate) fn run(part: &str) -> ExitCode {
    PART.get_or_init(|| part.to_owned());
    println!("| what | threads | 10², ns an event | 10³ | 10⁴ | 10⁵ |");
    println!("|---|---|---|---|---|---|");
    for shape in [Shape::Apart, Shape::Private] {
        let threads = match shape {
            Shape::Apart => "store",
            _ => "lock",
        };
        macro_rules! rows {
            ($($name:literal: $strategy:expr),* $(,)?) => {
                $( row($name, threads, |events| strategy(shape, events, || $strategy)); )*
            };
        }
        rows!(
            "dfs": Dfs::new(),
            "random": Random::new(1),
            "pct": Pct::new(1, 3),
            "pos": Pos::new(1),
            "surw": Surw::new(1),
            "pcb": Pcb::new(2),
            "icb": Icb::new(None),
            "icb+dpor": IcbDpor::new(None),
            "dpor": Dpor::new(),
            "odpor": Odpor::new(),
            "hbr-cache": HbrCache::new(),
            "lazy-hbr": HbrCache::lazy(),
            "hbr-cache+dpor": CachedDpor::new(),
            "lazy-hbr+dpor": CachedDpor::lazy(),
            "hapset": Hapset::new(1, 1),
            "mcr": Mcr::new(),
            "rv-causal": RvCausal::new(),
        );
    }
    row("dfs", "queue", |events| queue(events, Dfs::new));
    row("icb+dpor", "queue", |events| {
        queue(events, || IcbDpor::new(None))
    });
    row("dpor", "queue", |events| queue(events, Dpor::new));
    row("odpor", "queue", |events| queue(events, Odpor::new));
    row("progress grid", "store", grid);
    #[cfg(feature = "peers")]
    programs::rows();
    ExitCode::SUCCESS
}

/// One row: the first figure in nanoseconds, the others as multiples of it. Where one has taken so long that nobody would
/// wait for the next, that is left out.
fn row(what: &str, threads: &str, measure: impl Fn(usize) -> f64) {
    let name = format!("| `{what}` | {threads} |");
    if PART.get().is_some_and(|part| !name.contains(part)) {
        return;
    }
    let first = measure(LENGTHS[0]);
    let mut last = first;
    let rest = LENGTHS[1..].iter().map(|&events| {
        // Ten times as many events, each of which costs as many times more than before as one of the last ones did.
        let expected = last * (last / first).max(1.0) * events as f64;
        if expected > PATIENCE.as_nanos() as f64 {
            return "–".to_owned();
        }
        last = measure(events);
        format!("{:.1}×", last / first)
    });
    let rest: Vec<_> = rest.collect();
    println!("{name} {first:.0} | {} |", rest.join(" | "));
}

/// Nanoseconds an event.
fn strategy<S: Strategy>(shape: Shape, events: usize, make: impl Fn() -> S) -> f64 {
    searches(&mut Long::new(shape, 2, events / 2 / shape.events()), make)
}

/// The same where eight threads hand things on through a queue, and wait for each other.
fn queue<S: Strategy>(events: usize, make: impl Fn() -> S) -> f64 {
    searches(&mut Queue::new(8, events / 4 / Queue::EVENTS), make)
}

fn searches<S: Strategy>(program: &mut impl Executor, make: impl Fn() -> S) -> f64 {
    let clock = Clock::start();
    let mut all = 0;
    while all < ENOUGH && clock.wall() < PATIENCE {
        let mut search = Search::new(make());
        if let Err(divergence) = search.run(program, EXECUTIONS) {
            println!("{divergence}");
            return f64::NAN;
        }
        all += search.counts().events;
    }
    clock.elapsed().as_nanos() as f64 / all as f64
}

/// The same for what P̂ₖ asks: both threads store to objects of their own, and T then sees the last of T'.
fn grid(events: usize) -> f64 {
    let half = events / 2;
    let mut other = vec![Op::Write(2); half - 1];
    other.push(Op::Update(0));
    let last = u32::try_from(half - 1).unwrap_or(u32::MAX);
    let mut grid = Grid::new();
    let clock = Clock::start();
    let mut all = 0;
    while all < ENOUGH {
        grid.begin(&other);
        for _ in 1..half {
            grid.push(TEvent {
                op: Op::Write(1),
                source: None,
            });
        }
        grid.push(TEvent::non_local(Op::Update(0), last));
        assert!(grid.feasible(), "T' comes to its end, and then T goes on");
        all += events as u64;
    }
    clock.elapsed().as_nanos() as f64 / all as f64
}
