//! Scheduled mode beside loom and shuttle: all three run the same programs under a scheduler, schedule by schedule, in the
//! same run, on one core. seqz searches depth first, as shuttle does, and traces every execution.

use std::process::ExitCode;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use seqz_explore::{
    Dfs, Dpor, Icb, LazyDpor, Mcr, Odpor, Pct, Promise, Random, RvCausal, Search, Strategy,
};
use seqz_runtime::scheduled::{Machine, Settings};

use crate::clock::Clock;
use crate::programs::{EXECUTIONS, FAILURES, loom, seqz, shuttle};

/// How long each search runs; it is begun again when it ends.
const WINDOW: Duration = Duration::from_secs(4);
/// In how many parts: the best counts, as the one that had least of the machine's other work beside it.
const PARTS: u32 = 8;
/// Executions that a search runs between two looks at the clock.
const BATCH: u32 = 1000;
/// What is aimed at: how many times the executions per second of shuttle and of loom.
const TARGETS: (f64, f64) = (3.0, 20.0);
/// How long the large program may take.
const LARGE: Duration = Duration::from_secs(90);

struct Measured {
    executions_per_second: f64,
    /// `None`: not in a part of the window.
    executions_to_exhaust: Option<u64>,
    failures: bool,
}

/// Repeats `search`, which runs for at most this long and says whether it came to its end.
fn measure(mut search: impl FnMut(Duration) -> bool) -> Measured {
    let mut measured = Measured {
        executions_per_second: 0.0,
        executions_to_exhaust: None,
        failures: false,
    };
    for _ in 0..PARTS {
        EXECUTIONS.store(0, Relaxed);
        FAILURES.store(0, Relaxed);
        let clock = Clock::start();
        loop {
            let left = (WINDOW / PARTS).saturating_sub(clock.wall());
            if left.is_zero() {
                break;
            }
            let before = EXECUTIONS.load(Relaxed);
            if search(left) {
                measured.executions_to_exhaust = Some(EXECUTIONS.load(Relaxed) - before);
            }
        }
        #[allow(clippy::cast_precision_loss)]
        let rate = EXECUTIONS.load(Relaxed) as f64 / clock.elapsed().as_secs_f64();
        measured.executions_per_second = measured.executions_per_second.max(rate);
        measured.failures |= FAILURES.load(Relaxed) > 0;
    }
    measured
}

/// The answer has the events per second too.
fn by_seqz(program: fn()) -> (Measured, f64) {
    let program = move || program();
    let mut machine = Machine::new(&program, Settings::default());
    let (mut events, mut executions) = (0, 0);
    let measured = measure(|limit| {
        let mut search = Search::new(Dfs::new());
        let begin = Instant::now();
        let mut finished = false;
        while !finished && begin.elapsed() < limit {
            let done = search.run(&mut machine, u64::from(BATCH));
            finished = done.expect("the programs are deterministic") < u64::from(BATCH);
        }
        events += search.counts().events;
        executions += search.counts().executions;
        finished
    });
    #[allow(clippy::cast_precision_loss)]
    let events = measured.executions_per_second * events as f64 / executions as f64;
    (measured, events)
}

fn by_loom(program: fn()) -> Measured {
    measure(|limit| {
        let begin = Instant::now();
        let mut builder = ::loom::model::Builder::new();
        builder.checkpoint_interval = BATCH as usize;
        builder.max_duration = Some(limit);
        builder.check(program);
        begin.elapsed() < limit
    })
}

fn by_shuttle(program: fn()) -> Measured {
    // It has no limit on time: more and more executions are asked for.
    let mut executions = BATCH as usize;
    measure(|limit| {
        let begin = Instant::now();
        let before = EXECUTIONS.load(Relaxed);
        ::shuttle::check_dfs(program, Some(executions));
        let done = usize::try_from(EXECUTIONS.load(Relaxed) - before).unwrap_or(usize::MAX);
        let finished = done < executions;
        if !finished && begin.elapsed() < limit / 8 {
            executions *= 2;
        }
        finished
    })
}

