//! `seqz compare`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, CommandFactory as _, ValueEnum};
use seqz_explore::catalogue::STRATEGIES;

use super::packages::PackageArgs;
use super::search::{STOP, watch_for_interrupts};
use super::{Cli, ConfigArgs, FeatureArgs, InputSpec, TargetArgs, Verdict};
use crate::build::Copies;
use crate::check::progress::Progress;
use crate::compare::document::{Comparison, Ended, Limits, Subject};
use crate::compare::method::Method;
use crate::compare::paper::SuiteTable;
use crate::compare::store::Store;
use crate::compare::suite::Suite;
use crate::compare::{self, Entry, Settings, csv, human};
use crate::diagnostic::shown;
use crate::error::Error;
use crate::model::document::Role;
use crate::output::Output;
use crate::program::{Choice, Mode, Program, Request};
use crate::report;
use crate::terminal::Terminal;

/// Arguments of `seqz compare`.
#[derive(Debug, Args)]
#[command(
    about = "Run all methods on programs and compare what they find and what it takes",
    long_about = "Run all methods on programs and compare what they find and what it takes.\n\n\
        The methods are `check` with each thread under test, and `explore` with each strategy. Each one is run by itself \
        in a process of its own, within limits of time, executions and memory. What they find is matched by place and \
        kind: for each bug there is the smallest k, and the executions and the time that it took to meet it.\n\n\
        With --results, the result of each run is appended to a file as soon as it is there, and what is in the file \
        already is not run again: a comparison that was broken off goes on from there.",
    after_long_help = "Examples:\n  \
        seqz compare                                 every harness of the crate in this directory, all methods\n  \
        seqz compare examples/bluetooth.rs examples/account.rs --time 5\n  \
        seqz compare examples --methods check,icb,icb:2,odpor --jobs 2 --results results.jsonl\n  \
        seqz compare examples --suite bi              a paper's table, with its figures beside ours\n  \
        seqz compare examples --suite all --max-executions 3000\n  \
        seqz compare examples --format json > compare.json && seqz report compare.json"
)]
pub struct CompareArgs {
    /// Rust files, crates, workspaces, members of one, or directories of these
    #[arg(default_value = ".")]
    path: Vec<PathBuf>,
    /// Only this package of the workspace; may be given several times [default: as `cargo test` chooses]
    #[arg(long, short, value_name = "NAME", conflicts_with = "suite")]
    package: Vec<String>,
    #[command(flatten)]
    features: FeatureArgs,
    #[command(flatten)]
    config: ConfigArgs,
    /// Only this harness (its path, or the end of it); may be given several times [default: all]
    #[arg(long, value_name = "NAME")]
    harness: Vec<String>,
    /// Values for a parameter of the harness: a range (`n=0..8`, `n=0..=7`) or a list (`s=ann,bob`)
    #[arg(long, value_name = "NAME=VALUES")]
    input: Vec<InputSpec>,
    /// Papers' programs and methods, from suites.toml in PATH, and their tables; `all` for all of them
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with_all = ["harness", "input"])]
    suite: Vec<String>,
    /// Which methods: `check`, `check:first`, `check:second` or a strategy of `explore`, with its bound if wanted (`icb:2`)
    /// or `fuzz`, which needs cargo-fuzz and builds anew [default: all but `fuzz`; with --suite, those of the paper, and check]
    #[arg(
        long,
        visible_alias = "strategies",
        value_name = "LIST",
        value_delimiter = ','
    )]
    methods: Vec<String>,
    /// The largest number of non-local reads to try
    #[arg(long, value_name = "K", default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=64))]
    k_max: u32,
    /// How long each run may search, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = super::seconds)]
    time: Duration,
    /// How many executions each run may make [default: any number]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_executions: Option<u64>,
    /// How much memory a process of a run may have resident, in megabytes
    #[arg(long, value_name = "MB", default_value_t = 2048, value_parser = clap::value_parser!(u64).range(1..1 << 40))]
    max_memory: u64,
    /// Seed of whatever is drawn at random
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// How many runs at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    jobs: u32,
    /// Append results to FILE, and go on from what is there
    #[arg(long, value_name = "FILE")]
    results: Option<PathBuf>,
    /// A panic of a thread that nobody joins is no failure
    #[arg(long)]
    ignore_detached_panics: bool,
    /// How to print the answer
    #[arg(long, value_enum, default_value_t = TableFormat::Human)]
    format: TableFormat,
    #[command(flatten)]
    target: TargetArgs,
}

