//! Tests a harness with the methods that can show most of it within a time: the sequential program for small k first,
//! which finds most bugs soonest; then all schedules, which is a proof where they come to an end; then schedules drawn at
//! random.

pub mod proofs;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use seqz_explore::catalogue;

use crate::build::Allocator;
use crate::check::progress::Progress;
use crate::check::{self, Subject, Task};
use crate::error::Error;
use crate::explore;
use crate::model::document::{HarnessReport, Status};
use crate::model::exploration::HarnessExploration;
use crate::model::tested::{Found, Outcome, Tested, Tried};
use crate::model::{unfollowed, verdict};

/// The strategy that draws schedules where their number is too large.
pub const SAMPLER: &str = "surw";

/// The parts of a harness's time after which the check and the exploration end, in hundredths.
const CHECK_UNTIL: u32 = 30;
/// See [`CHECK_UNTIL`].
const EXPLORE_UNTIL: u32 = 80;

/// What each harness is tested with.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The time for a harness.
    pub time: Duration,
    /// The time at which all ends; `None`: the harnesses' times are the only limit.
    pub until: Option<Instant>,
    /// The options of the check; its deadline is set anew for each harness.
    pub check: check::Options,
    /// The options of the explorations; their deadline, strategy and `until_failure` are set anew.
    pub explore: explore::Options,
}

/// The report that tells of a harness's failures.
#[derive(Clone, Debug)]
pub enum Evidence {
    /// A check.
    Checked(Box<HarnessReport>),
    /// An exploration by the named strategy.
    Explored(Box<HarnessExploration>, &'static str),
}

/// What was shown of a harness, and the reports of what was found.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The outcome.
    pub tested: Tested,
    /// The reports that failures are told by.
    pub evidence: Vec<Evidence>,
}

/// Returns a harness that no method has been run on.
#[must_use]
pub fn untested(harness: &crate::program::Harness) -> Tested {
    Tested {
        name: harness.name.clone(),
        package: String::new(),
        site: harness.site.clone(),
        outcome: Outcome::NotReached,
        cached: false,
        reads: None,
        found: Vec::new(),
        tried: Vec::new(),
        seconds: 0.0,
    }
}

/// Tests the harness of the task.
///
/// # Errors
/// When a worker fails in a way that has nothing to do with the program.
pub fn harness(
    subject: Subject<'_>,
    task: &Task<'_>,
    plan: &Plan,
    stop: &AtomicBool,
    progress: &Progress,
) -> Result<Shown, Error> {
    let began = Instant::now();
    let mut shown = Shown {
        tested: untested(task.harness),
        evidence: Vec::new(),
    };
    if let Some(why) = &task.harness.unsupported {
        let reason = why.message.clone();
        shown.tested.outcome = Outcome::Unsupported { reason };
        return Ok(shown);
    }
    let at = |hundredths: u32| {
        let own = began + plan.time * hundredths / 100;
        plan.until.map_or(own, |all| all.min(own))
    };

    let options = check::Options {
        deadline: Some(at(CHECK_UNTIL)),
        ..plan.check.clone()
    };
    let tasks = [task.clone()];
    let report = check::run(subject, &tasks, &options, stop, progress, |_| Ok(()))?;
    let mut k = None;
    if let Some(checked) = report.harnesses.first() {
        shown.of_check(checked);
        k = bound(checked);
    }

    let can_go_on = |shown: &Shown| {
        !stop.load(Ordering::Relaxed)
            && shown.evidence.is_empty()
            && !matches!(shown.tested.outcome, Outcome::Failed { .. })
            && subject.built.allocator == Allocator::Ours
    };
    let mut sampled = 0;
    if can_go_on(&shown) {
        let explored = explore(
            subject,
            task,
            plan,
            at(EXPLORE_UNTIL),
            stop,
            progress,
            catalogue::default(),
        )?;
        let is_proof = explored.as_ref().is_some_and(|explored| {
            explored.status == Status::Checked
                && explored.failures.is_empty()
                && verdict::of_report(explored).exhausted
        });
        // The exploration runs harnesses that the check can't run.
        if let Some(explored) = explored {
            let executions = explored.counts.executions;
            shown.of_exploration(explored, catalogue::DEFAULT);
            if is_proof && shown.evidence.is_empty() {
                shown.tested.outcome = Outcome::Proved { executions };
            }
        }
        if !is_proof
            && can_go_on(&shown)
            && shown
                .tested
                .tried
                .last()
                .is_some_and(|it| it.executions > 0)
            && let Some(sampler) = catalogue::named(SAMPLER)
        {
            let drawn = explore(subject, task, plan, at(100), stop, progress, sampler)?;
            if let Some(drawn) = drawn {
                sampled = drawn.counts.executions;
                shown.of_exploration(drawn, SAMPLER);
            }
        }
    }
    shown
        .tested
        .conclude(k, sampled, stop.load(Ordering::Relaxed));
    shown.tested.seconds = began.elapsed().as_secs_f64();
    Ok(shown)
}

