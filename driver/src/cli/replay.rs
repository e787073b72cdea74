//! `seqz replay`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::explore::{STACK_SIZE, own_allocator};
use super::search::{STOP, TargetArgs, watch_for_interrupts};
use super::{FeatureArgs, Verdict, emit, seconds};
use crate::build::Copies;
use crate::check::Subject;
use crate::check::progress::Progress;
use crate::diagnostic::shown;
use crate::error::Error;
use crate::findings::Finding;
use crate::model::document::Role;
use crate::output::Output;
use crate::program::{Choice, Features, Follow, Mode, Program, Request};
use crate::replay::{Ended, Recording, run as replay};
use crate::report::replayed;
use crate::terminal::Terminal;
use crate::worker::Watch;

/// Arguments of `seqz replay`.
#[derive(Debug, Args)]
#[command(
    about = "Run the schedule of a finding again, on the program as it is now",
    long_about = "Run the schedule of a finding again, on the program as it is now.\n\n\
        FINDING.json is a file that `seqz check` or `seqz explore` has written. The program is built, if need be, and \
        run in just the order that led to the bug. Where the program does something else, because it has been edited \
        say, it and the schedule part ways: the place is shown, and nothing is run instead.\n\n\
        With --emit-test, a #[test] is written that calls seqz to run the schedule, and to search the harness again where \
        that does not fail any more, so that a fix can be shown to hold. The finding is copied beside it.",
    after_long_help = "Examples:\n  \
        seqz replay target/seqz/findings/queue-0123456789abcdef/1.json\n  \
        seqz replay --times 1000 1.json\n  \
        seqz replay --emit-test 1.json && cargo test --test seqz_push_and_pop\n\n\
        Exit codes:\n  \
        0  the schedule was run to its end, and nothing fails\n  \
        1  it fails\n  \
        2  the program and the schedule part ways, or the file is at fault\n  \
        3  seqz itself failed"
)]
pub struct ReplayArgs {
    /// The finding's file
    #[arg(value_name = "FINDING.json")]
    finding: PathBuf,
    /// How often to run it
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    times: u32,
    /// The program, if it is not any more where it was: a Rust file, a crate, or a workspace member
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
    #[command(flatten)]
    features: FeatureArgs,
    /// How long one run may go on before it is taken for hung, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    hang_after: Duration,
    #[command(flatten)]
    target: TargetArgs,
    /// Instead of running it, write a #[test] that does, and that is to be kept
    #[arg(long)]
    emit_test: bool,
    /// Where to write the test [default: tests/seqz_HARNESS.rs of the crate]
    #[arg(long, short, value_name = "FILE", requires = "emit_test")]
    output: Option<PathBuf>,
}

pub(super) fn run(args: &ReplayArgs, terminal: &Terminal) -> Result<Verdict, Error> {
    let finding = Finding::read(&args.finding)?;
    let recording = Recording::of(&finding, STACK_SIZE)?;
    let recorded = finding.program(&args.finding);
    let recorded = recorded.map_err(|source| Error::File {
        what: "find",
        path: args.finding.clone(),
        source,
    })?;
    let path = args.program.as_deref().unwrap_or(&recorded);
    if args.program.is_none() && !path.exists() {
        return Err(Error::Option {
            message: format!(
                "the program of the finding is not there any more: {}",
                shown(path)
            ),
            help: "name it with --program PATH".into(),
        });
    }
    // The schedule has the events of the dependencies that were followed.
    let follow = Follow::only(&finding.followed);
    // The program is built as it was when the failure was found, unless the command says otherwise.
    let features = match args.features.chosen() {
        features if features == Features::default() => finding.features(),
        features => features,
    };
    let mut program = Program::load_following(path, Mode::Scheduled, &features, &follow)?;
    let harnesses = program.harnesses();
    let names: Vec<_> = harnesses.iter().map(|h| h.name.as_str()).collect();
    let name = super::pick(&names, &finding.harness)?.to_owned();
    if args.emit_test {
        emit::run(&finding, &recording, &program, args.output.as_deref())?;
        return Ok(Verdict::Clean);
    }
    let harness = harnesses.iter().find(|harness| harness.name == name);
    let harness = harness.filter(|harness| harness.ignored);
    watch_for_interrupts()?;

    let progress = Progress::new(terminal);
    let request = Request {
        k: 0,
        chosen: harness.map_or(Choice::ALL, |harness| Choice::One(harness.name.clone())),
        role: Role::FIRST,
    };
    let build = |program: &Program| {
        let target = &args.target;
        target.build(program, &request, Copies::WhereClone, &progress)
    };
    let mut ready = build(&program);
    while let Err(Error::Unfit(unfit)) = &ready {
        program = program.without(path, unfit)?;
        ready = build(&program);
    }
    let ready = match ready {
        // The search that found the failure loaded the targets of the package one by one, too.
        Err(Error::Generated(trouble)) => {
            let mut parts = program.apart(path)?.into_iter();
            let has_it = |part: &Program| part.harnesses().iter().any(|it| it.name == name);
            program = parts.find(has_it).ok_or(Error::Generated(trouble))?;
            build(&program)?
        }
        ready => ready?,
    };
    let Some(ready) = ready else {
        return Ok(Verdict::Interrupted);
    };
    own_allocator(ready.built.allocator)?;
    progress.say(format!("{name}: replaying"));
    let subject = Subject {
        sources: program.sources(),
        generated: &ready.generated,
        built: &ready.built,
    };
    let watch = Watch {
        stop: &STOP,
        deadline: None,
        hang_after: args.hang_after.saturating_mul(args.times),
    };
    let ended = replay(&program, subject, &finding, &recording, args.times, watch)?;
    progress.finish();
    Output::stdout().write(|out| {
        replayed::write(
            out,
            &finding,
            &recording,
            &ended,
            args.times,
            terminal.width,
        )
    })?;
    Ok(match ended {
        Ended::Fails { .. } => Verdict::Bugs,
        Ended::Passes { .. } => Verdict::Clean,
        Ended::Parts { .. } => Verdict::Unsupported,
        Ended::Interrupted => Verdict::Interrupted,
    })
}
