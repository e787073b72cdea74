//! Fuzzing P̂ₖ with libFuzzer: inputs and interference chosen together, by what the program's branches and comparisons say.
//!
//! cargo-fuzz builds the target; this module runs the target in slices of time, so that both threads under test get
//! their turn early. The target stops at each new bug. The worker, the same as for `seqz check`, then gets the bytes
//! and says what they stand for: the bug that `check` would have found, with as few non-local reads as are needed,
//! replayed on the original program. The target is told to go on over bugs that are known.
//!
//! ```text
//! DIR/fuzz/runtime/        the runtime's source without the scheduler, the same for all programs
//! DIR/fuzz/vendor/         libFuzzer and its bindings
//! DIR/fuzz/build/          cargo's target directory
//! DIR/fuzz/NAME/           a generated crate, its fuzz target `target`, and what that was made of in `stamp`
//! DIR/fuzz/NAME.lock       one process at a time fuzzes the program
//! DIR/fuzz/NAME/corpus/    HARNESS-ROLE-K/: kept from run to run
//! DIR/fuzz/NAME/artifacts/ the bytes that a bug was found with
//! DIR/fuzz/original/NAME/  the same crate as a worker that AddressSanitizer watches, where that has found something
//! ```

mod confirm;
mod corpus;
mod decode;
mod layout;
pub mod options;
mod rounds;
mod sanitized;
mod target;
mod tools;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

pub use layout::{lock, make_runnable};
pub use target::Sanitizer;
pub use tools::{Tools, build};

use crate::check::gather::Gathered;
use crate::check::progress::Progress;
use crate::check::{Subject, empty, summary};
use crate::diagnostic::shown;
use crate::error::Error;
use crate::findings::Store;
use crate::model::document::{Cut, HarnessReport, Report, Role, SCHEMA, Status};
use crate::original::Original;
use crate::program::{Harness, Program};
use layout::Layout;

/// The options of a search by fuzzing.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program as given on the command line.
    pub path: String,
    /// The numbers k of non-local reads, each the largest of its search, in the order of the searches.
    pub ks: Vec<u32>,
    /// The time for all harnesses together.
    pub time: Duration,
    /// The largest number of executions for each harness, thread under test and k.
    pub max_executions: Option<u64>,
    /// Whether a harness is left at its first bug.
    pub until_bug: bool,
    /// The seed of random choices.
    pub seed: u64,
    /// The time after which an execution is taken for hung.
    pub hang_after: Duration,
    /// Whether panics of threads that no thread joins are left out of the failures.
    pub ignore_detached_panics: bool,
    /// The memory that the target may take, in megabytes.
    pub memory: u32,
    /// Whether the search begins with an empty corpus, which is removed after the search; the corpus that is kept stays
    /// as it is.
    pub fresh: bool,
    /// Further options for libFuzzer.
    pub more: Vec<String>,
    /// The target directory, in which the corpora and the findings are kept, too.
    pub target_dir: PathBuf,
}

/// One harness to fuzz.
#[derive(Clone, Debug)]
pub struct Task<'a> {
    /// The harness.
    pub harness: &'a Harness,
    /// The threads to put under test in turn.
    pub roles: Vec<Role>,
}

/// Fuzzes the harnesses one after the other. `finished` is called with the report of each harness as soon as the
/// harness is done.
///
/// # Errors
/// When the target or a worker fails in a way that has nothing to do with the program, or `finished` fails.
pub fn run(
    (program, subject): (&Program, Subject<'_>),
    (target, tools): (&Path, &Tools),
    tasks: &[Task<'_>],
    options: &Options,
    stop: &AtomicBool,
    progress: &Progress,
    mut finished: impl FnMut(&HarnessReport) -> Result<(), Error>,
) -> Result<Report, Error> {
    let Subject {
        sources,
        generated,
        built,
    } = subject;
    let started = Instant::now();
    let mut layout = Layout::new(program, &options.target_dir)?;
    let passing = options
        .fresh
        .then(|| tempfile::tempdir_in(&layout.program))
        .transpose()
        .map_err(|e| layout::file("create a directory in", &layout.program, e))?;
    if let Some(passing) = &passing {
        layout.corpus = passing.path().to_owned();
    }
    let store = Store::open(&options.target_dir, &built.name, options.path.clone());
    let (store, no_store) = match store {
        Ok(store) => (Some(store.of(program.sources())), None),
        Err(error) => (
            None,
            Some(format!("findings are not written to files: {error}")),
        ),
    };
    let fuzzable = tasks
        .iter()
        .filter(|task| task.harness.unsupported.is_none())
        .count();
    let mut fuzzer = rounds::Fuzzer {
        target,
        confirming: confirm::Confirming::new(program, subject, tools),
        worker: &built.worker,
        dir: sources.dir(),
        layout: &layout,
        original: Original::new(sources, generated),
        options,
        stop,
        progress,
        store,
        share: options.time / u32::try_from(fuzzable.max(1)).unwrap_or(1),
    };
    let mut cut: Option<Cut> = None;
    let mut harnesses = Vec::new();
    for task in tasks {
        let mut gathered = {
            let harness = task.harness;
            Gathered::new(
                empty(harness, &[]),
                harness.spawns.clone(),
                harness.idle_functions.clone(),
            )
        };
        gathered
            .report
            .notes
            .extend(no_store.clone().filter(|_| harnesses.is_empty()));
        if let Some(why) = &task.harness.unsupported {
            gathered.report.status = Status::unsupported(why);
        } else if cut.is_some() {
            gathered.report.status = Status::NotReached;
        } else {
            progress.say(format!("{}: starting", task.harness.name));
            cut = fuzzer.run(task, &mut gathered)?;
            gathered.report.seconds = gathered.started.elapsed().as_secs_f64();
        }
        finished(&gathered.report)?;
        harnesses.push(gathered.report);
    }
    Ok(Report {
        schema: SCHEMA,
        seqz: env!("CARGO_PKG_VERSION").into(),
        path: options.path.clone(),
        k_max: options.ks.iter().copied().max().unwrap_or(0),
        solver: "grid".into(),
        seed: Some(options.seed),
        cut,
        findings: fuzzer
            .store
            .as_ref()
            .filter(|store| store.any())
            .map(|store| shown(store.dir())),
        summary: summary(&harnesses, started.elapsed()),
        harnesses,
        explored: None,
    })
}
