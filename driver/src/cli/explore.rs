//! `seqz explore`.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::Ordering;
use std::time::Instant;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use seqz_explore::catalogue::{self, Bound, Entry, STRATEGIES, Trait};
use seqz_explore::mcm;

use super::packages::Chosen;
use super::search::{STOP, SearchArgs, Time, watch_for_interrupts};
use super::{Format, Verdict};
use crate::build::{Allocator, Copies};
use crate::check::Subject;
use crate::check::progress::Progress;
use crate::error::Error;
use crate::explore::{self, Options};
use crate::model::document::{Cut, Status};
use crate::model::exploration::{Exploration, HarnessExploration};
use crate::model::lone::Spurious;
use crate::output::Output;
use crate::program::{Follow, FollowArgs, Mode};
use crate::report::{self, explored, several};
use crate::solvers::Solver;
use crate::terminal::Terminal;

/// Arguments of `seqz explore`.
#[derive(Debug, Args)]
#[command(
    about = "Run a program, with any number of threads, in many orders or in all of them",
    long_about = "Run a program, with any number of threads, in many orders or in all of them.\n\n\
        Every harness is run as it is, with its threads as coroutines under a scheduler that decides at each access to \
        what they share whose turn it is. The strategy says which orders are tried. At the end there is, for each \
        harness, what can be promised: that all was run (exhausted), all within a bound, or a sample.\n\n\
        The memory model is sequential consistency: what `Ordering` arguments allow beyond that is not \
        explored, but with --memory rc11, which takes atomics, fences, threads and mutexes so far. Data races of `unsafe` \
        code are judged by these arguments.",
    after_long_help = "Examples:\n  \
        seqz explore                                every harness of the crate in this directory\n  \
        seqz explore src/queue.rs --harness push_and_pop --strategy icb --bound 2\n  \
        seqz explore --strategy surw --max-executions 1000000 --jobs 2\n  \
        seqz explore --input 'threads=3' --time 60 --format json > report.json\n\n\
        Ctrl-C ends the search; what has been found by then is reported. Failures are also written to \
        DIR/findings as they come, where DIR is the target directory; `seqz replay` runs them again."
)]
pub struct ExploreArgs {
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    follow: FollowArgs,
    /// Which orders to try
    #[arg(long, value_enum, default_value = catalogue::DEFAULT)]
    strategy: StrategyChoice,
    /// Which memory model the program runs under
    #[arg(long, value_enum, default_value_t)]
    memory: Memory,
    #[arg(long, value_enum, help = format!("Who answers what {} ask of a trace [default: {}]", with(Trait::Asks), Solver::ORDER.name))]
    solver: Option<Solver<dyn mcm::Solver>>,
    #[arg(long, value_name = "N", help = bounds())]
    bound: Option<u32>,
    /// How many executions to make at most, per harness and choice of inputs [default: 10000 where schedules are drawn
    /// at random and there is no --time, else any number]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_executions: Option<u64>,
    /// Where schedules are drawn at random, go on with a harness after its first failure
    #[arg(long)]
    keep_going: bool,
    /// Count distinct lazy happens-before relations, too, which leave out the order of lock operations; the strategies that
    /// are about them always do. A search that counts them is not shared by workers
    #[arg(long)]
    lazy_relations: bool,
    #[arg(long, value_name = "N", help = format!(
        "How many runs with random schedules {} learn from before they begin [default: 0]", with(Trait::Learns)
    ))]
    learning_runs: Option<u32>,
    #[arg(long, value_name = "N", help = format!(
        "How many of the calls that lead to an event tell it from others, for {} [default: {CALL_DEPTH}]", with(Trait::Learns)
    ), value_parser = clap::value_parser!(u32).range(0..=64))]
    call_depth: Option<u32>,
    /// How many events one execution may have, over all threads, before it is cut [default: as many as the program needs, up
    /// to 1,000,000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_steps: Option<u32>,
    /// Stack of each thread, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = STACK_SIZE, value_parser = clap::value_parser!(u64).range(16_384..=1 << 30))]
    stack_size: u64,
    #[arg(long, value_name = "N", help = format!(
        "How many workers at once: they share the work on a harness with {}, and where schedules are drawn at random; with \
         other strategies, and with {} under --max-executions, they take a harness each",
        those(|entry| entry.has(Trait::Divides) || entry.has(Trait::Threaded)), with(Trait::Divides)
    ), default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    jobs: u32,
    #[arg(long, value_name = "FILE", help = format!(
        "Write down what the search knows, to go on from there in another run; where FILE is a checkpoint already, go on \
         from it. With {}, and for one harness", with(Trait::GoesOn)
    ))]
    checkpoint: Option<PathBuf>,
}

