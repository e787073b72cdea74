//! The search for bugs: drives a worker through the harnesses and gathers what it says.

mod bug;
pub(crate) mod gather;
pub mod progress;
pub(crate) mod search;
mod share;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use seqz_runtime::worker::message::CheckRequest;

use crate::build::Built;
use crate::diagnostic::shown;
use crate::error::Error;
use crate::findings::Store;
use crate::model::document::{
    Cut, HarnessReport, InputDomain, Reason, Report, Role, SCHEMA, Status, Summary,
};
use crate::model::unfollowed;
use crate::model::verdict;
use crate::model::withdrawn;
use crate::original::Original;
use crate::piece::{KEPT_EACH, Piece};
use crate::program::{Generated, Harness};
use crate::solvers::Solver;
use crate::solvers::{RemoteSolver, Unasked};
use crate::sources::Sources;
use crate::worker::Watch;
use gather::Gathered;
use progress::Progress;
use search::Search;
pub use share::{Share, checked_together};

/// What to search, and how far.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program, as given on the command line.
    pub path: String,
    /// The largest number k of non-local reads.
    pub k_max: u32,
    /// The solver that decides feasibility.
    pub solver: Solver<dyn RemoteSolver>,
    /// Values for parameters: pairs of a parameter's name and its values as written.
    pub inputs: Vec<(String, String)>,
    /// The largest number of inputs to try.
    pub max_inputs: u32,
    /// The seed of the sample of inputs.
    pub seed: u64,
    /// The bound on shared accesses of a thread in one execution; `None`: as many as the program needs.
    pub max_steps: Option<u32>,
    /// The largest number of executions per harness and thread under test.
    pub max_executions: u64,
    /// The time at which the search ends.
    pub deadline: Option<Instant>,
    /// Whether panics of threads that no thread joins are left out of the failures.
    pub ignore_detached_panics: bool,
    /// The time after which an execution without a sign of life is taken for hung.
    pub hang_after: Duration,
    /// Whether the report is to name the weak exchanges that may fail without a reason, which a check does not try.
    pub reasonless: bool,
    /// The piece of the search to make; `None`: all of it.
    pub piece: Option<Piece>,
    /// The target directory, in which findings are written, too.
    pub target_dir: PathBuf,
}

/// One harness to search, and the threads to put under test in it.
#[derive(Clone, Debug)]
pub struct Task<'a> {
    /// The harness.
    pub harness: &'a Harness,
    /// The threads to put under test.
    pub under_test: UnderTest,
}

/// Which threads of a harness are put under test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnderTest {
    /// Each of those that run side by side, in turn.
    Each,
    /// The one with this number among them.
    One(Role),
    /// Those of this name; `main` is the one that runs the harness. A run tells their numbers.
    Named(String),
}

/// A program that is ready to be searched, with its worker.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The program's text.
    pub sources: &'a Sources,
    /// The crate that was generated of the program.
    pub generated: &'a Generated,
    /// The worker built of the generated crate.
    pub built: &'a Built,
}

