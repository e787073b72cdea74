//! `seqz test`.

use std::collections::VecDeque;
use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use seqz_explore::catalogue;

use super::packages::{Chosen, Member, PackageArgs};
use super::search::{STOP, TargetArgs, chosen as request_of, random_seed, watch_for_interrupts};
use super::{Verdict, role};
use crate::build::Copies;
use crate::check::progress::Progress;
use crate::check::{self, Subject, Task};
use crate::diagnostic::shown;
use crate::error::Error;
use crate::explore;
use crate::model::document::{Cut, Role, SCHEMA};
use crate::model::lone::Spurious;
use crate::model::tested::{Outcome, TestRun, Tested};
use crate::output::{self, Output};
use crate::program::{Follow, FollowArgs, Mode, Request};
use crate::report::human::{self, Detail};
use crate::report::{self, explored, tested};
use crate::solvers::Solver;
use crate::terminal::Terminal;
use crate::testing::proofs::Proofs;
use crate::testing::{self, Evidence, Plan, Shown};

/// Arguments of `seqz test`.
#[derive(Debug, Args)]
#[command(
    about = "Test all harnesses, each with what can show most of it in a given time",
    long_about = "Test all harnesses, each with what can show most of it in a given time.\n\n\
        For each harness, the sequential program for k = 0, 1, 2, … comes first, as it finds most bugs soonest; then all \
        schedules, which is a proof where they come to an end; then schedules drawn at random. One line tells the strongest \
        that holds of a harness: proved, no bug up to k, sampled, or bug.\n\n\
        A proof is kept and not made again as long as the program, what it is linked to, the compiler, the environment and \
        seqz are the same.\n\n\
        After the first bug no further harness is begun, unless --no-fail-fast is given.",
    after_long_help = "Examples:\n  \
        seqz test                                   all harnesses of the crate in this directory\n  \
        seqz test push pop                          those with `push` or `pop` in their names\n  \
        seqz test --skip slow --include-ignored     all but those with `slow` in their names, `#[ignore]`d ones too\n  \
        seqz test --workspace --no-fail-fast --max-time 600\n  \
        seqz test crates/queue --test races --time 60\n  \
        seqz test --format junit --output target/seqz.xml\n\n\
        Exit codes are those of `cargo test` for scripts that ask whether all is well: 0 where no bug was found. With \
        --require-proof, 4 where some harness is not proved."
)]
pub struct TestArgs {
    #[command(flatten)]
    packages: PackageArgs,
    /// Only harnesses with one of these in their names
    #[arg(value_name = "FILTER")]
    filters: Vec<String>,
    /// Filters are whole names
    #[arg(long)]
    exact: bool,
    /// Leave out harnesses with this in their names, or of this name with --exact; may be given several times
    #[arg(long, value_name = "FILTER")]
    skip: Vec<String>,
    /// Only what is `#[ignore]`d
    #[arg(long, conflicts_with = "include_ignored")]
    ignored: bool,
    /// Also what is `#[ignore]`d
    #[arg(long)]
    include_ignored: bool,
    #[command(flatten)]
    targets: Targets,
    #[command(flatten)]
    follow: FollowArgs,
    /// The largest number of non-local reads that is tried
    #[arg(long, value_name = "K", default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=64))]
    k_max: u32,
    /// How long each harness may be searched, in seconds; building doesn't count
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = super::seconds)]
    time: Duration,
    /// How long all searches together may take, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = super::seconds)]
    max_time: Option<Duration>,
    /// How many harnesses at once [default: the number of processors]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    jobs: Option<u32>,
    /// Go on after the first bug
    #[arg(long)]
    no_fail_fast: bool,
    /// Search again what was proved by an earlier run
    #[arg(long)]
    no_cache: bool,
    /// Exit with 4 where no bug was found and some harness is not proved
    #[arg(long, alias = "require-exhausted")]
    require_proof: bool,
    /// How many inputs to try at most; more than that are sampled
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    max_inputs: u32,
    /// Seed of whatever is drawn at random, to repeat a run [default: chosen, and printed]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// How long one execution may go on without a sign of life before it is taken for hung, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = super::seconds)]
    hang_after: Duration,
    /// A panic of a thread that nobody joins is no failure
    #[arg(long)]
    ignore_detached_panics: bool,
    /// How often in one execution something may happen without a reason, as std allows [default: once, and not in loops]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=16))]
    spurious: Option<u32>,
    /// How to print the result
    #[arg(long, alias = "message-format", value_enum, default_value_t = Form::Human)]
    format: Form,
    /// Write the result to FILE in that format, and print it for people
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    target: TargetArgs,
}

