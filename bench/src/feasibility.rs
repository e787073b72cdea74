//! The progress grid against Z3, on the same logs.
//!
//! Two kinds of check are timed.
//! - *whole log*: nothing is known of the log before. Z3: a new QF_IDL solver, the encoding, the check. Grid: the
//!   analysis of T', all events of T, the verdict.
//! - *one more event*: the events of T before are known. Z3: push, the constraints of one event, check, pop; asserting
//!   the event for good afterwards is not timed. Grid: the same question, and all the rest of the walk along the log is
//!   timed too (taking in T', and each event for good). Only events from the first non-local read on are checked, as
//!   before it every log is feasible and neither need be asked; and only up to the first that makes the log infeasible,
//!   where an execution of P̂ₖ ends.
//!
//! Verdicts only, no witness. Both must agree on every check.

#[allow(dead_code, reason = "the tests use all of it")]
#[path = "../../feasibility/tests/feasibility/random.rs"]
mod random;

use random::{Owned, Random, Shape};
use seqz_runtime::feasibility::{Grid, ProgressGrid, Z3, Z3Incremental};
use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Events per thread.
const SIZES: [usize; 3] = [10, 30, 100];
/// What is aimed at: ratios for whole logs, and for one more event.
const TARGETS: (f64, f64) = (3000.0, 200.0);
/// Z3's incremental solvers that are tried; the fastest counts.
const SOLVERS: [Option<&str>; 2] = [Some("QF_IDL"), None];
/// In how many turns both engines go through the logs.
const TURNS: usize = 8;
/// How long the grid is timed per turn.
const FAST_TURN: Duration = Duration::from_millis(100);

/// Times both engines on this many logs per size, prints the table, and says whether the targets are met.
pub(crate) fn run(logs: usize) -> ExitCode {
    println!("Mean time per check, {logs} logs per size; T and T' have as many events each.\n");
    println!(
        "events    | check          | checks (infeasible) | Z3           | grid      | ratio   | target"
    );
    println!(
        "----------|----------------|---------------------|--------------|-----------|---------|-------"
    );
    let mut met = true;
    for size in SIZES {
        let all = generate(size, logs);
        let whole = whole_logs(&all);
        let incremental = one_more_event(&all);
        for (name, row, target) in [
            ("whole log", whole, TARGETS.0),
            ("one more event", incremental, TARGETS.1),
        ] {
            met &= row.ratio() >= target;
            println!(
                "{:<9} | {name:<14} | {:>6} ({:>6})     | {:>9.1} µs | {:>6.0} ns | {:>6.0}× | {target}×",
                format!("{size}+{size}"),
                row.checks,
                row.infeasible,
                row.z3.as_secs_f64() * 1e6 / row.checks as f64,
                row.grid * 1e9 / row.checks as f64,
                row.ratio(),
            );
        }
    }
    if met {
        ExitCode::SUCCESS
    } else {
        println!("\nA target is missed.");
        ExitCode::FAILURE
    }
}

/// One line of the table: totals over all checks.
struct Row {
    checks: usize,
    infeasible: usize,
    z3: Duration,
    /// Seconds.
    grid: f64,
}

impl Row {
    fn ratio(&self) -> f64 {
        self.z3.as_secs_f64() / self.grid
    }
}

/// Logs of random runs, some with sources exchanged so that they may have become infeasible. Each has a non-local read.
fn generate(size: usize, logs: usize) -> Vec<Owned> {
    let mut random = Random::new(size as u64);
    let mut all = Vec::new();
    while all.len() < logs {
        let shape = Shape {
            events: (size, size),
            values: 2 + random.below(2 + size / 5),
            locks: random.below(4),
        };
        let damage = random.below(4);
        let owned = random::run(&mut random, shape, damage);
        if remaining(&owned) > 0 {
            all.push(owned);
        }
    }
    all
}

