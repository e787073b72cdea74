//! What `seqz check` and `seqz explore` have in common: which harnesses of which program, with which inputs, how long,
//! and where to build.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Args;

use super::packages::PackageArgs;
use super::pieces::PieceArgs;
use super::{Format, InputSpec, Verdict};
use crate::build::{self, Built, Copies, Step};
use crate::check::progress::Progress;
use crate::destination::{self, Force};
use crate::error::Error;
use crate::model::document::Role;
use crate::model::lone::Spurious;
use crate::program::{Choice, Generated, Harness, Program, Request};
use crate::report::human::Detail;

/// Set by Ctrl-C, to end the search.
pub(super) static STOP: AtomicBool = AtomicBool::new(false);

/// Arguments of both.
#[derive(Debug, Args)]
pub struct SearchArgs {
    #[command(flatten)]
    pub(super) packages: PackageArgs,
    /// Only this harness (its path, or the end of it); may be given several times [default: all]
    #[arg(long, value_name = "NAME")]
    pub(super) harness: Vec<String>,
    /// Values for a parameter of the harness: a range (`n=0..8`, `n=0..=7`) or a list (`s=ann,bob`)
    #[arg(long, value_name = "NAME=VALUES")]
    pub(super) input: Vec<InputSpec>,
    /// How many inputs to try at most; more than that are sampled
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) max_inputs: u32,
    /// Seed of whatever is drawn at random, to repeat a run [default: chosen, and printed; 0 with --partition]
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,
    /// Stop the search after so many seconds, which harnesses share; building doesn't count
    #[arg(long, value_name = "SECONDS", value_parser = super::seconds)]
    pub(super) time: Option<Duration>,
    /// How long one execution may go on without a sign of life before it is taken for hung, in seconds. Half of them it has to
    /// have worked for, or have slept for ever: where other programs leave it no time to, it is given up to ten times as long
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = super::seconds)]
    pub(super) hang_after: Duration,
    /// Exit with 4 where no bug was found and not everything was searched
    #[arg(long)]
    pub(super) require_exhausted: bool,
    /// Show what was searched, and how far, also of harnesses in which nothing was found and all is exhausted
    #[arg(long)]
    pub(super) verbose: bool,
    /// A panic of a thread that nobody joins is no failure
    #[arg(long)]
    pub(super) ignore_detached_panics: bool,
    /// How often in one execution something may happen without a reason, as std allows: a wait of a condition variable or of
    /// `park` ends, or a weak exchange fails. Only `explore` tries that [default: once, and not in loops]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=16))]
    pub(super) spurious: Option<u32>,
    /// How to print the answer
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub(super) format: Format,
    #[command(flatten)]
    pub(super) piece: PieceArgs,
    #[command(flatten)]
    pub(super) target: TargetArgs,
    /// Write the rewritten program to DIR as well, to look at it
    #[arg(long, value_name = "DIR")]
    pub(super) keep: Option<PathBuf>,
}

/// Where to build.
#[derive(Debug, Args)]
pub struct TargetArgs {
    /// Where to build [default: $SEQZ_TARGET_DIR, or target/seqz of the crate, or a cache directory for a lone file]
    #[arg(long, value_name = "DIR")]
    pub(super) target_dir: Option<PathBuf>,
}

impl SearchArgs {
    /// What is kept to be looked at is one program.
    pub(super) fn keeps_one<T>(&self, chosen: &[T]) -> Result<(), Error> {
        if self.keep.is_none() || chosen.len() < 2 {
            return Ok(());
        }
        Err(Error::Option {
            message: "--keep writes one program out, and there are several".into(),
            help: "choose one with --package".into(),
        })
    }