/// Which targets of the packages are tested, named as for `cargo test`.
#[derive(Clone, Debug, Default, Args)]
struct Targets {
    /// Only what is in the library
    #[arg(long)]
    lib: bool,
    /// Only this integration test; may be given several times
    #[arg(long, value_name = "NAME")]
    test: Vec<String>,
    /// Only the integration tests
    #[arg(long)]
    tests: bool,
}

/// How the result is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    /// For people
    Human,
    /// One JSON document, see docs/json.md
    Json,
    /// JUnit's XML
    Junit,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations of GitHub Actions
    Github,
}

/// How the names of harnesses of an integration test begin.
const INTEGRATION: &str = "tests_";

impl Targets {
    /// Whether the harness is in one of the targets that are asked for.
    fn have(&self, harness: &str) -> bool {
        let target = harness.split("::").next().unwrap_or_default();
        let test = target
            .strip_prefix(INTEGRATION)
            .filter(|_| target != harness);
        if !self.lib && !self.tests && self.test.is_empty() {
            return true;
        }
        match test {
            None => self.lib,
            Some(test) => self.tests || self.test.iter().any(|it| it.replace('-', "_") == test),
        }
    }
}

impl TestArgs {
    /// Returns where the program is and the filters: the first word may be either.
    fn program(&self) -> (PackageArgs, Vec<&str>) {
        let mut packages = self.packages.clone();
        let mut filters: Vec<&str> = self.filters.iter().map(String::as_str).collect();
        let first = &self.packages.path;
        if let Some(word) = first.to_str()
            && !is_program(first)
        {
            filters.insert(0, word);
            packages.path = PathBuf::from(".");
        }
        (packages, filters)
    }

    fn plan(&self, path: &Path, seed: u64, target_dir: PathBuf, until: Option<Instant>) -> Plan {
        let spurious = self
            .spurious
            .map_or(Spurious::DEFAULT, Spurious::everywhere);
        let path = path.display().to_string();
        let check = check::Options {
            path: path.clone(),
            k_max: self.k_max,
            solver: Solver::GRID,
            inputs: Vec::new(),
            max_inputs: self.max_inputs,
            seed,
            max_steps: None,
            max_executions: u64::MAX,
            deadline: None,
            ignore_detached_panics: self.ignore_detached_panics,
            hang_after: self.hang_after,
            reasonless: self.spurious != Some(0),
            piece: None,
            target_dir: target_dir.clone(),
        };
        let explore = explore::Options {
            max_inputs: self.max_inputs,
            seed,
            spurious,
            hang_after: self.hang_after,
            ignore_detached_panics: self.ignore_detached_panics,
            ..explore::Options::new(Path::new(&path), catalogue::default(), target_dir)
        };
        Plan {
            time: self.time,
            until,
            check,
            explore,
        }
    }
}

/// Whether a word names a program and is no part of a harness's name.
pub(super) fn is_program(word: &Path) -> bool {
    let is_path = word.components().count() != 1
        || matches!(word.to_str(), Some("." | ".."))
        || word.extension().is_some_and(|it| it == "rs");
    is_path || word.join("Cargo.toml").is_file()
}

