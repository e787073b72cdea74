//! The command line.

mod check;
mod compare;
mod defaults;
mod doctor;
mod emit;
mod explore;
mod features;
mod fuzz;
mod init;
mod input;
mod list;
mod merge;
mod packages;
mod pieces;
mod replay;
mod report;
mod role;
mod search;
mod shell;
mod show;
mod test;
mod transform;

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;

use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};

pub use compare::CompareArgs;
pub use defaults::ConfigArgs;
pub use explore::{ExploreArgs, StrategyChoice};
pub use features::FeatureArgs;
pub use fuzz::{FuzzArgs, SanitizerChoice};
pub use input::InputSpec;
pub use packages::PackageArgs;
pub use pieces::PieceArgs;
pub use replay::ReplayArgs;
pub use report::ReportArgs;
pub use search::{SearchArgs, TargetArgs};
pub use test::TestArgs;

use crate::Error;
use crate::program::FollowArgs;
use crate::solvers::RemoteSolver;
use crate::solvers::Solver;
use crate::terminal::Terminal;

/// Finds concurrency bugs in ordinary Rust by bounded interference.
#[derive(Debug, Parser)]
#[command(
    name = "seqz",
    version,
    propagate_version = true,
    long_about = "Finds concurrency bugs in ordinary Rust by bounded interference.\n\n\
        seqz takes code written with plain std (an existing #[test] that spawns threads, say), and turns its two threads \
        into one sequential program, P̂ₖ, whose extra inputs choose which k reads of the thread under test see a value \
        that the other thread wrote. Running that program over all such choices finds the bug, and the k reads explain it. \
        It also runs the program as it is, with any number of threads, under a scheduler that explores or replays \
        schedules.",
    after_help = EXIT_CODES,
    after_long_help = concat!(
        "Examples:\n",
        "  seqz list                        what there is to check in this crate\n",
        "  seqz test                        test all of it, each harness with what can show most of it\n",
        "  seqz check                       check all of it, with up to 3 non-local reads\n",
        "  seqz check src/queue.rs --harness push_and_pop\n",
        "  seqz explore                     run all of it in every order, with any number of threads\n",
        "  seqz fuzz                        fuzz inputs and interference together\n",
        "  seqz compare                     run all methods on all of it, and compare them\n",
        "  seqz replay target/seqz/findings/queue-0123456789abcdef/1.json\n",
        "  seqz report target/seqz/findings/queue-0123456789abcdef/1.json -o report.html\n",
        "  seqz transform --k 2 src/queue.rs -o queue-p-hat\n\n",
        "Exit codes:\n",
        "  0  no bug was found      1  a bug was found\n",
        "  2  the program or the command line is at fault      3  seqz itself failed\n",
        "  4  no bug was found, but not everything was searched, and --require-exhausted asks for that\n",
        "  130  cut short by Ctrl-C before a bug was found",
    )
)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "`seqz help COMMAND` tells more, with examples.";

#[derive(Debug, Subcommand)]
enum Command {
    List(ListArgs),
    Test(TestArgs),
    Transform(TransformArgs),
    Check(CheckArgs),
    Explore(ExploreArgs),
    Fuzz(FuzzArgs),
    Merge(merge::MergeArgs),
    Compare(CompareArgs),
    Replay(ReplayArgs),
    Show(show::ShowArgs),
    Report(ReportArgs),
    Doctor(DoctorArgs),
    Init(init::InitArgs),
    Completions(shell::CompletionsArgs),
    Man(shell::ManArgs),
}

/// Arguments of `seqz doctor`.
#[derive(Debug, Args)]
#[command(
    about = "Show what seqz has to work with, and what stands in the way of a promise",
    long_about = "Show what seqz has to work with, and what stands in the way of a promise.\n\n\
        The tools that it finds (cargo, rustc, Z3, cargo-fuzz), what it keeps on this machine; and of a program, how many \
        harnesses can be searched to the end, which code and which dependencies are not followed, and why. `seqz list` has \
        the same harness by harness.",
    after_long_help = "Examples:\n  seqz doctor\n  seqz doctor crates/queue\n  seqz doctor --workspace"
)]
pub struct DoctorArgs {
    #[command(flatten)]
    packages: PackageArgs,
    #[command(flatten)]
    follow: FollowArgs,
}