/// How a comparison is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TableFormat {
    /// For people
    Human,
    /// One JSON document, see docs/json.md
    Json,
    /// Comma-separated values, a row for each run and bug
    Csv,
}

pub(super) fn run(args: &CompareArgs, terminal: &Terminal) -> Result<Verdict, Error> {
    let strategies = strategies();
    let limits = Limits {
        seconds: args.time.as_secs_f64(),
        executions: args.max_executions,
        memory: args.max_memory << 20,
        k_max: args.k_max,
        seed: args.seed,
        ignore_detached_panics: args.ignore_detached_panics,
    };
    let wanted = wanted(&args.methods, &strategies)?;
    let suites = suites(args)?;
    let asked_for = if suites.is_empty() {
        let methods = if wanted.is_empty() {
            all(&strategies)
        } else {
            wanted
        };
        let subjects = subjects(args)?.into_iter();
        subjects.map(|subject| (subject, methods.clone())).collect()
    } else {
        of_suites(&suites, &wanted, &strategies)
    };
    let mut store = Store::open(args.results.as_deref(), &limits)?;
    watch_for_interrupts()?;
    let progress = Progress::new(terminal);
    let Some(entries) = entries(args, asked_for, &progress)? else {
        return Ok(Verdict::Interrupted);
    };
    let settings = Settings {
        seqz: std::env::current_exe()
            .map_err(|e| Error::Worker(format!("cannot tell which program this is: {e}")))?,
        limits,
        jobs: args.jobs,
        features: args.features.chosen(),
        target_dir: args.target.target_dir.clone(),
    };
    let compared = compare::run(entries, &settings, &mut store, &STOP, &progress)?;
    progress.finish();
    let Some(mut comparison) = compared else {
        return Ok(Verdict::Interrupted);
    };
    comparison.suites = suites
        .iter()
        .map(|suite| SuiteTable::new(suite, &comparison))
        .collect();
    Output::stdout().write(|out| match args.format {
        TableFormat::Human => human::write(out, &comparison, terminal.width),
        TableFormat::Json => report::json(out, &comparison),
        TableFormat::Csv => csv::write(out, &comparison),
    })?;
    Ok(verdict(&comparison))
}

/// The names of the strategies that `seqz explore` knows.
fn strategies() -> Vec<String> {
    let all = STRATEGIES.iter();
    all.map(|strategy| strategy.name.to_owned()).collect()
}

/// Whether there is a command of this name.
fn has_command(name: &str) -> bool {
    Cli::command().find_subcommand(name).is_some()
}

fn all(strategies: &[String]) -> Vec<Method> {
    let mut methods = Role::BOTH.map(Method::Check).to_vec();
    methods.extend(strategies.iter().map(|strategy| Method::explore(strategy)));
    methods
}

fn unique(methods: Vec<Method>) -> Vec<Method> {
    let mut unique: Vec<Method> = Vec::new();
    for method in methods {
        if !unique.contains(&method) {
            unique.push(method);
        }
    }
    unique
}