/// A memory model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Memory {
    /// Sequential consistency: each read sees the latest write
    #[default]
    Sc,
    /// Rust's, which is C++20's without values out of thin air: what the `Ordering` arguments say
    Rc11,
}

impl ExploreArgs {
    /// The strategy of the search.
    fn strategy(&self) -> &'static Entry {
        match self.memory {
            Memory::Sc => self.strategy.0,
            Memory::Rc11 => &catalogue::RC11,
        }
    }
}

/// The stack that std gives to a thread, in bytes.
pub(super) const STACK_SIZE: u64 = 2 << 20;

/// The number of calls in the experiments of the paper (Wang, Said, Gupta 2011).
const CALL_DEPTH: u32 = 5;

/// The number of executions where schedules are drawn at random and no bound is given.
const SAMPLES: u64 = 10_000;

/// A strategy, by its name in the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StrategyChoice(pub(super) &'static Entry);

impl ValueEnum for StrategyChoice {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<StrategyChoice>> =
            LazyLock::new(|| STRATEGIES.iter().map(StrategyChoice).collect());
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name).help(self.0.about))
    }
}

/// The names of strategies, in words: `a`, `a and b`, `a, b and c`.
fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [name] => (*name).to_owned(),
        [names @ .., last] => format!("{} and {last}", names.join(", ")),
    }
}

/// The strategies of which this is true, in words.
fn those(wanted: impl Fn(&Entry) -> bool) -> String {
    let those = STRATEGIES.iter().filter(|entry| wanted(entry));
    list(&those.map(|entry| entry.name).collect::<Vec<_>>())
}

/// The strategies with a trait, in words.
fn with(wanted: Trait) -> String {
    those(|entry| entry.has(wanted))
}

