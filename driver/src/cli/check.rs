//! `seqz check`.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use seqz_explore::catalogue;

use super::packages::{Chosen, Member};
use super::search::{STOP, Time, watch_for_interrupts};
use super::{CheckArgs, Format, Verdict, role};
use crate::build::{Allocator, Copies};
use crate::check::progress::Progress;
use crate::check::{self, Options, Subject};
use crate::error::Error;
use crate::explore;
use crate::model::document::{Cut, HarnessReport, Report, Status};
use crate::model::exploration::{Exploration, HarnessExploration};
use crate::model::verdict::{of_check, of_harness};
use crate::model::withdrawn;
use crate::output::Output;
use crate::program::{Follow, Mode};
use crate::report::{self, explored, human, several};
use crate::terminal::Terminal;

pub(super) fn run(args: &CheckArgs, terminal: &Terminal) -> Result<Verdict, Error> {
    let started = Instant::now();
    args.solver.is_there()?;
    let search = &args.search;
    // A harness that the sequential program can't run is refused when the search meets it: other harnesses may not need
    // what it uses.
    let follow = Follow::named(&args.follow);
    let members = search.packages.load(Mode::Scheduled, &follow, terminal)?;
    let chosen = members.chosen(&search.harness)?;
    search.known_inputs(chosen.iter().flat_map(Chosen::harnesses))?;
    search.keeps_one(&chosen)?;
    let number = chosen.iter().map(Chosen::len).sum();
    for chosen in &chosen {
        role::tasks(&chosen.harnesses(), args.thread_under_test.as_deref())?;
    }
    watch_for_interrupts()?;

    let progress = Progress::new(terminal);
    let mut out = Output::stdout();
    let detail = search.detail();
    let mut time = Time::of(search.time, number);
    let mut spent = Duration::ZERO;
    let seed = search.seed();
    let mut searched = Vec::new();
    let mut results = search.piece.results("check", &search.packages.path, || {
        let mut said = search.told_apart(chosen.iter().flat_map(Chosen::names), seed);
        said.extend(told_apart(args));
        said
    })?;
    let mut queue = VecDeque::from(chosen);
    while let Some(chosen) = queue.pop_front() {
        let (member, harnesses) = (&chosen.member, chosen.harnesses());
        let tasks = role::tasks(&harnesses, args.thread_under_test.as_deref())?;
        let program = &member.program;
        let copies = Copies::WhereClone;
        let ready = match search.build(program, &harnesses, args.k_max, copies, &progress) {
            Ok(Some(ready)) => ready,
            Ok(None) => return Ok(Verdict::Interrupted),
            Err(error) => {
                progress.suspend(|| members.go_on(&chosen, error, &mut queue, terminal))?;
                continue;
            }
        };
        let began = Instant::now();
        let options = Options {
            deadline: time.deadline(harnesses.len()),
            ..options(args, &member.path, seed, ready.target_dir.clone())
        };
        let subject = Subject {
            sources: program.sources(),
            generated: &ready.generated,
            built: &ready.built,
        };
        let mut held = Vec::new();
        let finished = |harness: &HarnessReport| match search.format {
            // Nothing is promised before the exploration has been made that may refute it.
            Format::Human if !args.no_explore && human::is_clean(harness) => {
                held.push(harness.clone());
                Ok(())
            }
            Format::Human => progress.suspend(|| {
                let harness = named(member, harness);
                out.write(|out| human::harness(out, &harness, detail, terminal.width))
            }),
            Format::Json => Ok(()),
        };
        let mut keep = results.of(member, &ready.generated)?;
        let mut report = check::run_piece(
            subject,
            &tasks,
            &options,
            &STOP,
            &progress,
            finished,
            &mut |shares| keep.checked(|| (check::head(&options), shares.to_vec())),
        )?;
        keep.checked_whole(&report)?;
        report.summary.building = ready.took.as_secs_f64();
        time.spend(began, harnesses.len());
        spent += began.elapsed();
        searched.push((chosen, ready, options, report, held));
        if STOP.load(Ordering::Relaxed) {
            break;
        }
    }
    let mut time = Time::of(
        Some(search.time.unwrap_or(QUICK).saturating_sub(spent)),
        number,
    );
    let goes_on = !args.no_explore && !STOP.load(Ordering::Relaxed) && !time.is_over();
    let mut reports = Vec::new();
    for (chosen, ready, options, mut report, mut held) in searched {
        let member = &chosen.member;
        let all = chosen.harnesses().into_iter().zip(&report.harnesses);
        // What no k can reach is explored all the same, if it can be run.
        let interfering = all.filter(|(harness, searched)| {
            (!searched.is_beyond() || harness.unsupported.is_none()) && check::goes_on(searched)
        });
        let harnesses: Vec<_> = interfering.map(|(harness, _)| harness).collect();
        let went = if goes_on && !harnesses.is_empty() && ready.built.allocator == Allocator::Ours {
            let checked = &report.harnesses;
            let instead: Vec<_> = checked.iter().filter(|it| it.is_beyond()).collect();
            let finished = |harness: &HarnessExploration| {
                let name = &harness.name;
                let shows = search.format == Format::Human
                    && (!harness.failures.is_empty()
                        || harness.status != Status::Checked
                        || instead.iter().any(|it| it.name == *name));
                let at = held.iter().position(|it| it.name == *name);
                let waited = at.map(|at| held.remove(at));
                if !shows && waited.is_none() {
                    return Ok(());
                }
                let mut checked = checked.iter().find(|it| it.name == *name).cloned();
                let checked_mut = checked.as_mut();
                let missed = checked_mut.and_then(|it| withdrawn::by_exploration(it, harness));
                progress.suspend(|| {
                    out.write(|out| {
                        if let Some(checked) = checked.as_ref().filter(|_| waited.is_some()) {
                            human::harness(out, &named(member, checked), detail, terminal.width)?;
                        }
                        if !shows {
                            return Ok(());
                        }
                        let harness = HarnessExploration {
                            name: member.named(name),
                            ..harness.clone()
                        };
                        explored::harness(
                            out,
                            &harness,
                            catalogue::DEFAULT,
                            detail,
                            terminal.width,
                        )?;
                        missed.map_or(Ok(()), |k| human::withdrawn(out, k, terminal.width))
                    })
                })
            };
            let began = Instant::now();
            let until = time.deadline(chosen.len()).unwrap_or(began);
            let subject = Subject {
                sources: member.program.sources(),
                generated: &ready.generated,
                built: &ready.built,
            };
            let strategy = explore_options(args, &options, until);
            let mut keep = results.of(member, &ready.generated)?;
            let explored = explore::run_piece(
                subject,
                &harnesses,
                &strategy,
                &STOP,
                &progress,
                finished,
                |shares| keep.explored(|| (explore::head(&strategy), shares())),
            );
            time.spend(began, chosen.len());
            explored.and_then(|explored| {
                keep.explored_whole(&explored)?;
                went_on(&mut report, explored);
                Ok(())
            })
        } else {
            Ok(())
        };
        // Those that no exploration has come to.
        for checked in &held {
            let checked = named(member, checked);
            progress.suspend(|| {
                out.write(|out| human::harness(out, &checked, detail, terminal.width))
            })?;
        }
        went?;
        let explored = report.explored.iter_mut().flat_map(|it| &mut it.harnesses);
        explored.for_each(|harness| harness.name = member.named(&harness.name));
        let checked = report.harnesses.iter_mut();
        checked.for_each(|harness| harness.name = member.named(&harness.name));
        reports.push(report);
    }
    results.finish()?;
    progress.finish();
    let path = search.packages.path.display().to_string();
    let Some(mut report) = several::checked(&path, reports) else {
        return Ok(members.verdict(Verdict::Clean));
    };
    report.summary.seconds = started.elapsed().as_secs_f64();
    out.write(|out| match search.format {
        Format::Human => human::closing(out, &report),
        Format::Json => report::json(out, &report),
    })?;
    // That is asked of all pieces together.
    let is_asked = args.search.require_exhausted && args.search.piece.partition.is_none();
    let exhausted = !is_asked || of_check(&report).exhausted;
    Ok(members.verdict(verdict(&report).demanding(exhausted)))
}