/// Arguments of `seqz list`.
#[derive(Debug, Args)]
#[command(
    about = "Show the harnesses of a program: the tests and functions that seqz can check",
    long_about = "Show the harnesses of a program: the tests and functions that seqz can check.\n\n\
        A harness is a #[test], a public function or main, in which threads are started. Its parameters are the \
        program's inputs. For each one: its kind and place, its inputs, where its threads are started, and, where seqz \
        can't check it, the reason.",
    after_long_help = "Examples:\n  seqz list\n  seqz list src/queue.rs\n  seqz list --format json crates/queue\n  seqz list --workspace"
)]
pub struct ListArgs {
    #[command(flatten)]
    packages: PackageArgs,
    #[command(flatten)]
    follow: FollowArgs,
    /// How to print the answer
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

/// Arguments of `seqz transform`.
#[derive(Debug, Args)]
#[command(
    about = "Write out the sequential program P̂ₖ of a harness as a crate",
    long_about = "Write out the sequential program P̂ₖ of a harness as a crate.\n\n\
        The crate builds offline with `cargo build` and holds all that it needs, the runtime's source too. Its library \
        has `p_hat(inputs, rds, wrts)` and `p_hat_from_bytes(bytes)` for any sequential tester; its binary runs one \
        choice that is given on the command line.",
    after_long_help = "Examples:\n  \
        seqz transform --k 2 src/lib.rs -o out\n  \
        seqz transform --k 1 --harness tests::push_and_pop --thread-under-test second .\n  \
        (cd out && cargo run -- --help)"
)]
pub struct TransformArgs {
    /// A Rust file, a crate, a workspace, or a member of one
    #[arg(default_value = ".")]
    path: PathBuf,
    /// The package of the workspace, where there are several
    #[arg(long, short, value_name = "NAME")]
    package: Option<String>,
    #[command(flatten)]
    features: FeatureArgs,
    /// How many reads of the thread under test are non-local
    #[arg(long, short, value_name = "K", value_parser = clap::value_parser!(u32).range(0..=64))]
    k: u32,
    /// Where to write the crate [default: NAME-p-hat in this directory]
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Only this harness (its path, or the end of it) [default: all]
    #[arg(long, value_name = "NAME")]
    harness: Option<String>,
    /// Which thread is under test: `first` or `second`, `main`, or a thread's name [default: first]
    #[arg(long, value_name = "WHICH")]
    thread_under_test: Option<String>,
    /// Write over what seqz has written to DIR before, changed or not; nothing else is ever written over
    #[arg(long)]
    force: bool,
}

/// Arguments of `seqz check`.
#[derive(Debug, Args)]
#[command(
    about = "Search for bugs, for k = 0, 1, 2, … non-local reads",
    long_about = "Search for bugs, for k = 0, 1, 2, … non-local reads.\n\n\
        Every harness is rewritten into the sequential program P̂ₖ and built once. Then all choices are tried, of which \
        k reads of the thread under test see which writes of the interfering thread, first for k = 0 and up to --k-max, \
        with each of the two threads under test in turn, and for all inputs. What is searched to the end is said to be \
        exhausted; what is not, why not. What is found is \
        replayed on the original program before it is reported.\n\n\
        No k covers a bug in which both threads see what the other one wrote. Where no bug is found, and soon, `explore` is \
        run as well, for the rest of --time, or of five seconds.\n\n\
        The memory model is sequential consistency: `Ordering` arguments are not looked at.",
    after_long_help = "Examples:\n  \
        seqz check                                  every harness of the crate in this directory\n  \
        seqz check src/queue.rs --harness push_and_pop --k-max 2\n  \
        seqz check --input 'amount=0..=10' --input 'name=ann,bob'\n  \
        seqz check --thread-under-test second --format json > report.json\n  \
        seqz check --time 60 --max-executions 1000000\n  \
        seqz check --workspace --exclude tools      all packages of the workspace but one\n\n\
        Ctrl-C ends the search; what has been found by then is reported. Findings are also written to \
        DIR/findings as they come, where DIR is the target directory."
)]
pub struct CheckArgs {
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    follow: FollowArgs,
    /// The largest number of non-local reads to try
    #[arg(long, value_name = "K", default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=64))]
    k_max: u32,
    /// Which thread is under test: `first`, `second`, …, `main`, or a thread's name [default: each in turn]
    #[arg(long, value_name = "WHICH")]
    thread_under_test: Option<String>,
    /// Which engine decides whether a log has a feasible interleaving
    #[arg(long, value_enum, default_value = Solver::GRID.name)]
    solver: Solver<dyn RemoteSolver>,
    /// How many shared accesses a thread may make in one execution before it is cut [default: as many as the program needs,
    /// up to 1,000,000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_steps: Option<u32>,
    /// How many executions to make at most, per harness and thread under test
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_executions: Option<u64>,
    /// Don't run `explore` where no bug was found
    #[arg(long)]
    no_explore: bool,
}

/// How an answer is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Human,
    /// One JSON document, see docs/json.md
    Json,
}

/// Reads a time in seconds.
fn seconds(text: &str) -> Result<std::time::Duration, String> {
    let seconds: f64 = text
        .parse()
        .map_err(|_| format!("`{text}` is not a number of seconds"))?;
    if seconds <= 0.0 {
        return Err("must be more than 0".into());
    }
    std::time::Duration::try_from_secs_f64(seconds).map_err(|e| e.to_string())
}

