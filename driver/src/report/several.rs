//! Puts the reports of several programs together to one.

use std::path::Path;

use crate::model::document::{Report, Summary};
use crate::model::exploration::{self, Exploration};

/// Returns one report made of those of several programs, whose options are the same. `None`: there are no reports.
#[must_use]
pub fn checked(path: &str, reports: Vec<Report>) -> Option<Report> {
    let mut reports = reports.into_iter();
    let mut all = reports.next()?;
    path.clone_into(&mut all.path);
    for report in reports {
        all.seed = all.seed.or(report.seed);
        all.cut = all.cut.or(report.cut);
        all.findings = together(all.findings, report.findings);
        all.harnesses.extend(report.harnesses);
        all.explored = match (all.explored, report.explored) {
            (Some(one), Some(other)) => explored(path, vec![one, other]),
            (one, other) => one.or(other),
        };
        let Summary {
            bugs,
            failures,
            faults,
            checked,
            unsupported,
            doubtful,
            executions,
            exhausted,
            seconds,
            building,
            memory,
        } = report.summary;
        let sum = &mut all.summary;
        sum.bugs += bugs;
        sum.failures += failures;
        sum.faults += faults;
        sum.checked += checked;
        sum.unsupported += unsupported;
        sum.doubtful += doubtful;
        sum.executions += executions;
        sum.exhausted &= exhausted;
        sum.seconds += seconds;
        sum.building += building;
        sum.memory = sum.memory.max(memory);
    }
    Some(all)
}

/// Returns one report made of those of several explorations, whose options are the same. `None`: there are no reports.
#[must_use]
pub fn explored(path: &str, reports: Vec<Exploration>) -> Option<Exploration> {
    let mut reports = reports.into_iter();
    let mut all = reports.next()?;
    path.clone_into(&mut all.path);
    for report in reports {
        all.solver = all.solver.or(report.solver);
        all.seed = all.seed.or(report.seed);
        all.cut = all.cut.or(report.cut);
        all.findings = together(all.findings, report.findings);
        all.harnesses.extend(report.harnesses);
        let exploration::Summary {
            failures,
            explored,
            unsupported,
            doubtful,
            executions,
            exhausted,
            seconds,
            building,
            memory,
        } = report.summary;
        let sum = &mut all.summary;
        sum.failures += failures;
        sum.explored += explored;
        sum.unsupported += unsupported;
        sum.doubtful += doubtful;
        sum.executions += executions;
        sum.exhausted &= exhausted;
        sum.seconds += seconds;
        sum.building += building;
        sum.memory = sum.memory.max(memory);
    }
    Some(all)
}

/// Returns the directory that has the findings of both programs, each program's in a directory of its own.
fn together(one: Option<String>, other: Option<String>) -> Option<String> {
    match (one, other) {
        (Some(one), Some(other)) if one != other => {
            let above = Path::new(&other).parent();
            let above = above.filter(|above| Path::new(&one).starts_with(above));
            Some(above.map_or(one.clone(), |above| above.display().to_string()))
        }
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::sample;

    #[test]
    fn what_one_lacks_all_lack() {
        let (mut one, mut other) = (sample::report(), sample::report());
        one.summary.exhausted = true;
        other.summary.exhausted = false;
        one.findings = Some("t/findings/a".into());
        other.findings = Some("t/findings/b".into());
        let bugs = one.summary.bugs + other.summary.bugs;
        for (reports, findings) in [
            (vec![one.clone(), other.clone()], "t/findings"),
            (vec![other.clone(), one.clone()], "t/findings"),
            (vec![one.clone(), other.clone(), one.clone()], "t/findings"),
        ] {
            let number = reports.len();
            let all = checked("w", reports).unwrap();
            assert!(!all.summary.exhausted);
            assert_eq!(
                (all.path.as_str(), all.findings.as_deref()),
                ("w", Some(findings))
            );
            assert_eq!(all.harnesses.len(), number * one.harnesses.len());
            assert!(all.summary.bugs >= bugs);
        }
        assert_eq!(checked("w", Vec::new()), None);
    }
}