/// What tells this check from others, beside what all searches have.
fn told_apart(args: &CheckArgs) -> Vec<(&'static str, String)> {
    vec![
        ("k-max", args.k_max.to_string()),
        ("thread-under-test", format!("{:?}", args.thread_under_test)),
        ("solver", args.solver.name.to_owned()),
        ("max-steps", format!("{:?}", args.max_steps)),
        ("no-explore", args.no_explore.to_string()),
        ("followed", format!("{:?}", args.follow)),
    ]
}

/// The report of a harness, by the name that it has among those of several packages.
fn named(member: &Member, harness: &HarnessReport) -> HarnessReport {
    HarnessReport {
        name: member.named(&harness.name),
        ..harness.clone()
    }
}

/// The largest time of a search that an exploration follows, and of both together, where no time is given.
const QUICK: Duration = Duration::from_secs(5);

/// The options of an exploration of the same harnesses that ends at `until`.
fn explore_options(args: &CheckArgs, options: &Options, until: Instant) -> explore::Options {
    explore::Options {
        inputs: options.inputs.clone(),
        max_inputs: options.max_inputs,
        seed: options.seed,
        max_executions: options.max_executions,
        spurious: args.search.reasonless(),
        deadline: Some(until),
        hang_after: options.hang_after,
        ignore_detached_panics: options.ignore_detached_panics,
        piece: options.piece,
        ..explore::Options::new(
            Path::new(&options.path),
            catalogue::default(),
            options.target_dir.clone(),
        )
    }
}