pub(super) fn run(args: &TestArgs, terminal: &Terminal) -> Result<Verdict, Error> {
    let started = Instant::now();
    let (packages, filters) = args.program();
    let follow = Follow::named(&args.follow);
    let members = packages.load(Mode::Scheduled, &follow, terminal)?;
    let is_wanted = |name: &str| {
        let matches = |filter: &str| match args.exact {
            true => name == filter,
            false => name.contains(filter),
        };
        (filters.is_empty() || filters.iter().any(|it| matches(it)))
            && !args.skip.iter().any(|it| matches(it))
    };
    let is_run = |ignored: bool| args.include_ignored || ignored == args.ignored;
    let queue = members.chosen_by(|name, harness| {
        is_run(harness.ignored) && args.targets.have(&harness.name) && is_wanted(name)
    })?;
    // Hours of searching are not for a file that can't be written.
    if let Some(file) = &args.output {
        let dir = file.parent().filter(|dir| !dir.as_os_str().is_empty());
        if let Some(dir) = dir.filter(|dir| !dir.is_dir()) {
            return Err(Error::Option {
                message: format!(
                    "there is no directory {} to write {} in",
                    shown(dir),
                    shown(file)
                ),
                help: "make it, or give --output another path".into(),
            });
        }
    }
    watch_for_interrupts()?;

    let number: usize = queue.iter().map(Chosen::len).sum();
    if number == 0 {
        return Err(Error::Option {
            message: match filters.as_slice() {
                [] => "no harness is in what is asked for".into(),
                several => format!("no harness matches `{}`", several.join("`, `")),
            },
            help: "`seqz list` shows all; filters are parts of their names, or whole names with --exact, and what is \
                   `#[ignore]`d is left out without --ignored or --include-ignored"
                .into(),
        });
    }
    let progress = Progress::new(terminal);
    let mut show = Show {
        out: Output::stdout(),
        is_for_people: args.format == Form::Human || args.output.is_some(),
        done: 0,
        all: number,
        columns: terminal.width,
        progress: &progress,
    };
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    let jobs = args.jobs.map_or(processors, |jobs| jobs as usize);
    let seed = args.seed.unwrap_or_else(random_seed);
    let mut run = TestRun {
        schema: SCHEMA,
        seqz: env!("CARGO_PKG_VERSION").into(),
        path: packages.path.display().to_string(),
        seed,
        cut: None,
        harnesses: Vec::new(),
        lost: Vec::new(),
        seconds: 0.0,
        building: 0.0,
    };
    let mut spent = Duration::ZERO;
    let mut evidence = Vec::new();
    let failed = AtomicBool::new(false);
    let mut queue = VecDeque::from(queue);
    while let Some(chosen) = queue.pop_front() {
        let (member, harnesses) = (&chosen.member, chosen.harnesses());
        let is_over = args.max_time.is_some_and(|max| spent >= max);
        let gives_up = !args.no_fail_fast && failed.load(Ordering::Relaxed);
        if STOP.load(Ordering::Relaxed) || gives_up || is_over {
            let left = harnesses.iter().map(|harness| testing::untested(harness));
            run.harnesses
                .extend(left.map(|tested| named(member, tested)));
            continue;
        }
        let request = Request {
            k: 0,
            chosen: request_of(&harnesses),
            role: Role::FIRST,
        };
        let copies = Copies::WhereClone;
        let ready = match args
            .target
            .build(&member.program, &request, copies, &progress)
        {
            Ok(Some(ready)) => ready,
            Ok(None) => return Ok(Verdict::Interrupted),
            Err(error) => {
                progress.suspend(|| members.go_on(&chosen, error, &mut queue, terminal))?;
                continue;
            }
        };
        run.building += ready.took.as_secs_f64();
        let began = Instant::now();
        let until = args
            .max_time
            .and_then(|max| began.checked_add(max.saturating_sub(spent)));
        let plan = args.plan(&member.path, seed, ready.target_dir.clone(), until);
        let subject = Subject {
            sources: member.program.sources(),
            generated: &ready.generated,
            built: &ready.built,
        };
        // Without the cache, a run takes longer and says the same.
        let proofs = Proofs::open(&ready.target_dir, &ready.built, &plan).ok();
        let proofs = proofs.as_ref();
        let tasks = role::tasks(&harnesses, None)?;
        let work = Work {
            subject,
            plan: &plan,
            known: proofs.filter(|_| !args.no_cache),
            keeps: proofs,
            failed: &failed,
            fails_fast: !args.no_fail_fast,
            progress: &progress,
        };
        let shown = work.all(&tasks, jobs, |shown| {
            show.line(&named(member, shown.tested.clone()))
        })?;
        spent += began.elapsed();
        for shown in shown {
            run.harnesses.push(named(member, shown.tested));
            evidence.extend(shown.evidence.into_iter().map(|it| of_member(member, it)));
        }
    }
    progress.finish();
    run.lost = members.losses.take();
    run.seconds = started.elapsed().as_secs_f64();
    run.cut = if STOP.load(Ordering::Relaxed) {
        Some(Cut::Interrupted)
    } else if run.count(|it| *it == Outcome::NotReached) > 0
        && (args.no_fail_fast || !failed.load(Ordering::Relaxed))
    {
        Some(Cut::TimeLimit)
    } else {
        None
    };
    show.end(&run, &evidence, args.no_fail_fast)?;
    args.print(&run, &mut show.out)?;
    Ok(members.verdict(verdict(&run).demanding(!args.require_proof || is_proved(&run))))
}

