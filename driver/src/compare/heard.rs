//! Translates the document of a run to the terms of a comparison.

use crate::model::document::{
    Bug, HarnessReport, Kind, Level, NotFollowed, Reason, Report, Site, Status,
};
use crate::model::exploration::{Exploration, Failure, HarnessExploration, Promise};
use crate::model::lone;
use crate::model::schedule::Action;
use crate::model::unfollowed;
use crate::model::verdict;

use super::document::{Ended, Found, Known, LevelRun, Run};

/// The run that a document of `seqz check` tells of, or of `seqz fuzz`, which has the same form.
pub(super) fn check(method: String, report: Report) -> Option<Run> {
    let memory = report.summary.memory;
    let whole = report.summary.seconds;
    let harness = report.harnesses.into_iter().next()?;
    let (ended, why) = ended_check(&harness);
    // A fuzzer does not measure the times of building and searching apart.
    let seconds = if harness.seconds > 0.0 {
        harness.seconds
    } else {
        whole
    };
    let levels: Vec<&Level> = harness.roles.iter().flat_map(|role| &role.levels).collect();
    Some(Run {
        method,
        ended,
        why,
        executions: Some(levels.iter().map(|level| level.executions).sum()),
        seconds,
        memory,
        levels: levels
            .iter()
            .map(|level| LevelRun {
                k: level.k,
                executions: level.executions,
                failing: level.failing,
                exhausted: level.exhausted,
            })
            .collect(),
        found: if unfollowed::distort(&harness.not_followed) {
            Vec::new()
        } else {
            harness.bugs.iter().map(bug).collect()
        },
    })
}

/// The run that a document of `seqz explore` tells of.
pub(super) fn explore(method: String, report: Exploration) -> Option<Run> {
    let memory = report.summary.memory;
    let random = report.seed.is_some();
    let harness = report.harnesses.into_iter().next()?;
    let (mut ended, why) = ended_explore(&harness);
    // A sample is complete with what has been drawn, whatever ends the drawing.
    if random && matches!(ended, Ended::Timeout | Ended::Executions) {
        ended = Ended::Sampled;
    }
    Some(Run {
        method,
        ended,
        why,
        executions: Some(harness.counts.executions),
        seconds: harness.counts.seconds,
        memory,
        levels: Vec::new(),
        found: if unfollowed::distort(&harness.not_followed) {
            Vec::new()
        } else {
            harness.failures.iter().map(failure).collect()
        },
    })
}

/// Returns how a run ended whose harness could not be searched.
fn stopped(status: &Status, unfollowed: &[NotFollowed]) -> Option<(Ended, Option<String>)> {
    match status {
        Status::Checked => None,
        Status::NoInterference { .. } if !unfollowed.is_empty() => Some(not_followed(unfollowed)),
        // One order of all events is all that there is to search.
        Status::NoInterference { .. } => Some((Ended::Exhausted, None)),
        Status::Unsupported { reason, .. } => Some((Ended::Unsupported, Some(reason.clone()))),
        Status::Blocked { reason } => Some((Ended::NotFollowed, Some(reason.clone()))),
        Status::Nondeterministic { reason, .. } | Status::Failed { reason } => {
            Some((Ended::Failed, Some(reason.clone())))
        }
        Status::NoneEnded { reason } => Some((Ended::Timeout, Some(reason.clone()))),
        Status::NotReached => Some((Ended::Timeout, None)),
    }
}

/// Returns how a run ended whose harness reaches what is not followed.
fn not_followed(all: &[NotFollowed]) -> (Ended, Option<String>) {
    (Ended::NotFollowed, Some(unfollowed::sentence(all)))
}

fn ended_check(harness: &HarnessReport) -> (Ended, Option<String>) {
    if !harness.faults.is_empty() {
        let why = "a finding is not there on the original program: a fault of seqz";
        return (Ended::Failed, Some(why.into()));
    }
    stopped(&harness.status, &harness.not_followed).unwrap_or_else(|| {
        let levels = harness.roles.iter().flat_map(|role| &role.levels);
        let exhausted = levels.clone().all(|level| level.exhausted);
        let reasons: Vec<_> = levels.flat_map(|level| level.reasons.clone()).collect();
        match because(&reasons) {
            (Ended::Exhausted | Ended::Bounded, _) if !harness.not_followed.is_empty() => {
                not_followed(&harness.not_followed)
            }
            (Ended::Bounded, None) => (Ended::Bounded, lone::left_out(&harness.lone)),
            // A fuzzer has no other reason than that its inputs and interference are drawn.
            (Ended::Exhausted, _) if !exhausted => (Ended::Sampled, None),
            ended => ended,
        }
    })
}

fn ended_explore(harness: &HarnessExploration) -> (Ended, Option<String>) {
    stopped(&harness.status, &harness.not_followed).unwrap_or_else(|| match &harness.promise {
        Promise::Unfinished { reasons } if reasons.is_empty() => {
            (Ended::Failed, Some("it says nothing of its end".into()))
        }
        Promise::Unfinished { reasons } if *reasons == [Reason::Unfollowed] => {
            not_followed(&harness.not_followed)
        }
        Promise::Unfinished { reasons } => because(reasons),
        _ if harness.sampled_inputs => (Ended::Sampled, None),
        // A comparison lets nothing happen without a reason, as the papers' methods don't.
        Promise::Exhausted
        | Promise::ExhaustedWeakly
        | Promise::Bounded { .. }
        | Promise::ExhaustedLazily { .. }
        | Promise::ExhaustedByValues { .. }
            if harness.spurious == 0 && !harness.lone.is_empty() =>
        {
            (Ended::Bounded, lone::left_out(&harness.lone))
        }
        _ if verdict::of_report(harness).exhausted => (Ended::Exhausted, None),
        Promise::Exhausted
        | Promise::ExhaustedWeakly
        | Promise::Bounded { .. }
        | Promise::ExhaustedLazily { .. }
        | Promise::ExhaustedByValues { .. } => (Ended::Bounded, None),
        Promise::Sampled => (Ended::Sampled, None),
        // Only `Promise::Heuristic` is left.
        _ => (Ended::Heuristic, None),
    })
}

