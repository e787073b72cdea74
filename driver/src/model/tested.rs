//! The document of a test run: what `seqz test` has shown of each harness, with the methods that it chose.

use seqz_explore::catalogue;
use serde::{Deserialize, Serialize};

use super::document::{Cut, Kind, Site};
use crate::layout::{counted, grouped};

/// The document that `seqz test` prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestRun {
    /// [`SCHEMA`](super::document::SCHEMA).
    pub schema: u32,
    /// The version of seqz that made the document.
    pub seqz: String,
    /// The program, as given on the command line.
    pub path: String,
    /// The seed of whatever was drawn at random.
    pub seed: u64,
    /// The reason why the run ended before all harnesses were tested; `None`: all were.
    pub cut: Option<Cut>,
    /// Every harness that was asked for, in the order of the source.
    pub harnesses: Vec<Tested>,
    /// Programs that could not be loaded or built: nothing of them was tested.
    #[serde(default)]
    pub lost: Vec<Lost>,
    /// Wall-clock time, building included, in seconds.
    pub seconds: f64,
    /// The part of it until workers were built, with waiting for other processes that build, in seconds.
    pub building: f64,
}

/// A program that could not be loaded or built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    /// The name of its package.
    pub program: String,
    /// The reason, in words.
    pub reason: String,
}

/// What was shown of one harness.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tested {
    /// The harness's path in the crate.
    pub name: String,
    /// The name of the package.
    #[serde(default)]
    pub package: String,
    /// The place of the harness.
    pub site: Site,
    /// The strongest statement that holds of the harness.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Whether the outcome is that of an earlier run of the same program by the same seqz.
    pub cached: bool,
    /// A file that executions read or look for, the first one: what is shown holds for its content.
    pub reads: Option<String>,
    /// The failures that were found.
    pub found: Vec<Found>,
    /// The methods that were run, in this order.
    pub tried: Vec<Tried>,
    /// Wall-clock time of the searches, in seconds.
    pub seconds: f64,
}

/// The strongest statement that holds of a harness.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// An execution fails, and the original program has shown that.
    Bug,
    /// Every schedule was run, up to the order of independent events, with all inputs, and none failed.
    Proved {
        /// Executions of the exploration.
        executions: u64,
    },
    /// All choices of up to k non-local reads were tried, and none failed.
    NoBug {
        /// The largest such number k.
        k: u32,
        /// Schedules that were drawn at random beside that.
        schedules: u64,
    },
    /// Schedules were drawn at random, and none failed.
    Sampled {
        /// The number of such schedules.
        schedules: u64,
    },
    /// Executions were run, none failed, and nothing can be said of the others.
    Open {
        /// Executions of all methods.
        executions: u64,
    },
    /// What was found does not count, as its cause may be what is not followed.
    Doubtful,
    /// The harness can't be searched.
    Unsupported {
        /// The reason, in words.
        reason: String,
    },
    /// seqz failed.
    Failed {
        /// The reason, in words.
        reason: String,
    },
    /// The run was over before the harness's turn came.
    NotReached,
}

/// A method that was run on a harness.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// `check`, or the name of a strategy.
    pub method: String,
    /// Executions.
    pub executions: u64,
    /// What the method has shown, in a sentence.
    pub verdict: String,
    /// Wall-clock time, in seconds.
    pub seconds: f64,
}

/// A failure, as far as a list of failures tells it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// `check`, or the name of the strategy that has found it.
    pub method: String,
    /// The kind of the failure.
    pub kind: Kind,
    /// What the program said, or else what is wrong.
    pub message: String,
    /// The place at which the failure shows.
    pub site: Option<Site>,
    /// The smallest number k of non-local reads with which `check` has found the failure.
    pub k: Option<u32>,
    /// The path of the file that has the failure as a finding.
    pub finding: Option<String>,
}

impl Outcome {
    /// Returns the word for the outcome that a list of outcomes begins with, in capital letters.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Bug => "BUG",
            Self::Proved { .. } => "PROVED",
            Self::NoBug { .. } => "NO BUG",
            Self::Sampled { .. } => "SAMPLED",
            Self::Open { .. } => "OPEN",
            Self::Doubtful => "DOUBTFUL",
            Self::Unsupported { .. } => "REFUSED",
            Self::Failed { .. } => "FAILED",
            Self::NotReached => "NOT RUN",
        }
    }

    /// Whether the outcome is a search that has found nothing.
    #[must_use]
    pub const fn is_clean(&self) -> bool {
        matches!(
            self,
            Self::Proved { .. } | Self::NoBug { .. } | Self::Sampled { .. } | Self::Open { .. }
        )
    }
}

impl Tested {
    /// Says in words what was shown. For outcomes that are no proof, the last method's verdict tells why there is none.
    #[must_use]
    pub fn shown(&self) -> String {
        let shown = match &self.outcome {
            Outcome::Bug | Outcome::Doubtful => match self.found.as_slice() {
                [] => String::new(),
                [first, more @ ..] => {
                    let more = match more.len() {
                        0 => String::new(),
                        n => format!(" and {n} more"),
                    };
                    format!("{}{more}", first.shown())
                }
            },
            Outcome::Proved { executions } => format!(
                "every schedule, in {}",
                counted(*executions, "execution", "executions")
            ),
            Outcome::NoBug { k, schedules: 0 } => format!("up to k = {k}"),
            Outcome::NoBug { k, schedules } => format!(
                "up to k = {k}, nor in {}",
                counted(*schedules, "random schedule", "random schedules")
            ),
            Outcome::Sampled { schedules } => {
                counted(*schedules, "random schedule", "random schedules")
            }
            Outcome::Open { executions } => {
                let why = self.tried.last().map_or("", |tried| tried.verdict.as_str());
                format!("{}; {why}", counted(*executions, "execution", "executions"))
            }
            Outcome::Unsupported { reason } | Outcome::Failed { reason } => {
                reason.lines().next().unwrap_or_default().to_owned()
            }
            Outcome::NotReached => String::new(),
        };
        if self.cached {
            format!("{shown}, cached")
        } else {
            shown
        }
    }

