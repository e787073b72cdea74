//! `seqz fuzz`.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};

use super::search::{STOP, TargetArgs, apart, chosen, random_seed, watch_for_interrupts};
use super::{Format, Verdict, role};
use crate::build::Copies;
use crate::check::progress::Progress;
use crate::check::{Subject, Task};
use crate::error::Error;
use crate::fuzz::{self, Options, Sanitizer, Tools};
use crate::output::Output;
use crate::program::{Mode, Program, Request};
use crate::report::document::{HarnessReport, Role};
use crate::report::human::Detail;
use crate::report::{self, human};
use crate::terminal::Terminal;

/// Arguments of `seqz fuzz`.
#[derive(Debug, Args)]
#[command(
    about = "Search for bugs by fuzzing inputs and interference together",
    long_about = "Search for bugs by fuzzing inputs and interference together.\n\n\
        The sequential program P̂ₖ is run by libFuzzer, which chooses its inputs and which reads of the thread under test see \
        which writes of the interfering thread, led by the branches and comparisons of the program. Use it where `seqz \
        check` has to sample inputs. What is found is replayed on the original program, and reported as `seqz check` does.\n\n\
        Needs a nightly toolchain and cargo-fuzz (`cargo install cargo-fuzz`), and a C++ compiler for libFuzzer. Nothing is \
        fetched. The corpus is kept from run to run, in the target directory.",
    after_long_help = "Examples:\n  \
        seqz fuzz --time 60\n  \
        seqz fuzz src/queue.rs --harness push_and_pop --k 2 --until-bug\n  \
        seqz fuzz --all-k --k 3 --time 300 -- -dict=words.dict\n\n\
        Ctrl-C ends the search; what has been found by then is reported."
)]
pub struct FuzzArgs {
    /// A Rust file, a crate, or a workspace member
    #[arg(default_value = ".")]
    path: PathBuf,
    /// Only this harness (its path, or the end of it); may be given several times [default: all]
    #[arg(long, value_name = "NAME")]
    harness: Vec<String>,
    /// How many reads of the thread under test are non-local, at most
    #[arg(long, short, value_name = "K", default_value_t = 2, value_parser = clap::value_parser!(u32).range(0..=64))]
    k: u32,
    /// Begin with k = 0 and go up to --k, each with its part of the time, and with what was learned before
    #[arg(long)]
    all_k: bool,
    /// Which thread is under test: `first` or `second`, `main`, or a thread's name [default: in turn]
    #[arg(long, value_name = "WHICH")]
    thread_under_test: Option<String>,
    /// How many seconds to fuzz, over all harnesses; building doesn't count
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = super::seconds)]
    time: Duration,
    /// How many executions to make at most, per harness
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_executions: Option<u64>,
    /// Leave a harness when its first bug is found
    #[arg(long)]
    until_bug: bool,
    /// Begin with an empty corpus, and leave the one that is kept as it is
    #[arg(long)]
    fresh_corpus: bool,
    /// Seed of whatever is drawn at random [default: chosen, and printed]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// How long one execution may take before it is taken for hung, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = super::seconds)]
    hang_after: Duration,
    /// How much memory the program may take, in megabytes
    #[arg(long, value_name = "MB", default_value_t = 2048, value_parser = clap::value_parser!(u32).range(64..))]
    max_memory: u32,
    /// What the program is compiled with to be watched [default: address where it has unsafe code, none otherwise]
    #[arg(long, value_enum)]
    sanitizer: Option<SanitizerChoice>,
    /// A panic of a thread that nobody joins is no failure
    #[arg(long)]
    ignore_detached_panics: bool,
    /// How to print the answer
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    #[command(flatten)]
    target: TargetArgs,
    /// Options for libFuzzer, after `--`
    #[arg(last = true, value_name = "OPTIONS")]
    more: Vec<String>,
}

