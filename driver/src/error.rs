//! The errors of a command, and whose fault each one is.

use std::io;
use std::io::Write as _;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::diagnostic::{Diagnostic, shown};
use crate::terminal::Terminal;

/// The reason why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The program is at fault, at places that compilers point to.
    #[error("{}", .0.first().map_or("the program is at fault", |d| d.message.as_str()))]
    Program(Vec<Diagnostic>),
    /// There is no harness to check.
    #[error("no harness in {}", shown(.path))]
    NoHarness {
        /// The path in which a harness was looked for.
        path: PathBuf,
    },
    /// `--harness` names no harness of the program.
    #[error("there is no harness `{wanted}`")]
    NoSuchHarness {
        /// The name given.
        wanted: String,
        /// The names of the program's harnesses.
        known: Vec<String>,
    },
    /// `--harness` may mean several harnesses.
    #[error("`{wanted}` may mean more than one harness")]
    AmbiguousHarness {
        /// The name given.
        wanted: String,
        /// The harnesses that the name may mean.
        candidates: Vec<String>,
    },
    /// `--features` names no feature of the package.
    #[error("the package has no feature `{name}`")]
    NoSuchFeature {
        /// The name given.
        name: String,
        /// The features of the package.
        known: Vec<String>,
    },
    /// `--follow` or `--not-followed` names nothing that the program depends on.
    #[error("the program does not depend on a package `{wanted}`")]
    NoSuchDependency {
        /// The name given.
        wanted: String,
        /// The names of all packages that the program is linked to.
        known: Vec<String>,
    },
    /// An option's value doesn't go with the program.
    #[error("{message}")]
    Option {
        /// What is wrong.
        message: String,
        /// What to do instead.
        help: String,
    },
    /// A file of the user's can't be read or written.
    #[error("cannot {what} {}: {source}", shown(.path))]
    File {
        /// The operation that failed: "read", "write", …
        what: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The error of the file system.
        source: io::Error,
    },
    /// Standard output can't be written.
    #[error("cannot write to standard output: {0}")]
    Output(io::Error),
    /// `cargo` or `rustc` can't be run, or ends in a way that has nothing to do with the program.
    #[error("{message}")]
    Build {
        /// What happened.
        message: String,
        /// The output of the tool, as the tool printed it.
        output: String,
    },
    /// The worker, a program that seqz built, did something that it must not do.
    #[error("{0}")]
    Worker(String),
    /// Dependencies can't be followed as they were: the program has to be loaded again without their copies.
    #[error("the program has to be built without following all of its dependencies")]
    Unfit(Vec<Unfit>),
    /// The transformed program doesn't compile although the original does.
    #[error("the transformed program does not compile, although the original does")]
    Generated(Vec<Diagnostic>),
}

/// A copy of a dependency that can't be built, or can't be built with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unfit {
    /// The copy's directory.
    pub directory: String,
    /// The reason.
    pub why: String,
    /// The place in the dependency: file, line, and the text there.
    pub site: Option<(String, u32, String)>,
    /// The crate that does not compile with the copy, where it is another dependency, which has no copy.
    pub user: Option<String>,
}

impl Error {
    /// Returns the error of a command that the user has broken off and that can't report a part. This error is never
    /// printed.
    pub(crate) fn broken_off() -> Self {
        Self::Worker("interrupted".into())
    }

    /// Returns the error of an `--input` that does not fit.
    pub(crate) fn bad_input(parameter: &str, message: &str) -> Self {
        Self::Option {
            message: format!("--input {parameter}: {message}"),
            help:
                "give a range (`n=0..8`, `n=0..=7`) or a list (`s=ann,bob`) of the parameter's type"
                    .into(),
        }
    }

    /// Returns the error of a request that a worker refuses, for this reason.
    pub(crate) fn refused(why: &str) -> Self {
        Self::Worker(format!("the worker refuses: {why}"))
    }

    /// Returns the exit code: 2 where the program or the command line is at fault, 3 where seqz or the machine is.
    #[must_use]
    pub const fn code(&self) -> u8 {
        match self {
            Self::Program(_)
            | Self::NoHarness { .. }
            | Self::NoSuchHarness { .. }
            | Self::AmbiguousHarness { .. }
            | Self::NoSuchFeature { .. }
            | Self::NoSuchDependency { .. }
            | Self::Option { .. }
            | Self::File { .. } => 2,
            Self::Output(_)
            | Self::Build { .. }
            | Self::Worker(_)
            | Self::Unfit(_)
            | Self::Generated(_) => 3,
        }
    }

