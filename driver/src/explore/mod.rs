//! Exploring schedules of the original program: workers run a strategy each, and what they say is gathered here.

pub mod checkpoint;
mod divided;
mod failure;
mod gather;
mod join;
mod promise;
mod solver;
mod unit;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use seqz_explore::catalogue::{Entry, Trait};
use seqz_explore::mcm;
use seqz_runtime::vocabulary::Place;
use seqz_runtime::worker::message::ExploreRequest;

use crate::check::Subject;
use crate::check::progress::Progress;
use crate::diagnostic::shown;
use crate::error::Error;
use crate::findings::{Found, Store};
use crate::model::document::{Cut, SCHEMA, Status};
use crate::model::exploration::{Exploration, HarnessExploration, Summary};
use crate::model::lone::Spurious;
use crate::model::unfollowed;
use crate::original::Original;
use crate::piece::{KEPT_EACH, Piece};
use crate::program::Harness;
use crate::solvers::Solver;
use crate::sources::Sources;
use crate::worker::Watch;
use gather::Gathered;
pub use join::{Share, join};
use unit::{Queue, Runner, Said, Unit};

/// What to explore, and how far.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program, as given on the command line.
    pub path: String,
    /// The search strategy.
    pub strategy: &'static Entry,
    /// Whether the search counts distinct lazy happens-before relations, too.
    pub lazy_relations: bool,
    /// The number of executions that a strategy learns from before its search begins.
    pub learning_runs: u32,
    /// The number of enclosing calls by which events are told apart.
    pub call_depth: u32,
    /// The solver that answers the queries of strategies that have some.
    pub solver: Solver<dyn mcm::Solver>,
    /// The preemption bound, or the number of priority changes.
    pub bound: Option<u32>,
    /// Values for parameters: pairs of a parameter's name and its values as written.
    pub inputs: Vec<(String, String)>,
    /// The largest number of inputs to try.
    pub max_inputs: u32,
    /// The seed of random choices.
    pub seed: u64,
    /// The bound on events of one execution; `None`: as many as the program needs.
    pub max_steps: Option<u32>,
    /// The largest number of executions per harness and choice of inputs.
    pub max_executions: u64,
    /// How often in one execution something may happen without a reason, and where.
    pub spurious: Spurious,
    /// The stack of each thread, in bytes.
    pub stack_size: u64,
    /// The time at which the search ends.
    pub deadline: Option<Instant>,
    /// Whether panics of threads that no thread joins are left out of the failures.
    pub ignore_detached_panics: bool,
    /// Whether a harness is left after the first execution that fails: a random strategy always has more schedules to
    /// draw.
    pub until_failure: bool,
    /// The time after which an execution without a sign of life is taken for hung.
    pub hang_after: Duration,
    /// The number of workers that run at once.
    pub jobs: u32,
    /// The file from which the search goes on and to which it is written, where the strategy can do that.
    pub checkpoint: Option<Checkpoint>,
    /// The piece of the search to make; `None`: all of it.
    pub piece: Option<Piece>,
    /// The target directory, in which findings are written, too.
    pub target_dir: PathBuf,
}

impl Options {
    /// Returns the options of `seqz explore` with its defaults and this strategy.
    #[must_use]
    pub fn new(path: &Path, strategy: &'static Entry, target_dir: PathBuf) -> Self {
        Self {
            path: path.display().to_string(),
            strategy,
            lazy_relations: strategy.has(Trait::CountsLazily),
            learning_runs: 0,
            call_depth: 0,
            solver: Solver::ORDER,
            bound: None,
            inputs: Vec::new(),
            max_inputs: 1,
            seed: 0,
            max_steps: None,
            max_executions: u64::MAX,
            spurious: Spurious::DEFAULT,
            stack_size: 2 << 20,
            deadline: None,
            hang_after: Duration::from_secs(60),
            ignore_detached_panics: false,
            until_failure: false,
            jobs: 1,
            checkpoint: None,
            piece: None,
            target_dir,
        }
    }

