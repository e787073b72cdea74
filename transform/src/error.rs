//! Everything that can be wrong with the input.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::source::Place;

/// Why a program can't be loaded or transformed.
///
/// Every variant that is about a line of source has a [`Place`]; `Display` gives one line without it.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or directory can't be read.
    #[error("cannot read {}: {cause}", path.display())]
    Read {
        /// What was to be read.
        path: PathBuf,
        /// What the system said.
        cause: Arc<std::io::Error>,
    },
    /// A path leads neither to a Rust file nor to a crate.
    #[error("{} is neither a Rust source file nor a crate", path.display())]
    NotACrate {
        /// The path as given.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A source file isn't UTF-8.
    #[error("{} is not UTF-8: byte {offset} starts no character", path.display())]
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// Offset of the first wrong byte.
        offset: usize,
    },
    /// The program has no code.
    #[error("{} has no items", path.display())]
    Empty {
        /// The crate's root file.
        path: PathBuf,
    },
    /// `Cargo.toml` can't be understood.
    #[error("{}: {message}", path.display())]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// What is wrong in it.
        message: String,
    },
    /// rustc wouldn't parse it either.
    #[error("syntax error: {message}")]
    Syntax {
        /// Where.
        place: Box<Place>,
        /// What the parser said.
        message: String,
    },
    /// The file of a `mod name;` isn't there.
    #[error("no file for module `{name}`")]
    MissingModule {
        /// The module's name in its declaration.
        place: Box<Place>,
        /// The module.
        name: String,
        /// The files that were looked for.
        tried: Vec<PathBuf>,
    },
    /// Code that seqz can't run faithfully.
    #[error("{what} is not supported: {reason}")]
    Unsupported {
        /// The code in question.
        place: Box<Place>,
        /// The item or construct, as in "`Condvar`".
        what: String,
        /// Why.
        reason: String,
        /// What to do instead.
        help: String,
    },
    /// Nothing in the program starts a thread from an entry point seqz could call.
    #[error("no harness in {}", path.display())]
    NoHarness {
        /// The crate's root file.
        path: PathBuf,
        /// What counts as a harness, and what was seen instead.
        looked_for: String,
    },
    /// `--harness` names none of the harnesses.
    #[error("no harness is called `{name}`")]
    UnknownHarness {
        /// The name asked for.
        name: String,
        /// Names like it, the likeliest first.
        suggestions: Vec<String>,
        /// All names there are.
        known: Vec<String>,
    },
    /// Several of the above.
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

    /// One error out of a list, in order of place; `None` for an empty list.
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

    /// The single errors in this one.
    pub fn each(&self) -> &[Error] {
        match self {
            Error::Several(list) => list,
            one => std::slice::from_ref(one),
        }
    }

    /// The source line in question.
    pub fn place(&self) -> Option<&Place> {
        match self {
            Error::Syntax { place, .. }
            | Error::MissingModule { place, .. }
            | Error::Unsupported { place, .. } => Some(place),
            _ => None,
        }
    }

    /// What to write under the marked source.
    pub fn label(&self) -> Option<String> {
        match self {
            Error::Syntax { message, .. } => Some(message.clone()),
            Error::MissingModule { .. } => Some("declared here".into()),
            Error::Unsupported { reason, .. } => Some(reason.clone()),
            _ => None,
        }
    }

    /// What to do about it.
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