impl TestArgs {
    /// Prints the result in the form that is asked for, to the file if there is one.
    fn print(&self, run: &TestRun, out: &mut Output) -> Result<(), Error> {
        let print = |out: &mut dyn io::Write| match self.format {
            Form::Human => Ok(()),
            Form::Json => report::json(out, run),
            Form::Junit => tested::junit(out, run),
            Form::Sarif => tested::sarif(out, run),
            Form::Github => tested::github(out, run),
        };
        let Some(file) = &self.output else {
            return out.write(print);
        };
        let mut text = Vec::new();
        match self.format {
            Form::Human => whole(&mut text, run),
            _ => print(&mut text),
        }
        .map_err(Error::Output)?;
        output::replace(file, &text).map_err(output::writing(file.clone()))
    }
}

/// The columns of a file that people read.
const COLUMNS: usize = 100;

/// Prints the lines of all harnesses, and the end.
fn whole(text: &mut Vec<u8>, run: &TestRun) -> io::Result<()> {
    let all = run.harnesses.len();
    for (at, tested) in run.harnesses.iter().enumerate() {
        tested::line(text, tested, at + 1, all, COLUMNS)?;
    }
    tested::closing(text, run, COLUMNS)?;
    let plain = anstream::adapter::strip_bytes(text).into_vec();
    *text = plain;
    Ok(())
}

/// What is printed while harnesses are tested.
struct Show<'a> {
    out: Output,
    /// Whether lines are printed at all.
    is_for_people: bool,
    /// How many lines have been printed, of how many.
    done: usize,
    all: usize,
    columns: usize,
    progress: &'a Progress,
}

impl Show<'_> {
    fn line(&mut self, tested: &Tested) -> Result<(), Error> {
        self.done += 1;
        if !self.is_for_people || tested.outcome == Outcome::NotReached {
            return Ok(());
        }
        let (done, all, columns) = (self.done, self.all, self.columns);
        let out = &mut self.out;
        self.progress
            .suspend(|| out.write(|out| tested::line(out, tested, done, all, columns)))
    }

    /// Tells of what was found, and closes.
    fn end(
        &mut self,
        run: &TestRun,
        evidence: &[Evidence],
        no_fail_fast: bool,
    ) -> Result<(), Error> {
        if !self.is_for_people {
            return Ok(());
        }
        let columns = self.columns;
        self.out.write(|out| {
            if !evidence.is_empty() {
                writeln!(out)?;
            }
            for evidence in evidence {
                match evidence {
                    Evidence::Checked(harness) => {
                        human::harness(out, harness, Detail::Line, columns)?
                    }
                    Evidence::Explored(harness, strategy) => {
                        explored::harness(out, harness, strategy, Detail::Line, columns)?;
                    }
                }
            }
            tested::closing(out, run, columns)?;
            let left = run.count(|it| *it == Outcome::NotReached);
            match run.cut {
                None if left > 0 && !no_fail_fast => {
                    writeln!(
                        out,
                        "  not run: a bug was found before; --no-fail-fast tests all"
                    )
                }
                Some(Cut::TimeLimit) => writeln!(out, "  not run: --max-time was over"),
                _ => Ok(()),
            }
        })
    }
}

/// The harnesses of one program, and what they are tested with.
struct Work<'a> {
    subject: Subject<'a>,
    plan: &'a Plan,
    /// The proofs that count.
    known: Option<&'a Proofs>,
    /// Where proofs are kept.
    keeps: Option<&'a Proofs>,
    /// Set when a bug was found.
    failed: &'a AtomicBool,
    fails_fast: bool,
    progress: &'a Progress,
}