    /// Whether several threads of one worker can work on the search.
    fn threaded(&self) -> bool {
        self.strategy.has(Trait::Threaded)
    }

    /// Whether workers share the search of a harness. What the workers count is put together again, but for lazy
    /// happens-before relations. With a bound on executions, the executions made would depend on the number of workers.
    fn divides(&self) -> bool {
        self.strategy.has(Trait::Divides) && !self.lazy_relations && self.max_executions == u64::MAX
    }

    /// Whether the strategy draws schedules at random.
    pub(crate) fn samples(&self) -> bool {
        self.strategy.has(Trait::Samples)
    }
}

/// A file from which a search goes on.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// The path of the file.
    pub file: PathBuf,
    /// Names and values that tell the search from other searches.
    pub fields: Vec<(String, String)>,
    /// What of the file can't be used, in words; `None`: all of it can.
    pub lost: Option<String>,
}

/// Explores the harnesses. `finished` is called with the report of each harness, in order, as soon as the harness is
/// done.
///
/// # Errors
/// When a worker fails in a way that has nothing to do with the program, or `finished` fails.
pub fn run(
    subject: Subject<'_>,
    harnesses: &[&Harness],
    options: &Options,
    stop: &AtomicBool,
    progress: &Progress,
    finished: impl FnMut(&HarnessExploration) -> Result<(), Error>,
) -> Result<Exploration, Error> {
    run_piece(
        subject,
        harnesses,
        options,
        stop,
        progress,
        finished,
        |_| Ok(()),
    )
}

/// As [`run`] does; `keep` is called with what has been gathered of each harness: now and then, when a harness is done, and
/// at the end.
///
/// # Errors
/// As those of [`run`], and when `keep` fails.
pub fn run_piece(
    subject: Subject<'_>,
    harnesses: &[&Harness],
    options: &Options,
    stop: &AtomicBool,
    progress: &Progress,
    mut finished: impl FnMut(&HarnessExploration) -> Result<(), Error>,
    mut keep: impl FnMut(&dyn Fn() -> Vec<Share>) -> Result<(), Error>,
) -> Result<Exploration, Error> {
    let started = Instant::now();
    let Subject {
        sources,
        generated,
        built,
    } = subject;
    let original = Original::new(sources, generated);
    let mut store = Findings::open(options, &built.name, sources);
    let mut units: Vec<Unit> = Vec::new();
    let mut all: Vec<Gathered> = Vec::new();
    for (task, harness) in harnesses.iter().enumerate() {
        let first = units.len();
        if harness.unsupported.is_none() {
            let not_followed = !harness.not_followed.is_empty();
            let left = Arc::new(AtomicBool::new(false));
            units.extend(
                requests(harness, options, generated.lone()).map(|request| Unit {
                    task,
                    request,
                    not_followed,
                    left: Arc::clone(&left),
                }),
            );
        }
        all.push(Gathered::new(harness, options, first..units.len()));
    }
    if let Some(first) = all.first_mut() {
        first.report.notes.extend(store.trouble.take());
        let checkpoint = options.checkpoint.as_ref();
        let lost = checkpoint.and_then(|checkpoint| checkpoint.lost.clone());
        first.report.notes.extend(lost);
    }
    let watch = Watch {
        stop,
        deadline: options.deadline,
        hang_after: options.hang_after,
    };
    let runner = Runner {
        worker: &built.worker,
        dir: sources.dir(),
        watch,
        at_once: if options.threaded() {
            1
        } else {
            options.jobs as usize
        },
        solver: options.solver,
    };
    let queue = Mutex::new(Queue::new(units.len()));
    let mut cut: Option<Cut> = None;
    let mut told = 0;
    thread::scope(|scope| {
        let (sender, said) = mpsc::channel();
        let workers = if options.threaded() { 1 } else { options.jobs };
        for _ in 0..workers.min(u32::try_from(units.len()).unwrap_or(u32::MAX)) {
            let (sender, queue, units, runner) = (sender.clone(), &queue, &units, &runner);
            scope.spawn(move || runner.work(queue, units, &sender));
        }
        drop(sender);
        let mut tell = |all: &[Gathered]| {
            while let Some(gathered) = all.get(told).filter(|gathered| gathered.is_over()) {
                finished(&gathered.report)?;
                told += 1;
            }
            Ok::<_, Error>(())
        };
        tell(&all)?;
        let shares = |all: &[Gathered]| all.iter().map(Gathered::share).collect();
        keep(&|| shares(&all))?;
        let mut kept = Instant::now();
        let mut hear = |unit: usize, said| {
            let gathered = &mut all[units[unit].task];
            match &said {
                Said::Ended(unit::Ended::Cut(why)) => cut = Some(*why),
                Said::Ended(unit::Ended::WithoutAny(..)) => cut = Some(Cut::TimeLimit),
                _ => {}
            }
            let found = gathered.hear(unit, said, &original, &units[unit].request)?;
            for failure in found {
                if options.until_failure {
                    units[unit].left.store(true, Ordering::Relaxed);
                    gathered.leave();
                }
                store.save(gathered, Box::new(failure));
            }
            store.rewrite(gathered);
            progress.say(gathered.position(options.strategy.name));
            let is_over = gathered.is_over();
            tell(&all)?;
            if is_over || kept.elapsed() >= KEPT_EACH {
                keep(&|| shares(&all))?;
                kept = Instant::now();
            }
            Ok::<_, Error>(())
        };
        for (unit, said) in said {
            hear(unit, said).inspect_err(|_| {
                // The results of the workers that still run will not be used.
                stop.store(true, Ordering::Relaxed);
            })?;
        }
        Ok::<_, Error>(())
    })?;
    keep(&|| all.iter().map(Gathered::share).collect())?;
    let reports: Vec<_> = all.into_iter().map(|gathered| gathered.report).collect();
    let asks = reports
        .iter()
        .any(|report| report.counts.causality.is_some());
    let random = options.samples() || reports.iter().any(|report| report.sampled_inputs);
    Ok(Exploration {
        solver: asks.then(|| options.solver.name.into()),
        seed: random.then_some(options.seed),
        cut,
        findings: store.dir(),
        summary: summary(&reports, started.elapsed()),
        harnesses: reports,
        ..head(options)
    })
}