/// The methods of `--methods`.
fn wanted(names: &[String], strategies: &[String]) -> Result<Vec<Method>, Error> {
    let mut methods = Vec::new();
    for name in names {
        let parsed = Method::parse(name, strategies);
        let there = |method: &Method| has_command(method.command());
        match parsed.filter(|parsed| parsed.iter().all(there)) {
            Some(parsed) => methods.extend(parsed),
            None => {
                let fuzz = if has_command("fuzz") { ", fuzz" } else { "" };
                return Err(Error::Option {
                    message: format!("there is no method `{name}`"),
                    help: format!("there are: check{fuzz}, {}", strategies.join(", ")),
                });
            }
        }
    }
    Ok(unique(methods))
}

fn suites(args: &CompareArgs) -> Result<Vec<Suite>, Error> {
    match args.path.as_slice() {
        _ if args.suite.is_empty() => Ok(Vec::new()),
        [dir] => Suite::read(dir, &args.suite),
        _ => Err(Error::Option {
            message: "--suite is of one directory".into(),
            help: "name the directory that suites.toml is in".into(),
        }),
    }
}

/// What the suites ask for: each program and its twin once, with the methods of all suites that it is in.
fn of_suites(
    suites: &[Suite],
    wanted: &[Method],
    strategies: &[String],
) -> Vec<(Subject, Vec<Method>)> {
    let mut all: Vec<(Subject, Vec<Method>)> = Vec::new();
    for suite in suites {
        let methods = if wanted.is_empty() {
            let mut methods = Role::BOTH.map(Method::Check).to_vec();
            methods.extend(suite.known_methods(strategies));
            methods
        } else {
            wanted.to_vec()
        };
        let programs = suite.programs.iter();
        for subject in programs.flat_map(|program| [&program.subject, &program.twin]) {
            match all.iter_mut().find(|(known, _)| known == subject) {
                Some((_, known)) => known.extend(methods.clone()),
                None => all.push((subject.clone(), methods.clone())),
            }
        }
    }
    for (_, methods) in &mut all {
        *methods = unique(std::mem::take(methods));
    }
    all
}

/// The programs at a path: itself, the packages of a workspace, or what is in a directory.
fn programs(path: &Path, packages: &[String]) -> Result<Vec<PathBuf>, Error> {
    if !packages.is_empty() || !path.is_dir() || path.join("Cargo.toml").exists() {
        return PackageArgs::places(path, packages);
    }
    let failed = |source| Error::File {
        what: "read",
        path: path.to_owned(),
        source,
    };
    let mut programs = Vec::new();
    for entry in fs::read_dir(path).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let file = path.extension().is_some_and(|ext| ext == "rs") && path.is_file();
        if file || path.join("Cargo.toml").exists() {
            programs.push(path);
        }
    }
    programs.sort();
    if programs.is_empty() {
        return Err(Error::Option {
            message: format!("there is no program in {}", shown(path)),
            help: "a program is a Rust file or a crate".into(),
        });
    }
    Ok(programs)
}

/// The harnesses that the command line asks for.
fn subjects(args: &CompareArgs) -> Result<Vec<Subject>, Error> {
    let mut subjects = Vec::new();
    let mut known = Vec::new();
    let mut parameters: Vec<String> = Vec::new();
    for path in &args.path {
        for path in programs(path, &args.package)? {
            let program = Program::load_with(&path, Mode::Scheduled, &args.features.chosen())?;
            let harnesses = program.harnesses();
            known.extend(harnesses.iter().map(|harness| harness.name.clone()));
            let names: Vec<_> = harnesses.iter().map(|h| h.name.as_str()).collect();
            let chosen: Vec<_> = args
                .harness
                .iter()
                .filter_map(|wanted| super::pick(&names, wanted).ok())
                .collect();
            for harness in harnesses {
                let asked_for = if args.harness.is_empty() {
                    !harness.ignored
                } else {
                    chosen.contains(&harness.name.as_str())
                };
                if !asked_for {
                    continue;
                }
                parameters.extend(harness.parameters.iter().map(|(name, _)| name.clone()));
                let inputs = args.input.iter().filter(|spec| {
                    let mut parameters = harness.parameters.iter();
                    parameters.any(|(name, _)| *name == spec.name)
                });
                subjects.push(Subject {
                    path: path.display().to_string(),
                    harness: harness.name.clone(),
                    inputs: inputs
                        .map(|spec| (spec.name.clone(), spec.values.clone()))
                        .collect(),
                });
            }
        }
    }
    for wanted in &args.harness {
        let tail = format!("::{wanted}");
        if !known
            .iter()
            .any(|name| name == wanted || name.ends_with(&tail))
        {
            return Err(Error::NoSuchHarness {
                wanted: wanted.clone(),
                known,
            });
        }
    }
    if let Some(spec) = args
        .input
        .iter()
        .find(|spec| !parameters.contains(&spec.name))
    {
        return Err(Error::Option {
            message: format!("no harness has a parameter `{}`", spec.name),
            help: format!("there are: {}", parameters.join(", ")),
        });
    }
    if subjects.is_empty() {
        let path = args.path.first().cloned().unwrap_or_default();
        return Err(Error::NoHarness { path });
    }
    Ok(subjects)
}