/// Searches the harnesses one after the other. `finished` is called with the report of each harness as soon as the
/// harness is done.
///
/// # Errors
/// When a worker fails in a way that has nothing to do with the program, or `finished` fails.
pub fn run(
    subject: Subject<'_>,
    tasks: &[Task<'_>],
    options: &Options,
    stop: &AtomicBool,
    progress: &Progress,
    finished: impl FnMut(&HarnessReport) -> Result<(), Error>,
) -> Result<Report, Error> {
    run_piece(
        subject,
        tasks,
        options,
        stop,
        progress,
        finished,
        &mut |_| Ok(()),
    )
}

/// As [`run`] does; `keep` is called with what has been gathered of the harnesses so far: now and then, and when a harness is
/// done.
///
/// # Errors
/// As those of [`run`], and when `keep` fails.
pub fn run_piece(
    subject: Subject<'_>,
    tasks: &[Task<'_>],
    options: &Options,
    stop: &AtomicBool,
    progress: &Progress,
    mut finished: impl FnMut(&HarnessReport) -> Result<(), Error>,
    keep: &mut dyn FnMut(&[Share]) -> Result<(), Error>,
) -> Result<Report, Error> {
    let Subject {
        sources,
        generated,
        built,
    } = subject;
    let started = Instant::now();
    let store = Store::open(&options.target_dir, &built.name, options.path.clone());
    let (store, no_store) = match store {
        Ok(store) => (Some(store.of(sources)), None),
        Err(error) => (
            None,
            Some(format!("findings are not written to files: {error}")),
        ),
    };
    let mut search = Search {
        worker: &built.worker,
        dir: sources.dir(),
        original: Original::new(sources, generated),
        watch: Watch {
            stop,
            deadline: options.deadline,
            hang_after: options.hang_after,
        },
        seed: options.seed,
        progress,
        store,
        solver: (options.solver.make)().unwrap_or_else(|| Box::new(Unasked)),
        keep: Keep {
            shares: Vec::new(),
            keep,
            last: Instant::now(),
        },
    };
    let mut cut: Option<Cut> = None;
    let mut harnesses = Vec::new();
    let runnable = |tasks: &[Task<'_>]| {
        let supported = |task: &&Task<'_>| task.harness.unsupported.is_none();
        tasks.iter().filter(supported).count()
    };
    let whole = search.watch;
    for (at, task) in tasks.iter().enumerate() {
        let mut report = empty(task.harness, &options.inputs);
        report.lone.retain(|_| options.reasonless);
        let mut gathered = {
            let harness = task.harness;
            Gathered::new(
                report,
                harness.spawns.clone(),
                harness.idle_functions.clone(),
            )
        };
        gathered.pieces_away = options.piece.is_some_and(|piece| piece.count > 1);
        gathered
            .report
            .notes
            .extend(no_store.clone().filter(|_| harnesses.is_empty()));
        if let Some(why) = &task.harness.unsupported {
            gathered.report.status = Status::unsupported(why);
        } else if let Some(why) = whole.cut() {
            cut = Some(why);
            gathered.report.status = Status::NotReached;
        } else {
            progress.say(format!("{}: starting", task.harness.name));
            // Harnesses share the time; time that one harness leaves is for the next harnesses.
            search.watch = whole.share(runnable(&tasks[at..]), 1);
            let mut check = request(task, options);
            let unknown = match &task.under_test {
                UnderTest::Named(name) => search.give_role(name, &mut check, &gathered)?,
                UnderTest::Each | UnderTest::One(_) => None,
            };
            match unknown {
                Some(why) => {
                    gathered.report.status = Status::Unsupported {
                        reason: why,
                        help: None,
                        site: None,
                    }
                }
                None => cut = search.run(&check, &mut gathered)?.or(cut),
            }
            gathered.report.seconds = gathered.started.elapsed().as_secs_f64();
        }
        search.keep.done(&gathered, options.k_max)?;
        withdrawn::by_faults(&mut gathered.report);
        gathered.report.verdict = verdict::of_harness(&gathered.report).sentence();
        finished(&gathered.report)?;
        harnesses.push(gathered.report);
    }
    let sampled = harnesses
        .iter()
        .any(|harness| reasons(harness).any(|r| r == Reason::SampledInputs));
    Ok(Report {
        seed: sampled.then_some(options.seed),
        cut,
        findings: search
            .store
            .as_ref()
            .filter(|store| store.any())
            .map(|store| shown(store.dir())),
        summary: summary(&harnesses, started.elapsed()),
        harnesses,
        ..head(options)
    })
}

/// Returns the document of a check with these options, before anything is searched.
#[must_use]
pub fn head(options: &Options) -> Report {
    Report {
        schema: SCHEMA,
        seqz: env!("CARGO_PKG_VERSION").into(),
        path: options.path.clone(),
        k_max: options.k_max,
        solver: options.solver.name.into(),
        seed: None,
        cut: None,
        findings: None,
        summary: Summary::default(),
        harnesses: Vec::new(),
        explored: None,
    }
}

/// Keeps the shares of a piece.
struct Keep<'a> {
    /// Those of the harnesses that are done.
    shares: Vec<Share>,
    keep: &'a mut dyn FnMut(&[Share]) -> Result<(), Error>,
    last: Instant,
}

impl Keep<'_> {
    /// Takes in that a harness is done.
    fn done(&mut self, gathered: &Gathered, k_max: u32) -> Result<(), Error> {
        self.shares.push(gathered.share(&[], k_max));
        (self.keep)(&self.shares)
    }

    /// Keeps what is known now and then, while a harness is searched with these threads under test.
    fn now_and_then(
        &mut self,
        gathered: &Gathered,
        roles: &[Role],
        k_max: u32,
    ) -> Result<(), Error> {
        if gathered.pieces_away && self.last.elapsed() >= KEPT_EACH {
            self.shares.push(gathered.share(roles, k_max));
            let kept = (self.keep)(&self.shares);
            self.shares.pop();
            self.last = Instant::now();
            return kept;
        }
        Ok(())
    }
}

