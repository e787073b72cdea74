//! The order solver against Z3, on the queries that `mcr` asks about the traces of real programs.
//!
//! Each example is explored as by `seqz explore --strategy mcr`, and what its search asks is taken down: models of traces
//! and queries about them. Then each query is put to three solvers in turn, in one run:
//! - the order solver, with nothing kept from the query before but memory;
//! - Z3 from nothing: the reduced formula, a new QF_IDL solver, the check, the execution;
//! - Z3 incrementally: the query's bounds and goal, the check, the execution, and taking the query back. The model's rules
//!   have been asserted, and that is not timed. Both of Z3's incremental solvers are tried, each with scopes and with
//!   assumptions; the fastest of the four on the example's queries as a whole counts. All queries about a model that is
//!   taken are put in the order in which they were asked, so that what is learned can be of use.
//!
//! All must agree on every query, and every execution is validated.

use std::hint::black_box;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use seqz::Error;
use seqz::check::Subject;
use seqz::check::progress::Progress;
use seqz::explore::Options;
use seqz::model::document::Role;
use seqz::program::{Choice, Harness, Mode, Program, Request};
use seqz::solvers::Solver as Answers;
use seqz::terminal::Terminal;
use seqz_explore::catalogue;
use seqz_explore::mcm::{
    Goal, Model, OrderSolver, Query, Retract, Solver, Verdict, Z3, Z3Incremental, validate, words,
};
use seqz_runtime::worker::message::SolverKind;

/// The examples, those of the papers on maximal causality first.
const EXAMPLES: [&str; 12] = [
    "mcr",
    "account",
    "airline",
    "allocation",
    "bubblesort",
    "pingpong",
    "pool",
    "stringbuffer",
    "bluetooth",
    "philosophers",
    "queue",
    "bounded_buffer",
];
/// What is aimed at: median ratios to Z3 from nothing, and to Z3 incrementally.
const TARGETS: (f64, f64) = (500.0, 50.0);
/// Ways to use Z3 incrementally.
const WAYS: [(Option<&str>, Retract); 4] = [
    (Some("QF_IDL"), Retract::Scope),
    (None, Retract::Scope),
    (Some("QF_IDL"), Retract::Assumption),
    (None, Retract::Assumption),
];
/// How often and how long each time the order solver is timed per query. The median counts.
const FAST_TURNS: (usize, Duration) = (5, Duration::from_micros(50));
/// After this time Z3 gives a query up, and it counts as having taken that long.
const LIMIT: Duration = Duration::from_secs(5);
/// Executions of a harness at most.
const EXECUTIONS: u64 = 2000;

/// A query that was asked, in words.
struct Asked {
    model: Vec<u64>,
    query: Vec<u64>,
}

static ASKED: Mutex<Vec<Asked>> = Mutex::new(Vec::new());

/// Takes queries down, and leaves the answers to the worker.
struct Noting;

impl Solver for Noting {
    fn solve(&mut self, model: &Model, query: &Query<'_>) -> Verdict {
        let asked = Asked {
            model: words::of_model(model),
            query: words::of_query(query),
        };
        ASKED
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(asked);
        Verdict::Unknown
    }
}

/// Times one query, in seconds.
#[derive(Clone, Copy)]
struct Times {
    order: f64,
    fresh: f64,
    incremental: f64,
    stuck: bool,
    events: usize,
}

impl Times {
    fn ratios(&self) -> (f64, f64) {
        (self.fresh / self.order, self.incremental / self.order)
    }
}

