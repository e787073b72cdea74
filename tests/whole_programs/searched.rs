//! Crates of programs, built once and searched by each method.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use seqz::build::{self, Built, Copies};
use seqz::check::progress::Progress;
use seqz::check::{self, Subject, Task, UnderTest};
use seqz::explore;
use seqz::model::document::{Bug, HarnessReport, Kind, Role, Status};
use seqz::model::exploration::{Failure, HarnessExploration, Promise};
use seqz::model::lone::Spurious;
use seqz::program::{Choice, Generated, Mode, Program as Source, Request};

use seqz::solvers::Solver;
use seqz::terminal::Terminal;
use seqz_explore::catalogue;

use super::judge::{ANOTHER_PANIC, DID_NOT_PANIC, Right};
use super::methods::{CHECK, Method};
use super::program::Program;
use super::render;
use super::support::target_dir;

/// Searches are cut after so many executions, and then nothing is promised.
const EXECUTIONS: u64 = 1000;

/// Those that promise nothing, after so many.
const SAMPLES: u64 = 100;

/// And executions after so many events.
const STEPS: u32 = 150;

/// What came of the programs of one crate by one method.
#[derive(Default)]
pub(crate) struct Came {
    /// What is wrong with what was said of them.
    pub(crate) wrong: String,
    /// Of how many all was searched.
    pub(crate) promised: usize,
    pub(crate) seconds: f64,
}

/// What was said of one program.
struct Said {
    status: Status,
    found: BTreeSet<String>,
    is_exhausted: bool,
}

/// A crate of programs that can be run.
pub(crate) struct Crate {
    path: PathBuf,
    source: Source,
    generated: Generated,
    built: Built,
}

impl Crate {
    pub(crate) fn build(path: &Path) -> Self {
        let source = Source::load(path, Mode::Scheduled).expect("a program");
        let request = Request {
            k: 0,
            chosen: Choice::ALL,
            role: Role::FIRST,
        };
        let generated = source.transform(&request).expect("it can be rewritten");
        let broken_off = AtomicBool::new(false);
        let built = build::build(
            &source,
            &generated,
            &target_dir(),
            Copies::Made,
            &broken_off,
            &|_| {},
        )
        .expect("it can be built");
        Self {
            path: path.to_owned(),
            source,
            generated,
            built,
        }
    }

    /// What the method says of each program.
    fn said(&self, method: &Method) -> BTreeMap<String, Said> {
        let subject = Subject {
            sources: self.source.sources(),
            generated: &self.generated,
            built: &self.built,
        };
        let stop = AtomicBool::new(false);
        let progress = Progress::new(&Terminal {
            width: 100,
            progress: false,
        });
        let findings = tempfile::tempdir().expect("a directory");
        let findings = findings.path().to_owned();
        let harnesses: Vec<_> = self.source.harnesses().iter().collect();
        if method.name == CHECK {
            let task = |harness| Task {
                harness,
                under_test: UnderTest::Each,
            };
            let tasks: Vec<_> = harnesses.iter().map(|it| task(*it)).collect();
            let options = check::Options {
                path: self.path.display().to_string(),
                k_max: 3,
                solver: Solver::GRID,
                inputs: Vec::new(),
                max_inputs: 1,
                seed: 0,
                max_steps: Some(STEPS),
                max_executions: SAMPLES,
                deadline: None,
                ignore_detached_panics: false,
                hang_after: HANG_AFTER,
                reasonless: false,
                piece: None,
                target_dir: findings,
            };
            let report = check::run(subject, &tasks, &options, &stop, &progress, |_| Ok(()));
            let harnesses = report.expect("a search").harnesses;
            return harnesses.iter().map(of_check).collect();
        }
        let promises = method.at_least > 0;
        let strategy = catalogue::named(method.name).expect("the methods are strategies");
        let options = explore::Options {
            seed: 7,
            max_steps: Some(STEPS),
            max_executions: if promises { EXECUTIONS } else { SAMPLES },
            // What std lets happen without a reason is nothing of the interpreter's.
            spurious: Spurious::everywhere(0),
            hang_after: HANG_AFTER,
            ..explore::Options::new(&self.path, strategy, findings)
        };
        let report = explore::run(subject, &harnesses, &options, &stop, &progress, |_| Ok(()));
        let harnesses = report.expect("a search").harnesses;
        harnesses.iter().map(of_exploration).collect()
    }