type Programs = [(&'static str, [fn(); 3]); 4];

const PROGRAMS: Programs = [
    (
        "bluetooth",
        [seqz::bluetooth, loom::bluetooth, shuttle::bluetooth],
    ),
    ("counter", [seqz::counter, loom::counter, shuttle::counter]),
    ("account", [seqz::account, loom::account, shuttle::account]),
    ("lock", [seqz::lock, loom::lock, shuttle::lock]),
];

/// Measures and prints.
pub(crate) fn run() -> ExitCode {
    println!(
        "Executions per second of schedules: seqz dfs with its trace, loom, and shuttle dfs. One core, one run, {} s each,\n\
         processor time, the best eighth.\n",
        WINDOW.as_secs()
    );
    println!(
        "{:<10} {:<8} {:>14} {:>12} {:>12}  failure seen",
        "program", "tool", "executions/s", "events/s", "to exhaust"
    );
    // Shuttle comes last: its panic hook writes about panics that loom uses to end threads.
    let seqz = PROGRAMS.map(|(_, [program, _, _])| by_seqz(program));
    let loom = PROGRAMS.map(|(_, [_, program, _])| by_loom(program));
    let shuttle = PROGRAMS.map(|(_, [_, _, program])| by_shuttle(program));
    let mut met = true;
    for (at, (name, _)) in PROGRAMS.into_iter().enumerate() {
        let ((ours, events), loom, shuttle) = (&seqz[at], &loom[at], &shuttle[at]);
        for (tool, measured, events) in [
            ("seqz", ours, format!("{events:.0}")),
            ("loom", loom, String::new()),
            ("shuttle", shuttle, String::new()),
        ] {
            println!(
                "{name:<10} {tool:<8} {:>14.0} {events:>12} {:>12}  {}",
                measured.executions_per_second,
                measured
                    .executions_to_exhaust
                    .map_or("-".to_owned(), |executions| executions.to_string()),
                if measured.failures { "yes" } else { "no" },
            );
        }
        let of_shuttle = ours.executions_per_second / shuttle.executions_per_second;
        let of_loom = ours.executions_per_second / loom.executions_per_second;
        met &= of_shuttle >= TARGETS.0 && of_loom >= TARGETS.1;
        println!("{name:<10} seqz: {of_shuttle:.1}× shuttle's, {of_loom:.0}× loom's\n");
    }
    large();
    if met {
        ExitCode::SUCCESS
    } else {
        println!("\nA target is missed.");
        ExitCode::FAILURE
    }
}

/// The program that loom's and shuttle's searches do not finish in this time.
fn large() {
    println!(
        "Three threads that each twice do {{ lock; x += 1; unlock; read y; write y }}, by odpor, for at most {} s:",
        LARGE.as_secs()
    );
    let program = || seqz::lock_and_race();
    let mut machine = Machine::new(&program, Settings::default());
    let mut search = Search::new(Odpor::new());
    let clock = Clock::start();
    let mut finished = false;
    while !finished && clock.wall() < LARGE {
        let done = search.run(&mut machine, u64::from(BATCH));
        finished = done.expect("the program is deterministic") < u64::from(BATCH);
    }
    let seconds = clock.elapsed().as_secs_f64();
    let counts = search.counts();
    #[allow(clippy::cast_precision_loss)]
    let rate = counts.executions as f64 / seconds;
    let end = match search.promise() {
        Promise::Exhausted => "all of them".to_owned(),
        _ => search
            .estimate()
            .map_or("not all of them".to_owned(), |all| {
                format!("of about {all:.2e}")
            }),
    };
    println!(
        "{} executions ({end}), {} redundant, {} terminal states, in {seconds:.1} s of processor time: {rate:.0}/s",
        counts.executions, counts.redundant, counts.states
    );
}

/// Makes so many executions of a program by a strategy, and nothing else: for profilers. A search that ends is begun anew.
pub(crate) fn only(program: &str, strategy: &str, times: u64) -> ExitCode {
    let Some((_, [program, ..])) = PROGRAMS.into_iter().find(|(name, _)| *name == program) else {
        eprintln!("{program} is none of bluetooth, counter, account and lock");
        return ExitCode::from(2);
    };
    match strategy {
        "dfs" => repeat(program, times, false, Dfs::new),
        "dpor" => repeat(program, times, false, Dpor::new),
        "odpor" => repeat(program, times, false, Odpor::new),
        "icb" => repeat(program, times, false, || Icb::new(None)),
        "random" => repeat(program, times, false, || Random::new(1)),
        "pct" => repeat(program, times, false, || Pct::new(1, 3)),
        "lazy-dpor" => repeat(program, times, true, LazyDpor::new),
        "mcr" => repeat(program, times, true, Mcr::new),
        "rv-causal" => repeat(program, times, true, RvCausal::new),
        _ => {
            eprintln!(
                "{strategy} is none of dfs, dpor, odpor, icb, random, pct, lazy-dpor, mcr and rv-causal"
            );
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

fn repeat<S: Strategy>(program: fn(), times: u64, values: bool, make: impl Fn() -> S) {
    let program = move || program();
    let settings = Settings {
        values,
        ..Settings::default()
    };
    let mut machine = Machine::new(&program, settings);
    let (mut executions, mut events, mut searches) = (0, 0, 0_u64);
    while executions < times {
        let mut search = Search::new(make());
        let done = search.run(&mut machine, times - executions);
        executions += done.expect("the programs are deterministic");
        events += search.counts().events;
        searches += 1;
    }
    println!("{executions} executions, {events} events, {searches} searches begun");
}