impl Work<'_> {
    /// Tests the harnesses of these tasks, so many at once. `finished` is called with each as soon as it is done.
    fn all(
        &self,
        tasks: &[Task<'_>],
        jobs: usize,
        mut finished: impl FnMut(&Shown) -> Result<(), Error>,
    ) -> Result<Vec<Shown>, Error> {
        let next = Mutex::new(tasks.iter().enumerate());
        let mut all: Vec<Option<Shown>> = tasks.iter().map(|_| None).collect();
        thread::scope(|scope| {
            let (sender, results) = mpsc::channel();
            for _ in 0..jobs.clamp(1, tasks.len().max(1)) {
                let (sender, next) = (sender.clone(), &next);
                scope.spawn(move || {
                    loop {
                        let task = next.lock().unwrap_or_else(PoisonError::into_inner).next();
                        let Some((at, task)) = task else { return };
                        let shown = self.one(task);
                        if sender.send((at, shown)).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            for (at, shown) in results {
                let shown = shown.inspect_err(|_| STOP.store(true, Ordering::Relaxed))?;
                finished(&shown)?;
                all[at] = Some(shown);
            }
            Ok::<_, Error>(())
        })?;
        Ok(all.into_iter().flatten().collect())
    }

    fn one(&self, task: &Task<'_>) -> Result<Shown, Error> {
        let is_over = self.plan.until.is_some_and(|until| Instant::now() >= until);
        let gives_up = self.fails_fast && self.failed.load(Ordering::Relaxed);
        let without = |tested| Shown {
            tested,
            evidence: Vec::new(),
        };
        if STOP.load(Ordering::Relaxed) || gives_up || is_over {
            return Ok(without(testing::untested(task.harness)));
        }
        if let Some(known) = self.known.and_then(|it| it.known(task.harness)) {
            return Ok(without(known));
        }
        let shown = testing::harness(self.subject, task, self.plan, &STOP, self.progress)?;
        if let Some(keeps) = self.keeps {
            keeps.keep(&shown.tested);
        }
        if shown.tested.outcome == Outcome::Bug {
            self.failed.store(true, Ordering::Relaxed);
        }
        Ok(shown)
    }
}

/// The result with the name that its harness has among those of several packages.
fn named(member: &Member, tested: Tested) -> Tested {
    Tested {
        name: member.named(&tested.name),
        package: member.program.name().to_owned(),
        ..tested
    }
}

/// The report with the name that its harness has among those of several packages.
fn of_member(member: &Member, mut evidence: Evidence) -> Evidence {
    match &mut evidence {
        Evidence::Checked(harness) => harness.name = member.named(&harness.name),
        Evidence::Explored(harness, _) => harness.name = member.named(&harness.name),
    }
    evidence
}

fn is_proved(run: &TestRun) -> bool {
    run.harnesses
        .iter()
        .all(|it| matches!(it.outcome, Outcome::Proved { .. }))
}

fn verdict(run: &TestRun) -> Verdict {
    let any = |is: fn(&Outcome) -> bool| run.count(is) > 0;
    if any(|it| *it == Outcome::Bug) {
        Verdict::Bugs
    } else if run.cut == Some(Cut::Interrupted) {
        Verdict::Interrupted
    } else if any(|it| matches!(it, Outcome::Failed { .. })) {
        Verdict::Failed
    } else if any(|it| matches!(it, Outcome::Unsupported { .. } | Outcome::Doubtful)) {
        Verdict::Unsupported
    } else {
        Verdict::Clean
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_programs_or_filters() {
        for program in [".", "..", "src/lib.rs", "queue.rs", "crates/queue", "/tmp"] {
            assert!(is_program(Path::new(program)), "{program}");
        }
        for filter in ["push", "tests::push", "no-such-directory"] {
            assert!(!is_program(Path::new(filter)), "{filter}");
        }
    }

    #[test]
    fn targets_are_told_by_names() {
        let targets = |lib, tests, test: &[&str]| Targets {
            lib,
            tests,
            test: test.iter().map(|it| (*it).to_owned()).collect(),
        };
        let all = [
            "push",
            "tests::push",
            "tests_races::push",
            "tests_more_races::pop",
        ];
        let wanted = |targets: Targets| {
            let all = all.into_iter();
            all.filter(|it| targets.have(it)).collect::<Vec<_>>()
        };
        assert_eq!(wanted(targets(false, false, &[])), all);
        assert_eq!(wanted(targets(true, false, &[])), all[..2]);
        assert_eq!(wanted(targets(false, true, &[])), all[2..]);
        assert_eq!(wanted(targets(false, false, &["more-races"])), all[3..]);
        assert_eq!(wanted(targets(true, false, &["races"])), all[..3]);
    }
}
