//! JUnit's XML, as most CI services read it: a suite per package, a case per harness. A package that can't be tested is an error.

use std::io::{self, Write};
use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::model::tested::{Outcome, TestRun, Tested};

/// Prints the run.
///
/// # Errors
/// Errors of writing to `out`.
pub fn junit(out: &mut dyn Write, run: &TestRun) -> io::Result<()> {
    let mut report = Report::new("seqz");
    report.set_time(seconds(run.seconds));
    let mut packages: Vec<&str> = Vec::new();
    for tested in &run.harnesses {
        if !packages.contains(&tested.package.as_str()) {
            packages.push(&tested.package);
        }
    }
    for package in packages {
        let harnesses = || run.harnesses.iter().filter(|it| it.package == package);
        let mut suite = TestSuite::new(package);
        suite.set_time(seconds(harnesses().map(|it| it.seconds).sum()));
        suite.add_test_cases(harnesses().map(case));
        report.add_test_suite(suite);
    }
    for lost in &run.lost {
        let mut suite = TestSuite::new(&lost.program);
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        let first = lost.reason.lines().next().unwrap_or_default();
        status
            .set_message(first)
            .set_type("lost")
            .set_description(&lost.reason);
        let mut case = TestCase::new("the package can be tested", status);
        case.set_classname(&lost.program);
        suite.add_test_case(case);
        report.add_test_suite(suite);
    }
    let text = report.to_string().map_err(io::Error::other)?;
    writeln!(out, "{}", text.trim_end())
}

fn seconds(of: f64) -> Duration {
    Duration::try_from_secs_f64(of).unwrap_or_default()
}

/// A harness that can't be searched is an error, one whose turn did not come is skipped.
fn case(tested: &Tested) -> TestCase {
    let shown = tested.shown();
    let unsuccessful = |kind: NonSuccessKind, ty: &str, text: String| {
        let mut status = TestCaseStatus::non_success(kind);
        status
            .set_message(shown.clone())
            .set_type(ty)
            .set_description(text);
        status
    };
    let status = match &tested.outcome {
        Outcome::Bug => {
            let first = tested.found.first();
            let ty = first.map_or_else(String::new, |found| found.kind.key());
            unsuccessful(NonSuccessKind::Failure, &ty, failures(tested))
        }
        Outcome::Doubtful => unsuccessful(NonSuccessKind::Error, "doubtful", failures(tested)),
        Outcome::Unsupported { reason } => {
            unsuccessful(NonSuccessKind::Error, "unsupported", reason.clone())
        }
        Outcome::Failed { reason } => unsuccessful(NonSuccessKind::Error, "seqz", reason.clone()),
        Outcome::NotReached => {
            let mut status = TestCaseStatus::skipped();
            status.set_message("the run was over before the harness's turn came");
            status
        }
        Outcome::Proved { .. }
        | Outcome::NoBug { .. }
        | Outcome::Sampled { .. }
        | Outcome::Open { .. } => TestCaseStatus::success(),
    };
    let mut case = TestCase::new(tested.name.clone(), status);
    let (module, _) = tested.name.rsplit_once("::").unwrap_or(("", ""));
    case.set_classname(if module.is_empty() { "seqz" } else { module });
    case.set_time(seconds(tested.seconds));
    case.extra
        .insert("file".into(), tested.site.file.clone().into());
    case.extra
        .insert("line".into(), tested.site.line.to_string().into());
    // A test that passed may have been proved or only sampled.
    let tried = tested.tried.iter();
    let tried = tried.map(|it| format!("{}: {}\n", it.method, it.verdict));
    case.set_system_out(format!(
        "{}: {shown}\n{}",
        tested.outcome.word().to_lowercase(),
        tried.collect::<String>()
    ));
    case
}

fn failures(tested: &Tested) -> String {
    let lines = tested.found.iter().map(|found| found.told() + "\n");
    lines.collect()
}
