//! `seqz check`.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::{CheckArgs, Format, SolverChoice, Verdict, role};
use crate::build;
use crate::check::progress::Progress;
use crate::check::{self, Options, Solver, Subject, Task};
use crate::error::Error;
use crate::output::Output;
use crate::program::{Harness, Program, Request};
use crate::report::document::{Cut, Report, Role, Status};
use crate::report::{self, human};
use crate::terminal::Terminal;

/// Set by Ctrl-C.
static STOP: AtomicBool = AtomicBool::new(false);

pub(super) fn run(args: &CheckArgs, terminal: &Terminal) -> Result<Verdict, Error> {
    let started = Instant::now();
    if args.solver != SolverChoice::Grid && !cfg!(feature = "z3") {
        return Err(Error::Option {
            message: "this seqz was built without Z3".into(),
            help:
                "build one with it: `cargo install --path driver --features z3` (needs libz3-dev)"
                    .into(),
        });
    }
    let program = Program::load(&args.path)?;
    let harnesses = chosen(&program, args)?;
    known_inputs(&harnesses, args)?;
    let tasks = tasks(&harnesses, args)?;
    watch_for_interrupts()?;

    let progress = Progress::new(terminal);
    progress.say("building");
    let generated = program.transform(&Request {
        k: args.k_max,
        harness: apart(&harnesses)?,
        role: Role::First,
    })?;
    if let Some(dir) = &args.keep {
        super::transform::write(dir, &generated, super::transform::Force::Ours)?;
    }
    let target_dir = build::target_dir(args.target_dir.as_deref(), &program)?;
    let waiting = || progress.say("waiting for another seqz that builds in the same directory");
    let built = match build::build(&program, &generated, &target_dir, waiting) {
        // The same Ctrl-C has ended cargo.
        Err(_) if STOP.load(Ordering::Relaxed) => return Ok(Verdict::Interrupted),
        built => built?,
    };
    let options = options(args, target_dir);
    let subject = Subject {
        program: &program,
        generated: &generated,
        built: &built,
    };
    let mut out = Output::stdout();
    let finished = |harness: &crate::report::document::HarnessReport| match args.format {
        Format::Human => {
            progress.suspend(|| out.write(|out| human::harness(out, harness, terminal.width)))
        }
        Format::Json => Ok(()),
    };
    let mut report = check::run(subject, &tasks, &options, &STOP, &progress, finished)?;
    report.summary.seconds = started.elapsed().as_secs_f64();
    progress.finish();
    out.write(|out| match args.format {
        Format::Human => human::closing(out, &report),
        Format::Json => report::json(out, &report),
    })?;
    Ok(verdict(&report))
}

/// The harnesses that the command line asks for, in the order of the source.
fn chosen<'a>(program: &'a Program, args: &CheckArgs) -> Result<Vec<&'a Harness>, Error> {
    let all = program.harnesses();
    if all.is_empty() {
        return Err(Error::NoHarness {
            path: args.path.clone(),
        });
    }
    if args.harness.is_empty() {
        return Ok(all.iter().filter(|harness| !harness.ignored).collect());
    }
    let names: Vec<_> = all.iter().map(|harness| harness.name.as_str()).collect();
    let wanted = args
        .harness
        .iter()
        .map(|wanted| super::pick(&names, wanted))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(all
        .iter()
        .filter(|harness| wanted.contains(&harness.name.as_str()))
        .collect())
}

/// A harness that is not generated along with the others: one that is marked `#[ignore]`.
fn apart(harnesses: &[&Harness]) -> Result<Option<String>, Error> {
    let ignored = harnesses.iter().find(|harness| harness.ignored);
    match (ignored, harnesses) {
        (None, _) => Ok(None),
        (Some(harness), [_]) => Ok(Some(harness.name.clone())),
        (Some(harness), _) => Err(Error::Option {
            message: format!("`{}` is marked #[ignore]", harness.name),
            help: "check it by itself".into(),
        }),
    }
}

/// A mistyped name must not leave a parameter to its defaults.
fn known_inputs(harnesses: &[&Harness], args: &CheckArgs) -> Result<(), Error> {
    for (at, spec) in args.input.iter().enumerate() {
        let mut parameters = harnesses
            .iter()
            .flat_map(|harness| &harness.parameters)
            .map(|(name, _)| name);
        if !parameters.clone().any(|name| *name == spec.name) {
            let known: Vec<_> = parameters.by_ref().map(String::as_str).collect();
            return Err(Error::Option {
                message: format!("no harness has a parameter `{}`", spec.name),
                help: if known.is_empty() {
                    "the harnesses have no parameters".into()
                } else {
                    format!("there are: {}", known.join(", "))
                },
            });
        }
        if args.input[..at]
            .iter()
            .any(|earlier| earlier.name == spec.name)
        {
            return Err(Error::Option {
                message: format!("--input is given twice for `{}`", spec.name),
                help: "list all its values in one, like `n=1,2,5`".into(),
            });
        }
    }
    Ok(())
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
    Options {
        path: args.path.display().to_string(),
        k_max: args.k_max,
        solver: match args.solver {
            SolverChoice::Grid => Solver::Grid,
            SolverChoice::Z3 => Solver::Z3,
            SolverChoice::All => Solver::All,
        },
        inputs: args
            .input
            .iter()
            .map(|spec| (spec.name.clone(), spec.values.clone()))
            .collect(),
        max_inputs: args.max_inputs,
        // Short, as it may have to be typed again.
        seed: args
            .seed
            .unwrap_or_else(|| RandomState::new().hash_one(0) >> 40),
        max_steps: args.max_steps,
        max_executions: args.max_executions.unwrap_or(u64::MAX),
        deadline: args.time.and_then(|time| Instant::now().checked_add(time)),
        hang_after: args.hang_after,
        target_dir,
    }
}

fn watch_for_interrupts() -> Result<(), Error> {
    let handler = || {
        if STOP.swap(true, Ordering::Relaxed) {
            // Asked twice: at once.
            process::exit(Verdict::Interrupted.code().into());
        }
    };
    ctrlc::set_handler(handler).map_err(|e| Error::Worker(format!("cannot watch for Ctrl-C: {e}")))
}

fn verdict(report: &Report) -> Verdict {
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
            Status::Unsupported { .. } | Status::Nondeterministic { .. }
        )
    }) {
        Verdict::Unsupported
    } else {
        Verdict::Clean
    }
}
