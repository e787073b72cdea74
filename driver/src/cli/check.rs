//! `seqz check`.

use std::path::PathBuf;
use std::time::Instant;

use super::search::{STOP, watch_for_interrupts};
use super::{CheckArgs, Format, SolverChoice, Verdict, needs_z3, role};
use crate::build::Copies;
use crate::check::progress::Progress;
use crate::check::{self, Options, Solver, Subject, Task};
use crate::error::Error;
use crate::output::Output;
use crate::program::{Harness, Mode, Program};
use crate::report::document::{Cut, Report, Role, Status};
use crate::report::verdict::of_check;
use crate::report::{self, human};
use crate::terminal::Terminal;

pub(super) fn run(args: &CheckArgs, terminal: &Terminal) -> Result<Verdict, Error> {
    let started = Instant::now();
    if args.solver != SolverChoice::Grid {
        needs_z3()?;
    }
    let search = &args.search;
    // What the sequential program can't run is run as far as it goes: other harnesses need not use it.
    let program = Program::load(&search.path, Mode::Scheduled)?;
    let harnesses = search.chosen(&program)?;
    search.known_inputs(&harnesses)?;
    let tasks = tasks(&harnesses, args)?;
    watch_for_interrupts()?;

    let progress = Progress::new(terminal);
    let Some(ready) = search.build(&program, &harnesses, args.k_max, Copies::Made, &progress)?
    else {
        return Ok(Verdict::Interrupted);
    };
    let options = options(args, ready.target_dir);
    let subject = Subject {
        program: &program,
        generated: &ready.generated,
        built: &ready.built,
    };
    let mut out = Output::stdout();
    let finished = |harness: &crate::report::document::HarnessReport| match search.format {
        Format::Human => {
            progress.suspend(|| out.write(|out| human::harness(out, harness, terminal.width)))
        }
        Format::Json => Ok(()),
    };
    let mut report = check::run(subject, &tasks, &options, &STOP, &progress, finished)?;
    report.summary.seconds = started.elapsed().as_secs_f64();
    progress.finish();
    out.write(|out| match search.format {
        Format::Human => human::closing(out, &report),
        Format::Json => report::json(out, &report),
    })?;
    let exhausted = !args.search.require_exhausted || of_check(&report).exhausted;
    Ok(verdict(&report).demanding(exhausted))
}

fn tasks<'a>(harnesses: &[&'a Harness], args: &CheckArgs) -> Result<Vec<Task<'a>>, Error> {
    let task = |harness: &&'a Harness| {
        let roles = match &args.thread_under_test {
            Some(wanted) if harness.unsupported.is_none() => vec![role::of(wanted, harness)?],
            _ => Role::BOTH.to_vec(),
        };
        Ok(Task { harness, roles })
    };
    harnesses.iter().map(task).collect()
}

fn options(args: &CheckArgs, target_dir: PathBuf) -> Options {
    let search = &args.search;
    Options {
        path: search.path.display().to_string(),
        k_max: args.k_max,
        solver: match args.solver {
            SolverChoice::Grid => Solver::Grid,
            SolverChoice::Z3 => Solver::Z3,
            SolverChoice::All => Solver::All,
        },
        inputs: search.inputs(),
        max_inputs: search.max_inputs,
        seed: search.seed(),
        max_steps: args.max_steps,
        max_executions: args.max_executions.unwrap_or(u64::MAX),
        deadline: search.deadline(),
        hang_after: search.hang_after,
        ignore_detached_panics: search.ignore_detached_panics,
        target_dir,
    }
}

pub(super) fn verdict(report: &Report) -> Verdict {
    let any = |wanted: fn(&Status) -> bool| {
        report
            .harnesses
            .iter()
            .any(|harness| wanted(&harness.status))
    };
    if report.summary.faults > 0 {
        Verdict::Failed
    } else if report.summary.bugs > 0 {
        Verdict::Bugs
    } else if report.cut == Some(Cut::Interrupted) {
        Verdict::Interrupted
    } else if any(|status| matches!(status, Status::Failed { .. })) {
        Verdict::Failed
    } else if any(|status| {
        matches!(
            status,
            Status::Unsupported { .. } | Status::Nondeterministic { .. } | Status::Blocked { .. }
        )
    }) || report.summary.doubtful > 0
    {
        Verdict::Unsupported
    } else {
        Verdict::Clean
    }
}
