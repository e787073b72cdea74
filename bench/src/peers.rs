//! P̂ₖ beside the exhaustive searches of loom and shuttle: the same programs, in the same run, on one core.
//!
//! The programs note a failure instead of panicking: both peers stop at the first panic, and a panic costs more than an
//! execution.

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use seqz_runtime::check::{Bounds, Search, machine};
use seqz_runtime::engine::Solver;
use seqz_runtime::{Bound, Role};

use crate::clock::Clock;

/// Executions of the current measurement.
static EXECUTIONS: AtomicU64 = AtomicU64::new(0);
/// Failures that they noted.
static FAILURES: AtomicU64 = AtomicU64::new(0);

/// The programs, over the concurrency items of one tool.
macro_rules! programs {
    ($tool:ident, $root:path) => {
        mod $tool {
            use super::{EXECUTIONS, FAILURES, Relaxed};
            use tool::sync::Arc;
            use tool::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering::SeqCst};
            use tool::thread;
            use $root as tool;

            struct Driver {
                pending_io: AtomicI32,
                stopping_flag: AtomicBool,
                stopping_event: AtomicBool,
                stopped: AtomicBool,
            }

            impl Driver {
                fn release(&self) {
                    if self.pending_io.fetch_sub(1, SeqCst) == 1 {
                        self.stopping_event.store(true, SeqCst);
                    }
                }

                fn add(&self) {
                    if self.stopping_flag.load(SeqCst) {
                        return;
                    }
                    self.pending_io.fetch_add(1, SeqCst);
                    if self.stopped.load(SeqCst) {
                        FAILURES.fetch_add(1, Relaxed);
                    }
                    self.release();
                }

                fn stop(&self) {
                    self.stopping_flag.store(true, SeqCst);
                    self.release();
                    if self.stopping_event.load(SeqCst) {
                        self.stopped.store(true, SeqCst);
                    }
                }
            }

            pub(super) fn bluetooth() {
                EXECUTIONS.fetch_add(1, Relaxed);
                let driver = Arc::new(Driver {
                    pending_io: AtomicI32::new(1),
                    stopping_flag: AtomicBool::new(false),
                    stopping_event: AtomicBool::new(false),
                    stopped: AtomicBool::new(false),
                });
                let other = driver.clone();
                let add = thread::spawn(move || other.add());
                let other = driver.clone();
                let stop = thread::spawn(move || other.stop());
                add.join().unwrap();
                stop.join().unwrap();
            }

            pub(super) fn counter() {
                EXECUTIONS.fetch_add(1, Relaxed);
                let count = Arc::new(AtomicU32::new(0));
                let threads = [0, 1].map(|_| {
                    let count = count.clone();
                    thread::spawn(move || {
                        let seen = count.load(SeqCst);
                        count.store(seen + 1, SeqCst);
                    })
                });
                for thread in threads {
                    thread.join().unwrap();
                }
                if count.load(SeqCst) != 2 {
                    FAILURES.fetch_add(1, Relaxed);
                }
            }
        }
    };
}

programs!(seqz, seqz_runtime::std);
programs!(loom, loom);
programs!(shuttle, shuttle);

/// How long each search is repeated.
const WINDOW: Duration = Duration::from_secs(2);

/// A tool's search of a program, repeated.
struct Measured {
    executions_per_second: f64,
    executions_to_exhaust: u64,
    microseconds_to_exhaust: f64,
    failures: bool,
}

fn measure(mut search: impl FnMut()) -> Measured {
    search(); // Warm: caches, allocations, lazily made tables.
    EXECUTIONS.store(0, Relaxed);
    FAILURES.store(0, Relaxed);
    let clock = Clock::start();
    let mut searches = 0;
    while clock.wall() < WINDOW {
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
        "interleavings. One core, one run, {} s each, processor time.\n",
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