/// Returns the document of an exploration with these options, before anything is explored.
#[must_use]
pub fn head(options: &Options) -> Exploration {
    Exploration {
        schema: SCHEMA,
        seqz: env!("CARGO_PKG_VERSION").into(),
        path: options.path.clone(),
        strategy: options.strategy.name.into(),
        solver: None,
        bound: options.bound,
        seed: None,
        cut: None,
        findings: None,
        summary: Summary::default(),
        harnesses: Vec::new(),
    }
}

/// Returns the requests to the workers of one harness. Random schedules can be drawn by many workers, each from a seed
/// of its own; a tree is divided if the strategy can do that.
pub(crate) fn requests(
    harness: &Harness,
    options: &Options,
    lone: Vec<Place>,
) -> impl Iterator<Item = ExploreRequest> {
    let spurious = options.spurious.of(&harness.lone);
    let divides = options.divides();
    let workers = if options.samples() || divides {
        options.jobs
    } else {
        1
    };
    let Piece { index, count } = options.piece.unwrap_or(Piece::WHOLE);
    let (index, count) = (u64::from(index), u64::from(count));
    let max_executions = share(options.max_executions, index, count);
    let workers = u64::from(workers).min(max_executions);
    let known = |name: &str| harness.parameters.iter().any(|(known, _)| known == name);
    let inputs: Vec<_> = options
        .inputs
        .iter()
        .filter(|(name, _)| known(name))
        .cloned()
        .collect();
    (0..workers).map(move |worker| ExploreRequest {
        harness: harness.name.clone(),
        strategy: options.strategy.name.into(),
        bound: options.bound,
        inputs: inputs.clone(),
        max_inputs: options.max_inputs,
        seed: if divides {
            options.seed
        } else {
            options.seed.wrapping_add(index + worker * count)
        },
        max_steps: options.max_steps,
        max_executions: share(max_executions, worker, workers),
        spurious: spurious.times,
        spurious_at: (!spurious.in_loops && spurious.times > 0).then(|| lone.clone()),
        stack: options.stack_size,
        careful: None,
        ignore_detached_panics: options.ignore_detached_panics,
        unfollowed: !harness.not_followed.is_empty(),
        checks_memory: unfollowed::only_access_memory(&harness.not_followed),
        until_failure: options.until_failure,
        part: if divides {
            // The workers of a piece share those units among them that belong to the piece, however many workers other
            // pieces have.
            ((index + worker * count) as u32, (workers * count) as u32)
        } else {
            (0, 1)
        },
        lazy_relations: options.lazy_relations,
        solver: options.solver.who,
        learning_runs: options.learning_runs,
        call_depth: options.call_depth,
        threads: if options.threaded() { options.jobs } else { 1 },
        checkpoint: options.checkpoint.as_ref().map(|checkpoint| {
            let file = checkpoint.file.display().to_string();
            (file, checkpoint.fields.clone())
        }),
    })
}