/// Builds all programs before the runs, so that no run has to build. `None`: the user broke the build off.
fn entries(
    args: &CompareArgs,
    asked_for: Vec<(Subject, Vec<Method>)>,
    progress: &Progress,
) -> Result<Option<Vec<Entry>>, Error> {
    let mut entries: Vec<Entry> = Vec::new();
    for (subject, methods) in asked_for {
        let same = entries
            .iter()
            .find(|entry| entry.subject.path == subject.path);
        let (stamp, trouble) = match same {
            Some(entry) => (entry.stamp.clone(), entry.trouble.clone()),
            None => match build(args, &subject, progress) {
                Ok(Some(stamp)) => (stamp, None),
                Ok(None) => return Ok(None),
                Err(error) => (String::new(), Some(error.to_string())),
            },
        };
        entries.push(Entry {
            subject,
            trouble,
            stamp,
            methods,
        });
    }
    Ok(Some(entries))
}

/// Builds a program and returns a stamp that identifies what was built. `None`: the user broke the build off.
fn build(
    args: &CompareArgs,
    subject: &Subject,
    progress: &Progress,
) -> Result<Option<String>, Error> {
    progress.say(format!("{}: building", subject.path));
    let program = Program::load_with(
        Path::new(&subject.path),
        Mode::Scheduled,
        &args.features.chosen(),
    )?;
    let ignored = program
        .harnesses()
        .iter()
        .any(|h| h.name == subject.harness && h.ignored);
    let request = Request {
        k: 0,
        chosen: match ignored {
            true => Choice::One(subject.harness.clone()),
            false => Choice::ALL,
        },
        role: Role::FIRST,
    };
    let Some(ready) = args
        .target
        .build(&program, &request, Copies::WhereClone, progress)?
    else {
        return Ok(None);
    };
    let worker = &ready.built.worker;
    // The name of a worker is made of a digest of all that went into the worker.
    let name = worker.file_name().unwrap_or_default();
    let mut stamp = name.to_string_lossy().into_owned();
    if ready.generated.may_change() {
        // The sources of path dependencies, and included files, have no part in that digest; their code is in the
        // worker.
        use std::hash::Hasher as _;
        let bytes = fs::read(worker).map_err(|source| Error::File {
            what: "read",
            path: worker.clone(),
            source,
        })?;
        let mut hasher = std::hash::DefaultHasher::new();
        hasher.write(&bytes);
        stamp = format!("{stamp}-{:016x}", hasher.finish());
    }
    Ok(Some(stamp))
}

fn verdict(comparison: &Comparison) -> Verdict {
    let runs = || comparison.programs.iter().flat_map(|program| &program.runs);
    if runs().any(|run| run.ended == Ended::Failed) {
        Verdict::Failed
    } else if runs().any(|run| !run.found.is_empty()) {
        Verdict::Bugs
    } else {
        Verdict::Clean
    }
}