/// Times up to so many queries of each example, evenly taken from all, prints the table, and says whether the targets are
/// met.
pub(crate) fn run(queries: usize) -> ExitCode {
    println!("About {queries} queries per example, taken from all that `mcr` asks.\n");
    println!(
        "example        | queries (infeasible) | events | order    | fresh Z3: median, worst | incremental: median, worst | slower"
    );
    println!(
        "---------------|----------------------|--------|----------|-------------------------|----------------------------|-------"
    );
    let mut all = Vec::new();
    for name in EXAMPLES {
        let asked = match asked(name) {
            Ok(asked) => asked,
            Err(error) => {
                println!("{name:<14} | {error}");
                return ExitCode::FAILURE;
            }
        };
        let taken = some(asked, queries);
        let Some((times, infeasible)) = measure(&taken) else {
            println!("{name:<14} | a question was not taken down right");
            return ExitCode::FAILURE;
        };
        print(name, &times, infeasible);
        all.extend(times);
    }
    let stuck: Vec<Times> = all.iter().filter(|times| times.stuck).copied().collect();
    print("all", &all, 0);
    print("of them stuck", &stuck, 0);
    let (fresh, _) = spread(all.iter().map(|times| times.ratios().0));
    let (incremental, _) = spread(all.iter().map(|times| times.ratios().1));
    let slower = slower(&all);
    println!(
        "\nmedian {fresh:.0}× (target {}×) and {incremental:.0}× (target {}×); {slower} queries slower than Z3 (target 0)",
        TARGETS.0, TARGETS.1
    );
    if fresh >= TARGETS.0 && incremental >= TARGETS.1 && slower == 0 {
        ExitCode::SUCCESS
    } else {
        println!("A target is missed.");
        ExitCode::FAILURE
    }
}

fn print(name: &str, times: &[Times], infeasible: usize) {
    let (fresh, worst_fresh) = spread(times.iter().map(|times| times.ratios().0));
    let (incremental, worst_incremental) = spread(times.iter().map(|times| times.ratios().1));
    let (order, _) = spread(times.iter().map(|times| times.order));
    let events = times.iter().map(|times| times.events).max().unwrap_or(0);
    println!(
        "{name:<14} | {:>7} ({infeasible:>7})    | {events:>6} | {:>5.2} µs | {fresh:>11.0}×, {worst_fresh:>8.1}× | {incremental:>14.0}×, {worst_incremental:>8.1}× | {:>6}",
        times.len(),
        order * 1e6,
        slower(times),
    );
}

fn slower(times: &[Times]) -> usize {
    let is_slower = |times: &&Times| times.order > times.fresh.min(times.incremental);
    times.iter().filter(is_slower).count()
}

/// The median and the least.
fn spread(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let median = values.get(values.len() / 2).copied().unwrap_or(f64::NAN);
    (median, values.first().copied().unwrap_or(f64::NAN))
}

/// All that a search of the example asks.
fn asked(name: &str) -> Result<Vec<Asked>, Error> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../examples/{name}.rs"));
    let program = Program::load(&path, Mode::Scheduled)?;
    let harnesses: Vec<&Harness> = program.harnesses().iter().collect();
    let request = Request {
        k: 0,
        chosen: Choice::ALL,
        role: Role::FIRST,
    };
    let generated = program.transform(&request)?;
    let target_dir = seqz::build::target_dir(None, &program)?;
    let built = seqz::build::build(
        &program,
        &generated,
        &target_dir,
        seqz::build::Copies::Made,
        &AtomicBool::new(false),
        &|_| {},
    )?;
    let progress = Progress::new(&Terminal::detect());
    let subject = Subject {
        sources: program.sources(),
        generated: &generated,
        built: &built,
    };
    let mcr = catalogue::named("mcr").expect("it is in the catalogue");
    let options = Options {
        solver: Answers {
            who: SolverKind::Both,
            make: || Some(Box::new(Noting)),
            ..Answers::ORDER
        },
        max_executions: EXECUTIONS,
        ..Options::new(&path, mcr, target_dir)
    };
    seqz::explore::run(
        subject,
        &harnesses,
        &options,
        &AtomicBool::new(false),
        &progress,
        |_| Ok(()),
    )?;
    progress.finish();
    let mut asked = ASKED.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(std::mem::take(&mut *asked))
}

