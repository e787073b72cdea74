//! The errors in the input.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::source::Place;

/// Why a program can't be loaded or transformed.
///
/// Every variant that is about a line of source has a [`Place`]; `Display` gives one line without it.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system can't read a file or directory.
    #[error("cannot read {}: {cause}", path.display())]
    Read {
        /// The path of the file or directory.
        path: PathBuf,
        /// The system's error.
        cause: Arc<std::io::Error>,
    },
    /// A path leads neither to a Rust file nor to a crate.
    #[error("{} is neither a Rust source file nor a crate", path.display())]
    NotACrate {
        /// The path as given.
        path: PathBuf,
        /// The reason why it is neither.
        reason: String,
    },
    /// A source file isn't UTF-8.
    #[error("{} is not UTF-8: byte {offset} starts no character", path.display())]
    NotUtf8 {
        /// The path of the file.
        path: PathBuf,
        /// The offset of the first wrong byte.
        offset: usize,
    },
    /// The program has no code.
    #[error("{} has no items", path.display())]
    Empty {
        /// The path of the crate's root file.
        path: PathBuf,
    },
    /// `Cargo.toml` can't be understood.
    #[error("{}: {message}", path.display())]
    Manifest {
        /// The path of the manifest.
        path: PathBuf,
        /// What is wrong in the manifest.
        message: String,
    },
    /// The package has no such feature.
    #[error("the package has no feature `{name}`")]
    NoSuchFeature {
        /// The name asked for.
        name: String,
        /// The features that there are.
        known: Vec<String>,
    },
    /// The source has a syntax error, which rustc wouldn't accept either.
    #[error("syntax error: {message}")]
    Syntax {
        /// The place of the error.
        place: Box<Place>,
        /// The parser's message.
        message: String,
    },
    /// There is no file for a `mod name;`.
    #[error("no file for module `{name}`")]
    MissingModule {
        /// The place of the name in the module's declaration.
        place: Box<Place>,
        /// The module's name.
        name: String,
        /// The files that were looked for.
        tried: Vec<PathBuf>,
    },
    /// The program has code that seqz can't run faithfully.
    #[error("{what} is not supported: {reason}")]
    Unsupported {
        /// The place of the code.
        place: Box<Place>,
        /// The item or construct, as in "`Condvar`".
        what: String,
        /// The reason why it is not supported.
        reason: String,
        /// Advice: what to do instead.
        help: String,
    },
    /// No entry point that seqz could call starts a thread.
    #[error("no harness in {}", path.display())]
    NoHarness {
        /// The path of the crate's root file.
        path: PathBuf,
        /// The functions that count as harnesses, and the functions that come closest.
        looked_for: String,
    },
    /// `--harness` names none of the harnesses.
    #[error("no harness is called `{name}`")]
    UnknownHarness {
        /// The name asked for.
        name: String,
        /// Similar names, the likeliest first.
        suggestions: Vec<String>,
        /// The names of all harnesses.
        known: Vec<String>,
    },
    /// Several errors of the variants above.
    #[error("{} errors, the first: {}", .0.len(), .0[0])]
    Several(Vec<Error>),
}

impl Error {
    pub(crate) fn read(path: &Path, cause: std::io::Error) -> Self {
        Error::Read {
            path: path.to_path_buf(),
            cause: Arc::new(cause),
        }
    }

    pub(crate) fn unsupported(
        place: Place,
        what: impl Into<String>,
        reason: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Error::Unsupported {
            place: Box::new(place),
            what: what.into(),
            reason: reason.into(),
            help: help.into(),
        }
    }

    /// Makes one error of a list, in the order of places; `None` for an empty list.
    pub(crate) fn from_list(mut list: Vec<Error>) -> Option<Self> {
        let mut seen = std::collections::HashSet::new();
        list.retain(|error| {
            seen.insert((
                error.to_string(),
                error
                    .place()
                    .map(|place| (place.file.clone(), place.bytes.clone())),
            ))
        });
        match list.len() {
            0 => None,
            1 => list.pop(),
            _ => Some(Error::Several(list)),
        }
    }

    /// Returns the single errors that this error consists of.
    pub fn each(&self) -> &[Error] {
        match self {
            Error::Several(list) => list,
            one => std::slice::from_ref(one),
        }
    }

    /// Returns the place in the source.
    pub fn place(&self) -> Option<&Place> {
        match self {
            Error::Syntax { place, .. }
            | Error::MissingModule { place, .. }
            | Error::Unsupported { place, .. } => Some(place),
            _ => None,
        }
    }

    /// Returns the text to print under the marked source.
    pub fn label(&self) -> Option<String> {
        match self {
            Error::Syntax { message, .. } => Some(message.clone()),
            Error::MissingModule { .. } => Some("declared here".into()),
            Error::Unsupported { reason, .. } => Some(reason.clone()),
            _ => None,
        }
    }

    /// Returns advice on the error.
    pub fn help(&self) -> Option<String> {
        let quoted = |names: &[String]| {
            let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
            names.join(", ")
        };
        match self {
            Error::NotACrate { reason, .. } => Some(reason.clone()),
            Error::NotUtf8 { .. } => Some("Rust source is always UTF-8; convert the file".into()),
            Error::MissingModule { tried, .. } => {
                let tried: Vec<_> = tried
                    .iter()
                    .map(|path| path.display().to_string())
                    .collect();
                Some(format!("looked for {}", tried.join(" and ")))
            }
            Error::Unsupported { help, .. } => Some(help.clone()),
            Error::NoSuchFeature { known, .. } if known.is_empty() => {
                Some("the package has no features".into())
            }
            Error::NoSuchFeature { known, .. } => Some(format!("there are {}", quoted(known))),
            Error::NoHarness { looked_for, .. } => Some(looked_for.clone()),
            Error::UnknownHarness {
                suggestions, known, ..
            } if suggestions.is_empty() => Some(format!("there are {}", quoted(known))),
            Error::UnknownHarness { suggestions, .. } => {
                Some(format!("did you mean {}?", quoted(suggestions)))
            }
            Error::Syntax { .. } => {
                Some("`cargo check` says what rustc makes of it; where that compiles it, seqz's parser falls short".into())
            }
            Error::Empty { .. } => {
                Some("give a file or a crate with a `#[test]` that spawns threads".into())
            }
            _ => None,
        }
    }
}