/// The result of a command that ended without an error of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// There is nothing to complain about.
    Clean,
    /// At least one bug was found.
    Bugs,
    /// Some part of what was asked for could not be checked, and no bug was found in the rest.
    Unsupported,
    /// The search of some harness broke off, and no bug was found in the rest; or something that was found could not be
    /// confirmed, which puts all of it in doubt.
    Failed,
    /// No bug was found, and a search to the end was asked for but not reached.
    Open,
    /// The user broke the search off before a bug was found.
    Interrupted,
}

impl Verdict {
    /// Returns this verdict, or [`Self::Open`] in the place of [`Self::Clean`] where a search to the end was asked for
    /// and not reached.
    const fn demanding(self, exhausted: bool) -> Self {
        match self {
            Self::Clean if !exhausted => Self::Open,
            verdict => verdict,
        }
    }

    /// Returns the exit code of the process.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Bugs => 1,
            Self::Unsupported => 2,
            Self::Failed => 3,
            Self::Open => 4,
            Self::Interrupted => 130,
        }
    }
}

/// The stack of the main thread, in bytes: sources are parsed and walked as deep as they are nested. Only the part that
/// is used costs memory.
const STACK: usize = 256 << 20;

/// The whole process: what this executable is started for, which may also be a part of a build.
#[must_use]
pub fn process() -> ExitCode {
    if let Some(code) = crate::compiled::serve() {
        return ExitCode::from(code);
    }
    let main = thread::Builder::new().stack_size(STACK).spawn(main);
    let code = match main.map(thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        Ok(Err(panic)) => std::panic::resume_unwind(panic),
        // There is no address space for this stack: a source that is not nested deeply needs little.
        Err(_) => self::main(),
    };
    ExitCode::from(code)
}

/// The arguments without the name that cargo puts before them: `cargo seqz test` runs `cargo-seqz seqz test`.
fn arguments(all: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut all: Vec<_> = all.collect();
    let program = all.first().map(Path::new).and_then(Path::file_stem);
    let is_of_cargo = program.is_some_and(|it| it == "cargo-seqz");
    if is_of_cargo && all.get(1).is_some_and(|it| it == "seqz") {
        all.remove(1);
    }
    all
}

/// Parses the command line, runs the command, prints what it has to say, and gives the exit code.
#[must_use]
pub fn main() -> u8 {
    let terminal = Terminal::detect();
    let line = arguments(std::env::args_os());
    let (line, with) = match defaults::with_defaults(&Cli::command(), line) {
        Ok(with) => with,
        Err(error) => {
            error.report(&terminal);
            return error.code();
        }
    };
    let cli = Cli::parse_from(line);
    if let Some(with) = with {
        // Without standard error there is no one to tell.
        let _ = writeln!(anstream::stderr(), "{with}");
    }
    let result = match &cli.command {
        Command::List(args) => list::run(args, &terminal),
        Command::Test(args) => test::run(args, &terminal),
        Command::Transform(args) => transform::run(args),
        Command::Check(args) => check::run(args, &terminal),
        Command::Fuzz(args) => fuzz::run(args, &terminal),
        Command::Explore(args) => explore::run(args, &terminal),
        Command::Merge(args) => merge::run(args, &terminal),
        Command::Compare(args) => compare::run(args, &terminal),
        Command::Replay(args) => replay::run(args, &terminal),
        Command::Show(args) => show::run(args, &terminal),
        Command::Report(args) => report::run(args),
        Command::Doctor(args) => doctor::run(args, &terminal),
        Command::Init(args) => init::run(args),
        Command::Completions(args) => shell::completions(args),
        Command::Man(args) => shell::man(args),
    };
    match result {
        Ok(verdict) => verdict.code(),
        Err(error) => {
            error.report(&terminal);
            error.code()
        }
    }
}

/// Picks the one name that `wanted` means: the name itself, or else the only one that ends in `::wanted`.
fn pick<'a>(names: &[&'a str], wanted: &str) -> Result<&'a str, Error> {
    if let Some(name) = names.iter().find(|name| **name == wanted) {
        return Ok(name);
    }
    let tail = format!("::{wanted}");
    let ends: Vec<_> = names.iter().filter(|name| name.ends_with(&tail)).collect();
    match ends.as_slice() {
        [one] => Ok(one),
        [] => Err(Error::NoSuchHarness {
            wanted: wanted.to_owned(),
            known: names.iter().map(ToString::to_string).collect(),
        }),
        several => Err(Error::AmbiguousHarness {
            wanted: wanted.to_owned(),
            candidates: several.iter().map(ToString::to_string).collect(),
        }),
    }
}