    /// Says why what was found does not count.
    #[must_use]
    pub fn doubt(&self) -> String {
        format!(
            "{}; the cause may be what seqz does not follow",
            self.shown()
        )
    }

    /// Says why there is no proof where none was made: what the last method that could have proved something says.
    #[must_use]
    pub fn unproved(&self) -> Option<&str> {
        if !self.outcome.is_clean() || matches!(self.outcome, Outcome::Proved { .. }) {
            return None;
        }
        let mut provers = self.tried.iter().rev();
        let draws = |it: &Tried| {
            let strategy = catalogue::named(&it.method);
            strategy.is_some_and(|it| it.has(catalogue::Trait::Samples))
        };
        let last = provers.find(|it| !draws(it))?;
        Some(&last.verdict)
    }
}

impl Found {
    /// Says what failed, and where, in whole: with what the program said, and the command that shows it again.
    #[must_use]
    pub fn told(&self) -> String {
        let replay = self.finding.as_ref();
        let replay = replay.map_or_else(String::new, |file| format!("\nseqz replay {file}"));
        format!("{}\n{}{replay}", self.shown(), self.message)
    }

    /// Says in a few words what failed, and where.
    #[must_use]
    pub fn shown(&self) -> String {
        let (heading, _) = super::words::heading(self.kind, &self.message);
        let at = self.site.as_ref();
        let at = at.map_or_else(String::new, |site| {
            format!(" at {}:{}", site.file, site.line)
        });
        let k = self.k.map_or_else(String::new, |k| format!(", k = {k}"));
        format!("{heading}{at}{k}")
    }
}

impl TestRun {
    /// Returns how many harnesses have an outcome like that.
    #[must_use]
    pub fn count(&self, is: impl Fn(&Outcome) -> bool) -> u64 {
        let harnesses = self.harnesses.iter();
        harnesses.filter(|it| is(&it.outcome)).count() as u64
    }

    /// Says how many harnesses have which outcome: `5 harnesses: 2 proved, 1 bug, …`.
    #[must_use]
    pub fn tally(&self) -> String {
        let all = self.harnesses.len() as u64;
        let proved = self.harnesses.iter();
        let cached = proved.filter(|it| it.cached).count() as u64;
        let mut parts = Vec::new();
        let mut say = |n: u64, words: &str| {
            if n > 0 {
                parts.push(format!("{} {words}", grouped(n)));
            }
        };
        let bugs = self.count(|it| *it == Outcome::Bug);
        say(bugs, if bugs == 1 { "with a bug" } else { "with bugs" });
        let proofs = self.count(|it| matches!(it, Outcome::Proved { .. }));
        if cached > 0 {
            say(proofs, &format!("proved ({} cached)", grouped(cached)));
        } else {
            say(proofs, "proved");
        }
        say(
            self.count(|it| matches!(it, Outcome::NoBug { .. })),
            "without a bug up to a bound",
        );
        say(
            self.count(|it| matches!(it, Outcome::Sampled { .. })),
            "sampled",
        );
        say(self.count(|it| matches!(it, Outcome::Open { .. })), "open");
        say(self.count(|it| *it == Outcome::Doubtful), "doubtful");
        say(
            self.count(|it| matches!(it, Outcome::Unsupported { .. })),
            "refused",
        );
        say(
            self.count(|it| matches!(it, Outcome::Failed { .. })),
            "failed",
        );
        say(self.count(|it| *it == Outcome::NotReached), "not run");
        format!(
            "{}: {}",
            counted(all, "harness", "harnesses"),
            parts.join(", ")
        )
    }

    /// Says what the outcomes that are there mean, a sentence each.
    #[must_use]
    pub fn meanings(&self) -> Vec<&'static str> {
        type Is = fn(&Outcome) -> bool;
        let sentences: [(Is, &str); 5] = [
            (
                |it| matches!(it, Outcome::Proved { .. }),
                "proved: every schedule was run, up to the order of independent events, with all inputs; under sequential \
                 consistency, as `Ordering` arguments are not looked at",
            ),
            (
                |it| matches!(it, Outcome::NoBug { .. }),
                "no bug up to k: one thread runs whole, and all choices were tried of which k reads of another one see which of \
                 its writes; a bug that needs more of them, or in which more than one thread sees what another one wrote, may be \
                 there",
            ),
            (
                |it| matches!(it, Outcome::Sampled { .. }),
                "sampled: schedules were drawn at random; what was not drawn may fail",
            ),
            (
                |it| matches!(it, Outcome::Open { .. }),
                "open: executions were run and none failed, and nothing is known of the others",
            ),
            (
                |it| *it == Outcome::Doubtful,
                "doubtful: something failed, and the cause may be what seqz does not follow",
            ),
        ];
        let there = sentences.into_iter().filter(|(is, _)| self.count(is) > 0);
        there.map(|(_, sentence)| sentence).collect()
    }
}
