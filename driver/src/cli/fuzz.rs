//! `seqz fuzz`.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};

use super::packages::{Chosen, Member, PackageArgs};
use super::search::{STOP, TargetArgs, chosen, random_seed, watch_for_interrupts};
use super::{Format, Verdict, role};
use crate::build::Copies;
use crate::check::Subject;
use crate::check::progress::Progress;
use crate::error::Error;
use crate::fuzz::{self, Options, Sanitizer, Tools};
use crate::model::document::{HarnessReport, Report, Role};
use crate::output::Output;
use crate::program::{Follow, Mode, Request};
use crate::report::human::Detail;
use crate::report::{self, human, several};
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
    #[command(flatten)]
    packages: PackageArgs,
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
    let members = args
        .packages
        .load(Mode::Sequential, &Follow::NOTHING, terminal)?;
    let chosen = members.chosen(&args.harness)?;
    for chosen in &chosen {
        role::fuzzed(&chosen.harnesses(), args.thread_under_test.as_deref())?;
    }
    let more = fuzz::options::checked(&args.more)?;
    let tools = Tools::find()?;
    watch_for_interrupts()?;

    let progress = Progress::new(terminal);
    let mut out = Output::stdout();
    let seed = args.seed.unwrap_or_else(random_seed);
    let number: usize = chosen.iter().map(Chosen::len).sum();
    let mut reports = Vec::new();
    let mut queue = VecDeque::from(chosen);
    while let Some(chosen) = queue.pop_front() {
        let (member, harnesses) = (&chosen.member, chosen.harnesses());
        let tasks = role::fuzzed(&harnesses, args.thread_under_test.as_deref())?;
        let part = tasks.len() as f64 / number.max(1) as f64;
        let asked = Asked {
            args,
            more: more.clone(),
            seed,
            time: args.time.mul_f64(part),
        };
        let finished = |harness: &HarnessReport| match args.format {
            Format::Human => progress.suspend(|| {
                let harness = HarnessReport {
                    name: member.named(&harness.name),
                    ..harness.clone()
                };
                out.write(|out| human::harness(out, &harness, Detail::Table, terminal.width))
            }),
            Format::Json => Ok(()),
        };
        let mut report = match asked.of(member, &tasks, &tools, &progress, finished) {
            Ok(Some(report)) => report,
            Ok(None) => return Ok(Verdict::Interrupted),
            Err(error) => {
                progress.suspend(|| members.go_on(&chosen, error, &mut queue, terminal))?;
                continue;
            }
        };
        for harness in &mut report.harnesses {
            harness.name = member.named(&harness.name);
        }
        reports.push(report);
        if STOP.load(Ordering::Relaxed) {
            break;
        }
    }
    progress.finish();
    let path = args.packages.path.display().to_string();
    let Some(mut report) = several::checked(&path, reports) else {
        return Ok(members.verdict(Verdict::Clean));
    };
    report.summary.seconds = started.elapsed().as_secs_f64();
    out.write(|out| match args.format {
        Format::Human => human::closing(out, &report),
        Format::Json => report::json(out, &report),
    })?;
    Ok(members.verdict(super::check::verdict(&report)))
}

/// What is to be done with one program.
struct Asked<'a> {
    args: &'a FuzzArgs,
    more: Vec<String>,
    seed: u64,
    time: Duration,
}

impl Asked<'_> {
    /// Builds the program and fuzzes it. `None`: the user broke that off.
    fn of(
        self,
        member: &Member,
        tasks: &[fuzz::Task<'_>],
        tools: &Tools,
        progress: &Progress,
        finished: impl FnMut(&HarnessReport) -> Result<(), Error>,
    ) -> Result<Option<Report>, Error> {
        let args = self.args;
        let program = &member.program;
        let harnesses: Vec<_> = tasks.iter().map(|task| task.harness).collect();
        let request = Request {
            k: 0,
            chosen: chosen(&harnesses),
            role: Role::FIRST,
        };
        let Some(ready) = args
            .target
            .build(program, &request, Copies::Made, progress)?
        else {
            return Ok(None);
        };
        // Two at a time would take each other's target, corpus and findings away.
        let waiting = |holder: &str| {
            progress.say(format!(
                "waiting for {holder}, which fuzzes the same program"
            ));
        };
        let Some(_alone) = fuzz::lock(program, &ready.target_dir, &STOP, waiting)? else {
            return Ok(None);
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
            program,
            &ready.generated,
            tools,
            sanitizer,
            &ready.target_dir,
            &STOP,
            waiting,
        );
        let target = match target {
            // The Ctrl-C that ended cargo is meant for seqz, too.
            Err(_) if STOP.load(Ordering::Relaxed) => {
                return Ok(None);
            }
            target => target?,
        };
        let options = Options {
            path: member.path.display().to_string(),
            ks: if args.all_k {
                (0..=args.k).collect()
            } else {
                vec![args.k]
            },
            time: self.time,
            max_executions: args.max_executions,
            until_bug: args.until_bug,
            seed: self.seed,
            hang_after: args.hang_after,
            ignore_detached_panics: args.ignore_detached_panics,
            memory: args.max_memory,
            fresh: args.fresh_corpus,
            more: self.more,
            target_dir: ready.target_dir,
        };
        let subject = Subject {
            sources: program.sources(),
            generated: &ready.generated,
            built: &ready.built,
        };
        let target = (target.as_path(), tools);
        fuzz::run(
            (program, subject),
            target,
            tasks,
            &options,
            &STOP,
            progress,
            finished,
        )
        .map(Some)
    }
}