/// Adds what the exploration has found to the report of the check.
pub(super) fn went_on(report: &mut Report, explored: Exploration) {
    report.summary.failures = explored.summary.failures;
    report.summary.doubtful += explored.summary.doubtful;
    report.summary.memory = report.summary.memory.max(explored.summary.memory);
    let findings = &mut report.findings;
    *findings = findings.take().or_else(|| explored.findings.clone());
    for explored in &explored.harnesses {
        let mut checked = report.harnesses.iter_mut();
        if let Some(checked) = checked.find(|it| it.name == explored.name)
            && withdrawn::by_exploration(checked, explored).is_some()
        {
            checked.verdict = of_harness(checked).sentence();
            report.summary.exhausted = false;
        }
    }
    report.explored = Some(explored);
}

fn options(args: &CheckArgs, path: &Path, seed: u64, target_dir: PathBuf) -> Options {
    let search = &args.search;
    Options {
        path: path.display().to_string(),
        k_max: args.k_max,
        solver: args.solver,
        inputs: search.inputs(),
        max_inputs: search.max_inputs,
        seed,
        max_steps: args.max_steps,
        max_executions: args.max_executions.unwrap_or(u64::MAX),
        deadline: None,
        hang_after: search.hang_after,
        ignore_detached_panics: search.ignore_detached_panics,
        reasonless: search.spurious != Some(0),
        piece: search.piece.partition,
        target_dir,
    }
}

pub(super) fn verdict(report: &Report) -> Verdict {
    let explored = report
        .explored
        .as_ref()
        .map_or(&[][..], |explored| &explored.harnesses);
    let ran_instead = |name: &str| {
        let mut ran = explored.iter().filter(|it| it.status == Status::Checked);
        ran.any(|it| it.name == name)
    };
    let any = |wanted: fn(&Status) -> bool| {
        let mut left = report
            .harnesses
            .iter()
            .filter(|it| !(it.is_beyond() && ran_instead(&it.name)));
        left.any(|harness| wanted(&harness.status))
    };
    if report.summary.faults > 0 {
        Verdict::Failed
    } else if report.summary.bugs + report.summary.failures > 0 {
        Verdict::Bugs
    } else if report.cut == Some(Cut::Interrupted)
        || report.explored.as_ref().and_then(|explored| explored.cut) == Some(Cut::Interrupted)
    {
        Verdict::Interrupted
    } else if any(|status| matches!(status, Status::Failed { .. })) {
        Verdict::Failed
    } else if any(|status| {
        matches!(
            status,
            Status::Unsupported { .. }
                | Status::Nondeterministic { .. }
                | Status::Blocked { .. }
                | Status::NoneEnded { .. }
        )
    }) || report.summary.doubtful > 0
    {
        Verdict::Unsupported
    } else {
        Verdict::Clean
    }
}
