//! P̂ₖ beside the exhaustive searches of loom and shuttle: the same programs, in the same run, on one core.

use std::process::ExitCode;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use seqz_runtime::check::{Bounds, Search, machine};
use seqz_runtime::engine::Solver;
use seqz_runtime::{Bound, Role};

use crate::clock::Clock;
use crate::programs::{EXECUTIONS, FAILURES, loom, seqz, shuttle};

/// How long each search is repeated.
const WINDOW: Duration = Duration::from_secs(2);

/// In how many parts: the best counts, as the one that had least of the machine's other work beside it.
const PARTS: u32 = 8;

/// A tool's search of a program, repeated.
struct Measured {
    executions_per_second: f64,
    executions_to_exhaust: u64,
    microseconds_to_exhaust: f64,
    failures: bool,
}

fn measure(mut search: impl FnMut()) -> Measured {
    search(); // Warm: caches, allocations, lazily made tables.
    let mut best = measure_part(&mut search);
    for _ in 1..PARTS {
        let part = measure_part(&mut search);
        if part.executions_per_second > best.executions_per_second {
            best = part;
        }
    }
    best
}

fn measure_part(search: &mut impl FnMut()) -> Measured {
    EXECUTIONS.store(0, Relaxed);
    FAILURES.store(0, Relaxed);
    let clock = Clock::start();
    let mut searches = 0;
    while clock.wall() < WINDOW / PARTS {
        search();
        searches += 1;
    }
    let seconds = clock.elapsed().as_secs_f64();
    let executions = EXECUTIONS.load(Relaxed);
    #[allow(clippy::cast_precision_loss)]
    Measured {
        executions_per_second: executions as f64 / seconds,
        executions_to_exhaust: executions / searches,
        microseconds_to_exhaust: seconds * 1e6 / searches as f64,
        failures: FAILURES.load(Relaxed) > 0,
    }
}

fn by_seqz(program: fn()) -> Measured {
    let bounds = Bounds::default();
    let bound = Bound {
        inputs: Vec::new(),
        program: Box::new(program),
        safe: true,
    };
    let mut machine = machine(&bounds, Solver::Grid);
    measure(|| {
        for role in Role::BOTH {
            let mut search = Search::new(&bound, role, bounds);
            while !search.finished() {
                let level = search.next_level(&mut machine, &mut |_, _| true);
                assert!(
                    level.is_ok_and(|level| level.exhausted()),
                    "the search was cut"
                );
            }
        }
    })
}

fn by_loom(program: fn()) -> Measured {
    measure(|| ::loom::model(program))
}

fn by_shuttle(program: fn()) -> Measured {
    measure(|| {
        ::shuttle::check_dfs(program, None);
    })
}

/// Measures and prints.
pub(crate) fn run() -> ExitCode {
    println!(
        "Executions per second, and the time to exhaust: seqz all choices with k ≤ 3 and both roles, the others all"
    );
    println!(
        "interleavings. One core, one run, {} s each, processor time, the best eighth.\n",
        WINDOW.as_secs()
    );
    println!(
        "{:<10} {:<8} {:>14} {:>12} {:>14}  failure seen",
        "program", "tool", "executions/s", "to exhaust", "µs to exhaust"
    );
    // Shuttle comes last: its panic hook writes about panics that loom uses to end threads.
    let seqz = [seqz::bluetooth as fn(), seqz::counter].map(by_seqz);
    let loom = [loom::bluetooth as fn(), loom::counter].map(by_loom);
    let shuttle = [shuttle::bluetooth as fn(), shuttle::counter].map(by_shuttle);
    for (at, name) in ["bluetooth", "counter"].into_iter().enumerate() {
        let (ours, loom, shuttle) = (&seqz[at], &loom[at], &shuttle[at]);
        for (tool, measured) in [("seqz", ours), ("loom", loom), ("shuttle", shuttle)] {
            println!(
                "{name:<10} {tool:<8} {:>14.0} {:>12} {:>14.2}  {}",
                measured.executions_per_second,
                measured.executions_to_exhaust,
                measured.microseconds_to_exhaust,
                if measured.failures { "yes" } else { "no" },
            );
        }
        for (tool, measured) in [("loom", loom), ("shuttle", shuttle)] {
            println!(
                "{name:<10} seqz against {tool}: {:.1}× the executions per second, {:.0}× less time to exhaust",
                ours.executions_per_second / measured.executions_per_second,
                measured.microseconds_to_exhaust / ours.microseconds_to_exhaust,
            );
        }
        println!();
    }
    ExitCode::SUCCESS
}