/// How many events of T there are from its first non-local read on.
fn remaining(owned: &Owned) -> usize {
    let first = owned
        .under_test
        .iter()
        .position(|event| event.source.is_some());
    first.map_or(0, |first| owned.under_test.len() - first)
}

fn whole_logs(all: &[Owned]) -> Row {
    let mut z3 = Z3::new();
    let mut grid = ProgressGrid::new();
    let mut infeasible = 0;
    let (z3, grid) = in_turns(
        all,
        |owned| {
            let begin = Instant::now();
            let verdict = z3.feasible(&owned.log());
            let time = begin.elapsed();
            let feasible = verdict.expect("Z3 knows without a time limit");
            assert_eq!(
                ProgressGrid::new().feasible(&owned.log()),
                feasible,
                "{owned:#?}"
            );
            infeasible += usize::from(!feasible);
            time
        },
        |owned| {
            black_box(grid.feasible(black_box(&owned.log())));
        },
    );
    Row {
        checks: all.len(),
        infeasible,
        z3,
        grid,
    }
}

fn one_more_event(all: &[Owned]) -> Row {
    let mut best: Option<Row> = None;
    for logic in SOLVERS {
        let row = one_more_event_with(all, logic);
        if best.as_ref().is_none_or(|best| row.z3 < best.z3) {
            best = Some(row);
        }
    }
    best.expect("there are solvers")
}

fn one_more_event_with(all: &[Owned], logic: Option<&str>) -> Row {
    let (mut checks, mut infeasible) = (0, 0);
    let mut grid = Grid::new();
    let (z3, grid) = in_turns(
        all,
        |owned| {
            let mut verdicts = Vec::new();
            walk(&mut Grid::new(), owned, |feasible| verdicts.push(feasible));
            checks += verdicts.len();
            infeasible += verdicts.iter().filter(|&&feasible| !feasible).count();
            let first = owned.under_test.len() - remaining(owned);
            let mut z3 = Z3Incremental::new(&owned.interfering, logic);
            owned.under_test[..first]
                .iter()
                .for_each(|&event| z3.push(event));
            let mut time = Duration::ZERO;
            for (&event, expected) in owned.under_test[first..].iter().zip(verdicts) {
                let begin = Instant::now();
                let verdict = z3.would_be_feasible(event);
                time += begin.elapsed();
                assert_eq!(verdict, Some(expected), "{event:?} {owned:#?}");
                z3.push(event);
            }
            time
        },
        |owned| {
            walk(&mut grid, black_box(owned), |feasible| {
                black_box(feasible);
            });
        },
    );
    Row {
        checks,
        infeasible,
        z3,
        grid,
    }
}

/// Goes along a log and asks before each event, from the first non-local read on.
fn walk(grid: &mut Grid, owned: &Owned, mut verdict: impl FnMut(bool)) {
    let first = owned.under_test.len() - remaining(owned);
    grid.begin(&owned.interfering);
    for (at, &event) in owned.under_test.iter().enumerate() {
        if at >= first {
            let feasible = grid.would_be_feasible(event);
            verdict(feasible);
            if !feasible {
                break;
            }
        }
        grid.push(event);
    }
}

/// Times two things over all logs: the first once, with the time that it says it took, the second many times, in
/// seconds for all logs. They take turns, so that what else the machine does meets both.
fn in_turns(
    all: &[Owned],
    mut slow: impl FnMut(&Owned) -> Duration,
    mut fast: impl FnMut(&Owned),
) -> (Duration, f64) {
    let (mut slow_time, mut fast_time) = (Duration::ZERO, Duration::ZERO);
    let mut passes = 0;
    all.iter().for_each(&mut fast);
    for turn in all.chunks(all.len().div_ceil(TURNS)) {
        slow_time += turn.iter().map(&mut slow).sum::<Duration>();
        let begin = Instant::now();
        while begin.elapsed() < FAST_TURN {
            all.iter().for_each(&mut fast);
            passes += 1;
        }
        fast_time += begin.elapsed();
    }
    (slow_time, fast_time.as_secs_f64() / f64::from(passes))
}