    /// What is wrong with what the method says.
    pub(crate) fn by(&self, method: &Method, programs: &[(Program, Right)]) -> Came {
        let begun = Instant::now();
        let said = self.said(method);
        let mut came = Came::default();
        for (program, right) in programs {
            let name = render::name(program);
            let by = method.name;
            let Some(said) = said.get(&name) else {
                let _ = writeln!(came.wrong, "{name} by {by}: not there");
                continue;
            };
            let wrong: Vec<_> = said
                .found
                .iter()
                .filter(|it| !right.must.contains(*it) && !right.may.contains(*it))
                .collect();
            let mut missed: Vec<_> = right.must.difference(&said.found).collect();
            let untold = right.either.iter().filter(|it| it.is_disjoint(&said.found));
            missed.extend(untold.flatten());
            came.promised += usize::from(said.is_exhausted);
            let refused = !matches!(
                said.status,
                Status::Checked | Status::Unsupported { .. } | Status::NoInterference { .. }
            );
            if !wrong.is_empty() || (said.is_exhausted && !missed.is_empty()) || refused {
                let _ = writeln!(
                    came.wrong,
                    "{name} by {by}: {:?}, exhausted: {}, not there: {wrong:?}, missed: {missed:?}",
                    said.status, said.is_exhausted
                );
            }
        }
        came.seconds = begun.elapsed().as_secs_f64();
        eprint!("{}", came.wrong);
        came
    }
}

/// Machines are busy where tests run.
const HANG_AFTER: Duration = Duration::from_secs(120);

fn of_check(harness: &HarnessReport) -> (String, Said) {
    let text = |bug: &Bug| text(bug.kind, &bug.message);
    let said = Said {
        status: harness.status.clone(),
        found: harness.bugs.iter().map(text).collect(),
        is_exhausted: false,
    };
    (harness.name.clone(), said)
}

fn of_exploration(harness: &HarnessExploration) -> (String, Said) {
    let text = |failure: &Failure| text(failure.kind, &failure.message);
    let said = Said {
        status: harness.status.clone(),
        found: harness.failures.iter().map(text).collect(),
        is_exhausted: matches!(
            harness.promise,
            Promise::Exhausted
                | Promise::ExhaustedLazily { truncated: false }
                | Promise::ExhaustedByValues { truncated: false }
        ),
    };
    (harness.name.clone(), said)
}

/// What is said of a test that returns an `Err` with a text.
const RETURNED_ERR: &str = "the test ends with Err(\"";

/// A failure, as the interpreter calls it.
fn text(kind: Kind, message: &str) -> String {
    let first = message.lines().next().unwrap_or_default();
    let text = if first.contains("PoisonError") {
        "poison"
    } else if first.starts_with("unknown outcome") {
        "unknown outcome"
    } else if first.contains(DID_NOT_PANIC) {
        DID_NOT_PANIC
    } else if first.starts_with(ANOTHER_PANIC) {
        ANOTHER_PANIC
    } else {
        let returned = first.strip_prefix(RETURNED_ERR);
        let returned = returned.and_then(|it| it.strip_suffix("\")"));
        returned.unwrap_or(first)
    };
    match kind {
        Kind::Deadlock => "deadlock".to_owned(),
        Kind::Livelock => "livelock".to_owned(),
        Kind::DetachedPanic => format!("detached: {text}"),
        _ => text.to_owned(),
    }
}