/// Explores the harness with one strategy.
fn explore(
    subject: Subject<'_>,
    task: &Task<'_>,
    plan: &Plan,
    deadline: Instant,
    stop: &AtomicBool,
    progress: &Progress,
    strategy: &'static catalogue::Entry,
) -> Result<Option<HarnessExploration>, Error> {
    let options = explore::Options {
        strategy,
        deadline: Some(deadline),
        lazy_relations: strategy.has(catalogue::Trait::CountsLazily),
        until_failure: strategy.has(catalogue::Trait::Samples),
        ..plan.explore.clone()
    };
    let harnesses = [task.harness];
    let report = explore::run(subject, &harnesses, &options, stop, progress, |_| Ok(()))?;
    Ok(report.harnesses.into_iter().next())
}

/// Returns the largest k up to which all choices were tried, with each thread under test; `None`: not even those of k = 0.
fn bound(checked: &HarnessReport) -> Option<u32> {
    let is_whole = checked.not_followed.is_empty() && checked.lone.is_empty();
    if checked.status != Status::Checked || !is_whole || !checked.bugs.is_empty() {
        return None;
    }
    let of_role = |levels: &[crate::model::document::Level]| {
        let whole = levels.iter().take_while(|level| {
            level.exhausted && level.cut == 0 && level.undecided == 0 && level.reasons.is_empty()
        });
        whole.map(|level| level.k).last()
    };
    let roles = checked.roles.iter().map(|role| of_role(&role.levels));
    // Where one thread under test has no level that is whole, nothing holds of both.
    let bounds = roles.collect::<Option<Vec<u32>>>()?;
    bounds.into_iter().min()
}

impl Shown {
    /// Adds what a check has shown.
    fn of_check(&mut self, report: &HarnessReport) {
        self.tested.reads.clone_from(&report.reads);
        let levels = report.roles.iter().flat_map(|role| &role.levels);
        self.tested.tried.push(Tried {
            method: "check".into(),
            executions: levels.map(|level| level.executions).sum(),
            verdict: verdict::of_harness(report).sentence(),
            seconds: report.seconds,
        });
        if let Some(fault) = report.faults.first() {
            self.tested.outcome = Outcome::Failed {
                reason: format!("seqz has a fault: it could not confirm `{}`", fault.message),
            };
            self.evidence
                .push(Evidence::Checked(Box::new(report.clone())));
            return;
        }
        self.hindered(&report.status, true);
        if report.bugs.is_empty() {
            return;
        }
        self.tested.outcome = found(&report.not_followed);
        self.tested
            .found
            .extend(report.bugs.iter().map(|bug| Found {
                method: "check".into(),
                kind: bug.kind,
                message: bug.message.clone(),
                site: bug.site.clone(),
                k: Some(bug.k),
                finding: bug.finding.clone(),
            }));
        self.evidence
            .push(Evidence::Checked(Box::new(report.clone())));
    }

    /// Adds what an exploration has shown.
    fn of_exploration(&mut self, report: HarnessExploration, strategy: &'static str) {
        let reads = &mut self.tested.reads;
        *reads = reads.take().or_else(|| report.reads.clone());
        self.tested.tried.push(Tried {
            method: strategy.into(),
            executions: report.counts.executions,
            verdict: verdict::of_report(&report).sentence(),
            seconds: report.counts.seconds,
        });
        self.hindered(&report.status, false);
        if report.failures.is_empty() {
            return;
        }
        self.tested.outcome = found(&report.not_followed);
        self.tested
            .found
            .extend(report.failures.iter().map(|failure| Found {
                method: strategy.into(),
                kind: failure.kind,
                message: failure.message.clone(),
                site: failure.site.clone(),
                k: None,
                finding: failure.finding.clone(),
            }));
        self.evidence
            .push(Evidence::Explored(Box::new(report), strategy));
    }

    /// Takes in what stood in the way of a method. What stands in the way of the check alone is forgotten when an exploration
    /// comes through.
    fn hindered(&mut self, status: &Status, is_check: bool) {
        let Some(why) = status.hindrance() else {
            if !is_check && matches!(self.tested.outcome, Outcome::Unsupported { .. }) {
                self.tested.outcome = Outcome::NotReached;
            }
            return;
        };
        let reason = why.to_owned();
        match status {
            Status::Failed { .. } => self.tested.outcome = Outcome::Failed { reason },
            Status::NotReached => {}
            _ => self.tested.outcome = Outcome::Unsupported { reason },
        }
    }
}

/// The outcome where something was found.
fn found(not_followed: &[crate::model::document::NotFollowed]) -> Outcome {
    if unfollowed::distort(not_followed) {
        Outcome::Doubtful
    } else {
        Outcome::Bug
    }
}

impl Tested {
    /// Draws the conclusion where nothing has been found, proved or refused.
    fn conclude(&mut self, k: Option<u32>, schedules: u64, interrupted: bool) {
        if self.outcome != Outcome::NotReached {
            return;
        }
        let executions = self.tried.iter().map(|it| it.executions).sum();
        self.outcome = match (k, schedules) {
            (Some(k), schedules) => Outcome::NoBug { k, schedules },
            (None, 1..) => Outcome::Sampled { schedules },
            (None, 0) if executions == 0 && interrupted => Outcome::NotReached,
            (None, 0) => Outcome::Open { executions },
        };
    }
}