    /// Returns the messages to print, the main message first.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let plain = Diagnostic::error(self.to_string());
        match self {
            Self::Program(diagnostics) if !diagnostics.is_empty() => diagnostics.clone(),
            Self::NoHarness { .. } => vec![
                plain
                    .note("a harness is a #[test], a `pub fn` or `main` that starts threads with `std::thread`, itself or through functions of the crate, or, for `explore`, of a dependency")
                    .help("give a file or a crate with a `#[test]` that spawns threads"),
            ],
            Self::NoSuchHarness { known, .. } if known.is_empty() => {
                vec![plain.note("the program has none")]
            }
            Self::NoSuchHarness { wanted, known } => {
                vec![plain.help(instead_of(wanted, known, "seqz list"))]
            }
            Self::AmbiguousHarness { candidates, .. } => {
                vec![plain.help(format!("give more of its path: {}", candidates.join(", ")))]
            }
            Self::NoSuchFeature { known, .. } if known.is_empty() => {
                vec![plain.note("it has none")]
            }
            Self::NoSuchFeature { known, .. } => {
                vec![plain.help(format!("there are: {}", known.join(", ")))]
            }
            Self::NoSuchDependency { known, .. } if known.is_empty() => {
                vec![plain.note("it depends on none")]
            }
            Self::NoSuchDependency { wanted, known } => {
                vec![plain.help(instead_of(wanted, known, "cargo tree"))]
            }
            Self::Option { help, .. } => vec![plain.help(help)],
            Self::Build { output, .. } if !output.trim().is_empty() => vec![plain.note(output.trim())],
            Self::Generated(diagnostics) => {
                let mut all = vec![
                    plain
                        .note("this is a fault of seqz, not of the program: its rewriting went wrong at the places below")
                        .help("`seqz transform -o DIR` and `--keep DIR` of check and explore write the rewritten program out"),
                ];
                all.extend(diagnostics.iter().cloned());
                all
            }
            _ => vec![plain],
        }
    }

    /// Prints the messages to standard error.
    pub fn report(&self, terminal: &Terminal) {
        let mut out = anstream::stderr();
        for diagnostic in self.diagnostics() {
            // Without standard error there is no place to report the failure.
            let _ = writeln!(out, "{}\n", diagnostic.render(terminal.width));
        }
    }
}

/// So many names are all told where none of them fits.
const FEW: usize = 8;

/// Says which names there are instead of the wanted one, and what shows them where they are many.
fn instead_of(wanted: &str, known: &[String], shows: &str) -> String {
    let near = near(wanted, known);
    if known.len() <= FEW {
        format!("there are: {}", known.join(", "))
    } else if near.is_empty() {
        format!("`{shows}` shows all {}", known.len())
    } else if near.len() > FEW {
        let (few, more) = (&near[..FEW], near.len() - FEW);
        format!(
            "similar names are: {}, and {more} more; `{shows}` shows all {}",
            few.join(", "),
            known.len()
        )
    } else {
        format!(
            "similar names are: {}; `{shows}` shows all {}",
            near.join(", "),
            known.len()
        )
    }
}

/// Returns the names that have the wanted one, or a word of it, in them.
fn near<'n>(wanted: &str, known: &'n [String]) -> Vec<&'n str> {
    let wanted = wanted.to_lowercase();
    let words: Vec<&str> = wanted
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.len() > 2)
        .collect();
    let all = known.iter().map(String::as_str);
    let whole: Vec<_> = all
        .clone()
        .filter(|name| name.to_lowercase().contains(&wanted))
        .collect();
    if !whole.is_empty() {
        return whole;
    }
    let shares = |name: &&str| {
        let name = name.to_lowercase();
        words.iter().any(|word| name.contains(word))
    };
    all.filter(shares).take(FEW).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_like_the_wanted_one_are_told_first() {
        let known = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let names = known(&["a::rate_limit", "a::limits_hold", "b::queue_is_empty"]);
        assert_eq!(near("limit", &names), ["a::rate_limit", "a::limits_hold"]);
        assert_eq!(near("the_queue", &names), ["b::queue_is_empty"]);
        assert_eq!(near("zork", &names), [""; 0]);
    }
}