/// Returns the gravest of the reasons why a search is not exhausted.
fn because(reasons: &[Reason]) -> (Ended, Option<String>) {
    let has = |reason: Reason| reasons.contains(&reason);
    let ended = if has(Reason::Died) {
        Ended::Died
    } else if has(Reason::SolverUnknown) {
        let why = "the solver did not always know".to_owned();
        return (Ended::Failed, Some(why));
    } else if has(Reason::NotFollowed) {
        let why = "the program did not follow all schedules".to_owned();
        return (Ended::Failed, Some(why));
    } else if has(Reason::TimeLimit) || has(Reason::Interrupted) {
        Ended::Timeout
    } else if has(Reason::ExecutionLimit) {
        Ended::Executions
    } else if has(Reason::SampledInputs) {
        Ended::Sampled
    } else if has(Reason::StepBound)
        || has(Reason::Undecided)
        || has(Reason::Unwinding)
        || has(Reason::VirtualTime)
        || has(Reason::PassingTime)
        || has(Reason::ScopedDestructor)
        || has(Reason::LaterRound)
        || has(Reason::Barrier)
        || has(Reason::BehindAnother)
        || has(Reason::Reasonless)
        || has(Reason::WaitingWriter)
        || has(Reason::TriedBesideWriter)
        || has(Reason::UsedUnpark)
    {
        Ended::Bounded
    } else if has(Reason::OpenOutcome) {
        Ended::Heuristic
    } else {
        Ended::Exhausted
    };
    (ended, None)
}

fn bug(bug: &Bug) -> Found {
    let other = bug.other_site.iter().filter(|_| bug.other_pending);
    Found {
        bug: 0,
        k: Some(bug.k),
        executions: Some(bug.met.executions),
        seconds: bug.met.seconds,
        count: bug.count,
        what: Some(Known {
            kind: bug.kind,
            message: bug.message.clone(),
            sites: sites(bug.site.iter().chain(other)),
        }),
    }
}

fn failure(failure: &Failure) -> Found {
    let waits = |action: Action| {
        // A thread that waits for another thread's end is only the last of a chain.
        action.has_variable() || failure.kind == Kind::DataRace
    };
    let waiting = failure.waiting.iter();
    let waiting = waiting
        .filter(|waiting| waits(waiting.action))
        .filter_map(|waiting| waiting.site.as_ref());
    Found {
        bug: 0,
        k: None,
        executions: Some(failure.met.executions),
        seconds: failure.met.seconds,
        count: failure.count,
        what: Some(Known {
            kind: failure.kind,
            message: failure.message.clone(),
            sites: sites(failure.site.iter().chain(waiting)),
        }),
    }
}

fn sites<'a>(all: impl Iterator<Item = &'a Site>) -> Vec<Site> {
    let mut sites: Vec<Site> = Vec::new();
    for site in all {
        if !sites.contains(site) {
            sites.push(site.clone());
        }
    }
    sites
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::sample;

    #[test]
    fn what_is_not_tried_without_a_reason_is_a_bound() {
        let mut report = sample::report();
        let levels = report.harnesses[0]
            .roles
            .iter_mut()
            .flat_map(|role| &mut role.levels);
        for level in levels {
            level.exhausted = false;
            level.reasons = vec![Reason::Reasonless];
        }
        report.harnesses[0].not_followed.clear();
        report.harnesses[0].lone.push(sample::lone());
        let run = check("m".into(), report).unwrap();
        assert_eq!(run.ended, Ended::Bounded);
        let why = run.why.unwrap();
        assert!(why.contains("without a reason was not tried"), "{why}");

        let mut report = sample::exploration();
        report.harnesses.truncate(1);
        let harness = &mut report.harnesses[0];
        harness.status = Status::Checked;
        harness.not_followed.clear();
        harness.sampled_inputs = false;
        harness.promise = Promise::Exhausted;
        harness.counts.truncated = 0;
        harness.counts.undecided = 0;
        harness.lone.clear();
        let ended = |report: &Exploration| explore("m".into(), report.clone()).unwrap().ended;
        harness.spurious = 0;
        assert_eq!(ended(&report), Ended::Exhausted);
        report.harnesses[0].lone.push(sample::lone());
        assert_eq!(ended(&report), Ended::Bounded);
        report.harnesses[0].spurious = 1;
        assert_eq!(ended(&report), Ended::Exhausted);
    }

    #[test]
    fn what_is_not_exhausted_for_no_reason_was_drawn() {
        let mut report = sample::report();
        for level in report.harnesses[0]
            .roles
            .iter_mut()
            .flat_map(|role| &mut role.levels)
        {
            level.exhausted = true;
            level.reasons.clear();
        }
        let ended = |report: &Report| check("m".into(), report.clone()).map(|run| run.ended);
        assert_eq!(ended(&report), Some(Ended::Exhausted));
        report.harnesses[0].roles[0].levels[0].exhausted = false;
        assert_eq!(ended(&report), Some(Ended::Sampled));
        report.harnesses[0].roles[0].levels[0].reasons = vec![Reason::TimeLimit];
        assert_eq!(ended(&report), Some(Ended::Timeout));
        report.harnesses[0].seconds = 0.0;
        report.summary.seconds = 7.0;
        let run = check("m".into(), report).unwrap();
        assert!((run.seconds - 7.0).abs() < 1e-9);
    }
}