/// All queries about models that are taken evenly from all, about so many.
fn some(asked: Vec<Asked>, queries: usize) -> Vec<Asked> {
    let share = queries as f64 / asked.len() as f64;
    let mut taken: Vec<Asked> = Vec::new();
    let mut takes = false;
    let mut last: Vec<u64> = Vec::new();
    for (before, query) in asked.into_iter().enumerate() {
        if query.model != last {
            last.clone_from(&query.model);
            takes = (taken.len() as f64) < before as f64 * share + 1.0;
        }
        if takes {
            taken.push(query);
        }
    }
    taken
}

/// The times of all queries, and how many have no answer.
fn measure(asked: &[Asked]) -> Option<(Vec<Times>, usize)> {
    let mut known: Vec<Verdict> = Vec::new();
    let mut times = Vec::new();
    let mut infeasible = 0;
    let (mut order, mut fresh) = (OrderSolver::default(), Z3::with_time_limit(LIMIT));
    for asked in asked {
        let (model, lower, upper, goal) = parts(asked)?;
        let query = Query {
            lower: &lower,
            upper: &upper,
            goal,
        };
        let verdict = order.solve(&model, &query);
        let took = often(|| drop(black_box(order.solve(&model, &query))));
        let (by_z3, took_z3) = once(|| fresh.solve(&model, &query));
        check(&model, &query, &verdict, &by_z3);
        infeasible += usize::from(verdict == Verdict::Infeasible);
        known.push(verdict);
        times.push(Times {
            order: took,
            fresh: took_z3,
            incremental: f64::INFINITY,
            stuck: goal == Goal::Stuck,
            events: model.len(),
        });
    }
    let mut best: Option<Vec<f64>> = None;
    for (logic, retract) in WAYS {
        let solver = Z3Incremental::new(logic).with_time_limit(LIMIT);
        let mut solver = solver.retracting(retract);
        let mut column = Vec::new();
        let best_total: f64 = best.iter().flatten().sum();
        for (asked, known) in asked.iter().zip(&known) {
            let (model, lower, upper, goal) = parts(asked)?;
            solver.learn(&model);
            let query = Query {
                lower: &lower,
                upper: &upper,
                goal,
            };
            let (verdict, took) = once(|| solver.solve(&model, &query));
            check(&model, &query, known, &verdict);
            column.push(took);
            if best.is_some() && column.iter().sum::<f64>() > best_total {
                break;
            }
        }
        if column.len() == asked.len() {
            best = Some(column);
        }
    }
    for (times, took) in times.iter_mut().zip(best?) {
        times.incremental = took;
    }
    Some((times, infeasible))
}

fn parts(asked: &Asked) -> Option<(Model, Vec<u32>, Vec<u32>, Goal)> {
    let model = words::to_model(&asked.model)?;
    let (lower, upper, goal) = words::to_query(&model, &asked.query)?;
    Some((model, lower, upper, goal))
}

fn once<T>(what: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let value = what();
    (value, start.elapsed().as_secs_f64())
}

/// The mean of as many times as there are in a turn, and the median of those.
fn often(mut what: impl FnMut()) -> f64 {
    let turn = |_| {
        let start = Instant::now();
        let mut count = 0.0;
        loop {
            what();
            count += 1.0;
            let elapsed = start.elapsed();
            if elapsed >= FAST_TURNS.1 {
                return elapsed.as_secs_f64() / count;
            }
        }
    };
    spread((0..FAST_TURNS.0).map(turn)).0
}

fn check(model: &Model, query: &Query<'_>, one: &Verdict, other: &Verdict) {
    let is_feasible = |verdict: &Verdict| match verdict {
        Verdict::Feasible(witness) => {
            assert!(validate(model, query, witness).is_some(), "{query:?}");
            Some(true)
        }
        Verdict::Infeasible => Some(false),
        Verdict::Unknown => None,
    };
    if let (Some(one), Some(other)) = (is_feasible(one), is_feasible(other)) {
        assert_eq!(one, other, "{query:?} about {model:?}");
    }
}