/// What is bounded by `--bound`, of which strategies.
fn bounds() -> String {
    let mut of: Vec<&str> = Vec::new();
    let all = STRATEGIES.iter().filter_map(|entry| entry.bound);
    for bound in all.clone() {
        if !of.contains(&bound.of) {
            of.push(bound.of);
        }
    }
    let bounds = of.iter().map(|of| {
        let mut defaults: Vec<Option<u32>> = Vec::new();
        for bound in all.clone().filter(|bound| bound.of == *of) {
            if !defaults.contains(&bound.default) {
                defaults.push(bound.default);
            }
        }
        let those = defaults.iter().map(|&default| {
            let bound = Some(Bound { of, default });
            let default = default.map_or("any number".to_owned(), |it| it.to_string());
            format!("of {} [default: {default}]", those(|it| it.bound == bound))
        });
        format!("{of} at most, {}", those.collect::<Vec<_>>().join(", "))
    });
    let bounds = bounds.collect::<Vec<_>>().join("; ");
    let mut letters = bounds.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// Refuses options that mean nothing to the strategy.
fn refuse(args: &ExploreArgs) -> Result<(), Error> {
    if args.memory == Memory::Rc11 && *args.strategy.0 != *catalogue::default() {
        return Err(Error::Option {
            message: format!(
                "--strategy {} means nothing with --memory rc11",
                args.strategy.0.name
            ),
            help: "there is one search under rc11: leave --strategy out".into(),
        });
    }
    let strategy = args.strategy();
    let refused = |message: String, help| Err(Error::Option { message, help });
    if args.bound.is_some() && strategy.bound.is_none() {
        return refused(
            format!("--bound means nothing to {}", strategy.name),
            format!("{} have a bound", those(|entry| entry.bound.is_some())),
        );
    }
    let learns = strategy.has(Trait::Learns);
    if !learns && (args.learning_runs.is_some() || args.call_depth.is_some()) {
        return refused(
            format!(
                "--learning-runs and --call-depth mean nothing to {}",
                strategy.name
            ),
            format!("{} learn from runs", with(Trait::Learns)),
        );
    }
    if args.checkpoint.is_some() && !strategy.has(Trait::GoesOn) {
        let those = with(Trait::GoesOn);
        return refused(
            format!("there are no checkpoints of {}", strategy.name),
            format!("{those} has them: `--strategy {those}`"),
        );
    }
    if args.search.piece.partition.is_some() {
        let divides = strategy.has(Trait::Divides);
        if !divides && !strategy.has(Trait::Samples) {
            return refused(
                format!("a search by {} has no pieces", strategy.name),
                format!(
                    "{} have",
                    those(|entry| entry.has(Trait::Divides) || entry.has(Trait::Samples))
                ),
            );
        }
        if divides && args.lazy_relations {
            return refused(
                "a search that counts lazy relations has no pieces".into(),
                "leave --lazy-relations out".into(),
            );
        }
        if divides && args.max_executions.is_some() {
            return refused(
                format!(
                    "a search by {} with --max-executions has no pieces",
                    strategy.name
                ),
                "give each piece some --time instead".into(),
            );
        }
    }
    if args.solver.is_some() && !strategy.has(Trait::Asks) {
        return refused(
            format!("--solver means nothing to {}", strategy.name),
            format!("{} ask a solver", with(Trait::Asks)),
        );
    }
    Ok(())
}

pub(super) fn run(args: &ExploreArgs, terminal: &Terminal) -> Result<Verdict, Error> {
    let started = Instant::now();
    refuse(args)?;
    if let Some(solver) = args.solver {
        solver.is_there()?;
    }
    let search = &args.search;
    let mode = match call_depth(args) {
        0 => Mode::Scheduled,
        _ => Mode::Followed,
    };
    let follow = Follow::named(&args.follow);
    let members = search.packages.load(mode, &follow, terminal)?;
    let chosen = members.chosen(&search.harness)?;
    search.known_inputs(chosen.iter().flat_map(Chosen::harnesses))?;
    let number = chosen.iter().map(Chosen::len).sum();
    if args.checkpoint.is_some() && number != 1 {
        return Err(Error::Option {
            message: format!("a checkpoint is of one harness, and here are {number}"),
            help: "name one with --harness".into(),
        });
    }
    search.keeps_one(&chosen)?;
    watch_for_interrupts()?;

    let progress = Progress::new(terminal);
    let mut out = Output::stdout();
    let mut time = Time::of(search.time, number);
    let seed = search.seed();
    let mut reports = Vec::new();
    let mut results = search.piece.results("explore", &search.packages.path, || {
        let mut said = search.told_apart(chosen.iter().flat_map(Chosen::names), seed);
        said.extend(told_apart(args));
        said
    })?;
    let mut queue = VecDeque::from(chosen);
    while let Some(chosen) = queue.pop_front() {
        let (member, harnesses) = (&chosen.member, chosen.harnesses());
        let ready = search
            .build(
                &member.program,
                &harnesses,
                0,
                Copies::WhereClone,
                &progress,
            )
            .and_then(|ready| match ready {
                Some(ready) => own_allocator(ready.built.allocator).map(|()| Some(ready)),
                None => Ok(None),
            });
        let ready = match ready {
            Ok(Some(ready)) => ready,
            Ok(None) => return Ok(Verdict::Interrupted),
            Err(error) => {
                progress.suspend(|| members.go_on(&chosen, error, &mut queue, terminal))?;
                continue;
            }
        };
        let mut options = options(args, &member.path, seed, ready.target_dir);
        if let Some(file) = &args.checkpoint {
            if let Some(seed) = explore::checkpoint::seed(file)?.filter(|_| search.seed.is_none()) {
                options.seed = seed;
            }
            let name = &harnesses[0].name;
            let checkpoint = explore::Checkpoint::new(file, &ready.built.worker, name, &options)?;
            options.checkpoint = Some(checkpoint);
        }
        let began = Instant::now();
        options.deadline = time.deadline(harnesses.len());
        let subject = Subject {
            sources: member.program.sources(),
            generated: &ready.generated,
            built: &ready.built,
        };
        let (strategy, detail) = (options.strategy.name, search.detail());
        let finished = |harness: &HarnessExploration| match search.format {
            Format::Human => progress.suspend(|| {
                let harness = HarnessExploration {
                    name: member.named(&harness.name),
                    ..harness.clone()
                };
                out.write(|out| explored::harness(out, &harness, strategy, detail, terminal.width))
            }),
            Format::Json => Ok(()),
        };
        let mut keep = results.of(member, &ready.generated)?;
        let mut report = explore::run_piece(
            subject,
            &harnesses,
            &options,
            &STOP,
            &progress,
            finished,
            |shares| keep.explored(|| (explore::head(&options), shares())),
        )?;
        keep.explored_whole(&report)?;
        report.summary.building = ready.took.as_secs_f64();
        time.spend(began, harnesses.len());
        for harness in &mut report.harnesses {
            harness.name = member.named(&harness.name);
        }
        reports.push(report);
        if STOP.load(Ordering::Relaxed) {
            break;
        }
    }
    results.finish()?;
    progress.finish();
    let path = search.packages.path.display().to_string();
    let Some(mut report) = several::explored(&path, reports) else {
        return Ok(members.verdict(Verdict::Clean));
    };
    report.summary.seconds = started.elapsed().as_secs_f64();
    out.write(|out| match search.format {
        Format::Human => explored::closing(out, &report),
        Format::Json => report::json(out, &report),
    })?;
    // That is asked of all pieces together.
    let is_asked = args.search.require_exhausted && args.search.piece.partition.is_none();
    let exhausted = !is_asked || report.summary.exhausted;
    Ok(members.verdict(verdict(&report).demanding(exhausted)))
}

/// What tells this exploration from others, beside what all searches have.
fn told_apart(args: &ExploreArgs) -> Vec<(&'static str, String)> {
    let as_text = |value: &dyn std::fmt::Debug| format!("{value:?}");
    vec![
        ("strategy", args.strategy.0.name.to_owned()),
        (
            "solver",
            args.solver.unwrap_or(Solver::ORDER).name.to_owned(),
        ),
        ("bound", as_text(&args.bound)),
        ("max-executions", as_text(&args.max_executions)),
        ("keep-going", args.keep_going.to_string()),
        ("learning-runs", as_text(&args.learning_runs)),
        ("call-depth", as_text(&args.call_depth)),
        ("max-steps", as_text(&args.max_steps)),
        ("stack-size", args.stack_size.to_string()),
        ("followed", as_text(&args.follow)),
    ]
}

/// Refuses a program with an allocator of its own: objects are named by their addresses, which must not depend on the
/// schedule.
pub(super) fn own_allocator(allocator: Allocator) -> Result<(), Error> {
    match allocator {
        Allocator::Ours => Ok(()),
        Allocator::Theirs => Err(Error::Option {
            message: "the program has a #[global_allocator] of its own, or a crate that it depends on has".into(),
            help: "schedules are explored with an allocator that seqz brings along: leave the other one out of tests, \
                   with `#[cfg_attr(not(test), global_allocator)]` say"
                .into(),
        }),
    }
}

/// Returns the number of enclosing calls by which events are told apart.
fn call_depth(args: &ExploreArgs) -> u32 {
    if args.strategy().has(Trait::Learns) {
        args.call_depth.unwrap_or(CALL_DEPTH)
    } else {
        0
    }
}

fn options(args: &ExploreArgs, path: &Path, seed: u64, target_dir: PathBuf) -> Options {
    let search = &args.search;
    let strategy = args.strategy();
    let samples = strategy.has(Trait::Samples);
    let unbounded = if samples && search.time.is_none() {
        SAMPLES
    } else {
        u64::MAX
    };
    Options {
        path: path.display().to_string(),
        strategy,
        lazy_relations: args.lazy_relations || strategy.has(Trait::CountsLazily),
        solver: args.solver.unwrap_or(Solver::ORDER),
        learning_runs: args.learning_runs.unwrap_or(0),
        call_depth: call_depth(args),
        bound: args.bound,
        inputs: search.inputs(),
        max_inputs: search.max_inputs,
        seed,
        max_steps: args.max_steps,
        spurious: if strategy.has(Trait::Weak) {
            Spurious::everywhere(0)
        } else {
            search.reasonless()
        },
        max_executions: args.max_executions.unwrap_or(unbounded),
        stack_size: args.stack_size,
        deadline: None,
        hang_after: search.hang_after,
        ignore_detached_panics: search.ignore_detached_panics,
        until_failure: samples && !args.keep_going,
        jobs: args.jobs,
        checkpoint: None,
        piece: search.piece.partition,
        target_dir,
    }
}

pub(super) fn verdict(report: &Exploration) -> Verdict {
    let any = |wanted: fn(&Status) -> bool| report.harnesses.iter().any(|h| wanted(&h.status));
    if report.summary.failures > 0 {
        Verdict::Bugs
    } else if report.cut == Some(Cut::Interrupted) {
        Verdict::Interrupted
    } else if any(|status| matches!(status, Status::Failed { .. })) {
        Verdict::Failed
    } else if report.summary.unsupported + report.summary.doubtful > 0 {
        Verdict::Unsupported
    } else {
        Verdict::Clean
    }
}
