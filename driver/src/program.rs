//! The program under test, as far as the driver knows it: what the transformation says of it.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::report::document::{Role, Site};

/// A loaded program.
#[derive(Debug)]
pub struct Program {
    harnesses: Vec<Harness>,
}

/// Something that can be checked.
#[derive(Clone, Debug)]
pub struct Harness {
    /// Its path in the crate.
    pub name: String,
    /// What kind of item it is.
    pub kind: HarnessKind,
    /// Where it is.
    pub site: Site,
    /// Names and types of its parameters, the program's inputs.
    pub parameters: Vec<(String, String)>,
    /// Where it starts threads.
    pub spawns: Vec<Spawn>,
    /// Why it can't be checked, if so.
    pub unsupported: Option<Diagnostic>,
}

/// What kind of item a harness is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HarnessKind {
    /// A `#[test]`.
    Test,
    /// A public function.
    Function,
    /// `main`.
    Main,
}

/// A place where a harness starts a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spawn {
    /// Its line.
    pub line: u32,
    /// The name given to the thread's builder.
    pub name: Option<String>,
    /// Whether it is a scoped thread.
    pub scoped: bool,
}

/// What to generate.
#[derive(Clone, Debug)]
pub struct Request {
    /// The number of non-local reads of the emitted `p_hat`.
    pub k: u32,
    /// Only this harness.
    pub harness: Option<String>,
    /// Which thread is under test in the emitted `p_hat`.
    pub role: Role,
}

/// A generated crate.
#[derive(Debug)]
pub struct Generated {
    files: Vec<(PathBuf, String)>,
}

/// A place in the user's source that generated code comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The user's file.
    pub file: PathBuf,
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
    /// The short name of the variable that is accessed there.
    pub name: Option<String>,
}

impl Program {
    /// Loads the program at `path`.
    ///
    /// # Errors
    /// When it can't be read, or isn't Rust.
    pub fn load(path: &Path) -> Result<Self, Error> {
        Err(Error::NoHarness {
            path: path.to_owned(),
        })
    }

    /// What can be checked, in the order of the source.
    #[must_use]
    pub fn harnesses(&self) -> &[Harness] {
        &self.harnesses
    }

    /// The package's name.
    #[must_use]
    pub fn name(&self) -> &str {
        ""
    }

    /// A name that no other program has: the package's, and a digest of where it is.
    #[must_use]
    pub fn unique_name(&self) -> String {
        String::new()
    }

    /// The program's manifest, unless it is a lone file.
    #[must_use]
    pub fn manifest(&self) -> Option<&Path> {
        None
    }

    /// The `Cargo.lock` that goes with the manifest.
    #[must_use]
    pub fn lock_file(&self) -> Option<PathBuf> {
        None
    }

    /// The root file of the crate.
    #[must_use]
    pub fn root(&self) -> &Path {
        Path::new("")
    }

    /// The edition, as in a manifest.
    #[must_use]
    pub fn edition(&self) -> &str {
        "2024"
    }

    /// The text of one of its files.
    #[must_use]
    pub fn source(&self, file: &Path) -> Option<String> {
        std::fs::read_to_string(file).ok()
    }

    /// Generates the crate.
    ///
    /// # Errors
    /// When the program holds what can't be transformed.
    pub fn transform(&self, _request: &Request) -> Result<Generated, Error> {
        Ok(Generated { files: Vec::new() })
    }
}

impl Generated {
    /// Path below the crate's directory, and content.
    pub fn files(&self) -> impl Iterator<Item = (&Path, &str)> {
        self.files
            .iter()
            .map(|(path, text)| (path.as_path(), text.as_str()))
    }

    /// The same files, with the runtime looked for elsewhere.
    #[must_use]
    pub fn files_with_runtime_at(&self, _dir: &Path) -> Vec<(PathBuf, Cow<'_, str>)> {
        Vec::new()
    }

    /// Whether the program depends on crates that may change without a new version.
    #[must_use]
    pub fn has_path_dependencies(&self) -> bool {
        false
    }

    /// Where a place in a generated file comes from.
    #[must_use]
    pub fn lookup(&self, _file: &Path, _line: u32, _column: u32) -> Option<Origin> {
        None
    }

    /// What to call in the crate, for people.
    #[must_use]
    pub fn entry_points(&self) -> Vec<String> {
        Vec::new()
    }
}