/// What the program is compiled with to be watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SanitizerChoice {
    /// Nothing: the fastest
    None,
    /// AddressSanitizer
    Address,
}

pub(super) fn run(args: &FuzzArgs, terminal: &Terminal) -> Result<Verdict, Error> {
    let started = Instant::now();
    let program = Program::load(&args.path, Mode::Sequential)?;
    let harnesses = chosen(&program, &args.path, &args.harness)?;
    let task = |harness: &&'_ crate::program::Harness| {
        let roles = match &args.thread_under_test {
            Some(wanted) if harness.unsupported.is_none() => vec![role::of(wanted, harness)?],
            _ => Role::BOTH.to_vec(),
        };
        Ok(roles)
    };
    let roles = harnesses
        .iter()
        .map(task)
        .collect::<Result<Vec<_>, Error>>()?;
    let tasks: Vec<_> = harnesses
        .iter()
        .zip(roles)
        .map(|(harness, roles)| Task { harness, roles })
        .collect();
    let more = fuzz::options::checked(&args.more)?;
    let tools = Tools::find()?;
    watch_for_interrupts()?;

    let progress = Progress::new(terminal);
    let request = Request {
        k: 0,
        harness: apart(&harnesses)?,
        role: Role::First,
    };
    let Some(ready) = args
        .target
        .build(&program, &request, Copies::Made, &progress)?
    else {
        return Ok(Verdict::Interrupted);
    };
    // Two at a time would take each other's target, corpus and findings away.
    let waiting = |holder: &str| {
        progress.say(format!(
            "waiting for {holder}, which fuzzes the same program"
        ));
    };
    let Some(_alone) = fuzz::lock(&program, &ready.target_dir, &STOP, waiting)? else {
        return Ok(Verdict::Interrupted);
    };
    progress.say("building the fuzz target; the first time, this takes a minute");
    let sanitizer = match args.sanitizer {
        Some(SanitizerChoice::None) => Sanitizer::None,
        Some(SanitizerChoice::Address) => Sanitizer::Address,
        None if ready.generated.has_unsafe() => Sanitizer::Address,
        None => Sanitizer::None,
    };
    let waiting = |holder: &str| {
        progress.say(format!(
            "waiting for {holder}, which builds in the same directory"
        ));
    };
    let target = fuzz::build(
        &program,
        &ready.generated,
        &tools,
        sanitizer,
        &ready.target_dir,
        &STOP,
        waiting,
    );
    let target = match target {
        // The same Ctrl-C has ended cargo.
        Err(_) if STOP.load(std::sync::atomic::Ordering::Relaxed) => {
            return Ok(Verdict::Interrupted);
        }
        target => target?,
    };
    let options = Options {
        path: args.path.display().to_string(),
        ks: if args.all_k {
            (0..=args.k).collect()
        } else {
            vec![args.k]
        },
        time: args.time,
        max_executions: args.max_executions,
        until_bug: args.until_bug,
        seed: args.seed.unwrap_or_else(random_seed),
        hang_after: args.hang_after,
        ignore_detached_panics: args.ignore_detached_panics,
        memory: args.max_memory,
        fresh: args.fresh_corpus,
        more,
        target_dir: ready.target_dir,
    };
    let subject = Subject {
        program: &program,
        generated: &ready.generated,
        built: &ready.built,
    };
    let mut out = Output::stdout();
    let finished = |harness: &HarnessReport| match args.format {
        Format::Human => progress.suspend(|| {
            out.write(|out| human::harness(out, harness, Detail::Table, terminal.width))
        }),
        Format::Json => Ok(()),
    };
    let mut report = fuzz::run(
        subject, &target, &tasks, &options, &STOP, &progress, finished,
    )?;
    report.summary.seconds = started.elapsed().as_secs_f64();
    progress.finish();
    out.write(|out| match args.format {
        Format::Human => human::closing(out, &report),
        Format::Json => report::json(out, &report),
    })?;
    Ok(super::check::verdict(&report))
}