/// The share of a bound on executions.
fn share(all: u64, index: u64, count: u64) -> u64 {
    if all == u64::MAX {
        all
    } else {
        all / count + u64::from(index < all % count)
    }
}

/// Writes findings to files, until a write fails.
struct Findings {
    store: Option<Store>,
    any: Option<String>,
    trouble: Option<String>,
}

impl Findings {
    fn open(options: &Options, program: &str, sources: &Sources) -> Self {
        let (store, trouble) = match Store::open(&options.target_dir, program, options.path.clone())
        {
            Ok(store) => (Some(store.of(sources)), None),
            Err(error) => (
                None,
                Some(format!("findings are not written to files: {error}")),
            ),
        };
        Self {
            store,
            any: None,
            trouble,
        }
    }

    fn save(&mut self, gathered: &mut Gathered, failure: Box<crate::model::exploration::Failure>) {
        let Some(store) = &mut self.store else { return };
        let report = &mut gathered.report;
        match store.save(&report.name, &report.site, Found::Failure { failure }) {
            Ok(file) => {
                self.any = Some(shown(store.dir()));
                gathered.written(file);
            }
            Err(error) => {
                // On a full disk, for example: the search is worth more than the file.
                report.notes.push(format!(
                    "findings are not written to files any more: {error}"
                ));
                self.store = None;
            }
        }
    }

    /// Writes the failures again when their search is over: more is known of them by then.
    fn rewrite(&mut self, gathered: &mut Gathered) {
        for (file, failure) in gathered.rewritten() {
            let Some(store) = &mut self.store else { return };
            let report = &mut gathered.report;
            let failure = Box::new(failure);
            let written = store.replace(
                &file,
                &report.name,
                &report.site,
                Found::Failure { failure },
            );
            if let Err(error) = written {
                report.notes.push(format!(
                    "findings are not as they are here in their files: {error}"
                ));
                self.store = None;
            }
        }
    }

    fn dir(self) -> Option<String> {
        self.any
    }
}

/// Adds up the counts of harnesses that were explored in this time.
#[must_use]
pub fn summary(reports: &[HarnessExploration], took: Duration) -> Summary {
    let mut summary = Summary {
        exhausted: true,
        ..Summary::default()
    };
    for report in reports {
        let explored = report.status == Status::Checked;
        if explored {
            summary.explored += 1;
        } else if report.status != Status::NotReached {
            summary.unsupported += 1;
        }
        let failures = report.failures.len() as u32;
        if unfollowed::distort(&report.not_followed) {
            summary.doubtful += failures;
        } else {
            summary.failures += failures;
        }
        summary.executions += report.counts.executions;
        summary.exhausted &= explored && crate::model::verdict::of_report(report).exhausted;
    }
    summary.seconds = took.as_secs_f64();
    summary.memory = crate::worker::memory::peak();
    summary
}