    /// A mistyped name must not leave a parameter to its defaults.
    pub(super) fn known_inputs<'h>(
        &self,
        harnesses: impl Iterator<Item = &'h Harness>,
    ) -> Result<(), Error> {
        let harnesses: Vec<_> = harnesses.collect();
        for (at, spec) in self.input.iter().enumerate() {
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
            if self.input[..at]
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

    /// Returns how much is printed of a harness without findings that is exhausted.
    pub(super) const fn detail(&self) -> Detail {
        if self.verbose {
            Detail::Table
        } else {
            Detail::Line
        }
    }

    /// Returns the inputs given, as pairs of a name and its values.
    pub(super) fn inputs(&self) -> Vec<(String, String)> {
        let specs = self.input.iter();
        specs
            .map(|spec| (spec.name.clone(), spec.values.clone()))
            .collect()
    }

    /// What tells this search of harnesses of these names from others: pieces of one search have the same.
    pub(super) fn told_apart(
        &self,
        harnesses: impl Iterator<Item = String>,
        seed: u64,
    ) -> Vec<(&'static str, String)> {
        let inputs = self.input.iter();
        let inputs = inputs.map(|spec| format!("{}={}", spec.name, spec.values));
        let harnesses: Vec<_> = harnesses.collect();
        vec![
            ("harnesses", harnesses.join(" ")),
            ("input", inputs.collect::<Vec<_>>().join(" ")),
            ("max-inputs", self.max_inputs.to_string()),
            ("seed", seed.to_string()),
            ("spurious", format!("{:?}", self.spurious)),
            (
                "ignore-detached-panics",
                self.ignore_detached_panics.to_string(),
            ),
        ]
    }

    /// Returns how often something may happen without a reason, and where.
    pub(super) fn reasonless(&self) -> Spurious {
        self.spurious
            .map_or(Spurious::DEFAULT, Spurious::everywhere)
    }

    /// Returns the seed given, or a new one; one that all pieces of a search have.
    pub(super) fn seed(&self) -> u64 {
        let of_pieces = self.piece.partition.map(|_| 0);
        self.seed.or(of_pieces).unwrap_or_else(random_seed)
    }

    /// Generates and builds the worker; what is kept to be looked at is for this k. `None`: the user broke that off.
    pub(super) fn build(
        &self,
        program: &Program,
        harnesses: &[&Harness],
        k: u32,
        copies: Copies,
        progress: &Progress,
    ) -> Result<Option<Ready>, Error> {
        let mut request = Request {
            k,
            chosen: chosen(harnesses),
            role: Role::FIRST,
        };
        if let Some(dir) = &self.keep {
            let generated = program.transform(&request)?;
            destination::write(dir, program, &generated, Force::Unchanged)?;
        }
        // A worker learns its k from the request, so one worker serves all commands.
        request.k = 0;
        self.target.build(program, &request, copies, progress)
    }
}

/// A program with its worker.
pub(super) struct Ready {
    pub(super) generated: Generated,
    pub(super) built: Built,
    pub(super) target_dir: PathBuf,
    /// How long that took, with waiting for other processes.
    pub(super) took: Duration,
}

impl TargetArgs {
    /// Generates and builds the worker. `None`: the user broke that off.
    pub(super) fn build(
        &self,
        program: &Program,
        request: &Request,
        copies: Copies,
        progress: &Progress,
    ) -> Result<Option<Ready>, Error> {
        progress.say("building");
        let began = Instant::now();
        let generated = program.transform(request)?;
        let given: Option<&Path> = self.target_dir.as_deref();
        let target_dir = build::target_dir(given, program)?;
        let told = |step: Step<'_>| {
            progress.say(match step {
                Step::WaitsFor(holder) => {
                    format!("waiting for {holder}, which builds in the same directory")
                }
                Step::Compiles(package) if package.starts_with("seqz-") => {
                    format!("building {package}, once for all programs that need the same of it")
                }
                Step::Compiles(package) => format!("building {package}"),
            });
        };
        let built = match build::build(program, &generated, &target_dir, copies, &STOP, &told) {
            // The Ctrl-C that ended cargo is meant for seqz, too.
            Err(_) if STOP.load(Ordering::Relaxed) => return Ok(None),
            built => built?,
        };
        Ok(Some(Ready {
            generated,
            built,
            target_dir,
            took: began.elapsed(),
        }))
    }
}

/// The time of a search of several programs: each program has a part in proportion to its harnesses, and time that it
/// leaves is for the next programs.
pub(super) struct Time {
    /// The time that is left; `None` where it is not limited.
    left: Option<Duration>,
    /// The number of harnesses that are still to be searched.
    harnesses: usize,
}

impl Time {
    pub(super) const fn of(all: Option<Duration>, harnesses: usize) -> Self {
        Self {
            left: all,
            harnesses,
        }
    }

    /// Returns the time at which a search of this number of harnesses has to end if it begins now.
    pub(super) fn deadline(&self, harnesses: usize) -> Option<Instant> {
        let part = harnesses.max(1) as f64 / self.harnesses.max(harnesses).max(1) as f64;
        Instant::now().checked_add(self.left?.mul_f64(part))
    }

    /// Takes in that the search of this number of harnesses, which began at `began`, is over.
    pub(super) fn spend(&mut self, began: Instant, harnesses: usize) {
        self.left = self.left.map(|left| left.saturating_sub(began.elapsed()));
        self.harnesses = self.harnesses.saturating_sub(harnesses);
    }

    /// Whether no time is left.
    pub(super) fn is_over(&self) -> bool {
        self.left.is_some_and(|left| left.is_zero())
    }
}

/// The harnesses that a program has to be made for: all of them serve all commands, but for those that are ignored.
pub(super) fn chosen(harnesses: &[&Harness]) -> Choice {
    match harnesses {
        [harness] if harness.ignored => Choice::One(harness.name.clone()),
        _ => {
            let ignored = harnesses.iter().filter(|harness| harness.ignored);
            Choice::AllWith(ignored.map(|harness| harness.name.clone()).collect())
        }
    }
}

/// Returns a short seed, as the user may have to type it again.
pub(super) fn random_seed() -> u64 {
    RandomState::new().hash_one(0) >> 40
}

/// Sets [`STOP`] on Ctrl-C and on a request of the system to end; ends the process on the second such signal.
pub(super) fn watch_for_interrupts() -> Result<(), Error> {
    let handler = || {
        if STOP.swap(true, Ordering::Relaxed) {
            // The second signal ends the process at once.
            process::exit(Verdict::Interrupted.code().into());
        }
    };
    ctrlc::set_handler(handler).map_err(|e| Error::Worker(format!("cannot watch for Ctrl-C: {e}")))
}