/// Whether an exploration may show more of a harness that was checked. Where no two threads run side by side, there is one order
/// of all events. A harness with a bug has enough to show.
#[must_use]
pub fn goes_on(checked: &HarnessReport) -> bool {
    (checked.status == Status::Checked || checked.is_beyond())
        && checked.bugs.is_empty()
        && checked.faults.is_empty()
}

fn request(task: &Task<'_>, options: &Options) -> CheckRequest {
    let known = |name: &str| {
        task.harness
            .parameters
            .iter()
            .any(|(parameter, _)| parameter == name)
    };
    let roles = match task.under_test {
        UnderTest::Each => Role::BOTH.to_vec(),
        UnderTest::One(role) => vec![role],
        UnderTest::Named(_) => vec![Role::FIRST],
    };
    CheckRequest {
        harness: task.harness.name.clone(),
        roles: roles.iter().map(|role| (*role).into()).collect(),
        others: task.under_test == UnderTest::Each,
        k_max: options.k_max,
        inputs: options
            .inputs
            .iter()
            .filter(|(name, _)| known(name))
            .cloned()
            .collect(),
        max_inputs: options.max_inputs,
        seed: options.seed,
        max_steps: options.max_steps,
        max_executions: options.max_executions,
        solver: options.solver.who,
        careful: false,
        ignore_detached_panics: options.ignore_detached_panics,
        part: options
            .piece
            .map_or((0, 1), |piece| (piece.index, piece.count)),
    }
}

pub(crate) fn empty(harness: &Harness, inputs: &[(String, String)]) -> HarnessReport {
    HarnessReport {
        name: harness.name.clone(),
        site: harness.site.clone(),
        status: Status::Checked,
        threads: Vec::new(),
        inputs: domains(harness, inputs),
        not_followed: harness.not_followed.clone(),
        reads: None,
        lone: harness.lone.clone(),
        roles: Vec::new(),
        bugs: Vec::new(),
        faults: Vec::new(),
        notes: Vec::new(),
        verdict: String::new(),
        seconds: 0.0,
    }
}

/// How the values of each parameter are chosen.
pub(crate) fn domains(harness: &Harness, inputs: &[(String, String)]) -> Vec<InputDomain> {
    let given = |name: &str| {
        let spec = inputs.iter().find(|(parameter, _)| parameter == name);
        spec.map(|(_, values)| values.clone())
    };
    let parameters = harness.parameters.iter();
    parameters
        .map(|(name, ty)| InputDomain {
            name: name.clone(),
            ty: ty.clone(),
            given: given(name),
        })
        .collect()
}

fn reasons(harness: &HarnessReport) -> impl Iterator<Item = Reason> {
    harness
        .roles
        .iter()
        .flat_map(|role| &role.levels)
        .flat_map(|level| level.reasons.iter().copied())
}

/// Adds up the counts of harnesses that were searched in this time.
#[must_use]
pub fn summary(harnesses: &[HarnessReport], took: Duration) -> Summary {
    let mut summary = Summary {
        exhausted: true,
        ..Summary::default()
    };
    for harness in harnesses {
        let searched = match harness.status {
            Status::Checked | Status::NoInterference { .. } => {
                summary.checked += 1;
                true
            }
            Status::Unsupported { .. }
            | Status::Nondeterministic { .. }
            | Status::Blocked { .. }
            | Status::NoneEnded { .. }
            | Status::Failed { .. } => {
                summary.unsupported += 1;
                false
            }
            Status::NotReached => false,
        };
        let bugs = harness.bugs.len() as u32;
        if unfollowed::distort(&harness.not_followed) {
            summary.doubtful += bugs;
        } else {
            summary.bugs += bugs;
        }
        summary.faults += harness.faults.len() as u32;
        let levels = harness.roles.iter().flat_map(|role| &role.levels);
        summary.executions += levels.map(|level| level.executions).sum::<u64>();
        summary.exhausted &= searched && verdict::of_harness(harness).exhausted;
    }
    summary.seconds = took.as_secs_f64();
    summary.memory = crate::worker::memory::peak();
    summary
}
