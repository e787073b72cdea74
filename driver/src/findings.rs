//! Findings as files. A finding is written while the search goes on, so that no finding is lost when the search ends
//! badly.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::diagnostic::shown;
use crate::embed::at;
use crate::error::Error;
use crate::model::document::{Bug, Kind, SCHEMA, Site, Thread};
use crate::model::exploration::Failure;
use crate::portable;
use crate::program::Features;
use crate::sources::Sources;
use crate::visible::visible_json;

/// The content of a finding's file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The version of seqz that wrote the file.
    pub seqz: String,
    /// The program, as given on the command line.
    pub path: String,
    /// The path of the program relative to the directory of the finding's file, so that both may be moved together.
    pub program: PathBuf,
    /// The harness's path in the crate.
    pub harness: String,
    /// The place of the harness.
    pub harness_site: Site,
    /// The names of the dependencies that were followed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub followed: Vec<String>,
    /// Which features of the package were on, as the options of cargo say it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<String>,
    /// The bug or failure that was found.
    #[serde(flatten)]
    pub found: Found,
}

impl Finding {
    /// Returns which features of the package were on.
    #[must_use]
    pub fn features(&self) -> Features {
        let has = |option: &str| self.features.iter().any(|it| it == option);
        let mut options = self.features.iter();
        let list = options.find(|it| *it == "--features").and(options.next());
        Features {
            all: has("--all-features"),
            no_default: has("--no-default-features"),
            list: list.map_or_else(Vec::new, |all| all.split(',').map(str::to_owned).collect()),
        }
    }

    /// Returns the path of the program, for a finding that was read from `file`.
    ///
    /// # Errors
    /// When the file is not there any more.
    pub fn program(&self, file: &Path) -> io::Result<PathBuf> {
        // A relative path starts at the real place of the file.
        let file = file.canonicalize()?;
        let dir = file.parent().unwrap_or(Path::new("/"));
        let program = dir.join(&self.program);
        Ok(program.canonicalize().unwrap_or(program))
    }

    /// Returns the finding as text for a file in `dir`; the text holds no path of this machine.
    ///
    /// # Errors
    /// When the program or the directory are not there any more.
    pub fn portable(&self, program: &Path, dir: &Path) -> io::Result<String> {
        let moved = Self {
            program: portable::way(dir, program)?,
            ..self.clone()
        };
        let mut document = serde_json::to_value(moved)?;
        let program = program.canonicalize()?;
        let base = if program.is_dir() {
            Some(program.as_path())
        } else {
            program.parent()
        };
        portable::shorten(&mut document, base.unwrap_or(&program));
        let text = crate::model::lines::text(&document)?;
        Ok(format!("{}\n", visible_json(&text)))
    }

    /// Reads a finding's file.
    ///
    /// # Errors
    /// When the file can't be read, or holds no finding that this version knows.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = fs::read(path).map_err(|source| Error::File {
            what: "read",
            path: path.to_owned(),
            source,
        })?;
        let no_finding = |why: String| Error::Option {
            message: format!("{} is no finding: {why}", shown(path)),
            help: "findings are files that `seqz check` and `seqz explore` write, see docs/json.md"
                .into(),
        };
        let value: serde_json::Value =
            serde_json::from_slice(&text).map_err(|e| no_finding(e.to_string()))?;
        if value["schema"] != SCHEMA {
            return Err(no_finding(format!("it does not have \"schema\": {SCHEMA}")));
        }
        serde_json::from_value(value).map_err(|e| no_finding(e.to_string()))
    }
}

/// A bug or failure, by the command that found it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Found {
    /// Found by `seqz check`.
    Bug {
        /// The threads that ran side by side.
        threads: Vec<Thread>,
        /// The bug.
        bug: Box<Bug>,
    },
    /// Found by `seqz explore`.
    Failure {
        /// The failure.
        failure: Box<Failure>,
    },
}

/// The findings of one program: `1.json`, `2.json`, … in a directory of their own.
///
/// A finding keeps its number for as long as its file is there: when a later search finds it again, the search writes
/// it to the same file. Only the user removes files.
#[derive(Debug)]
pub struct Store {
    dir: PathBuf,
    path: String,
    /// The names of the dependencies that are followed.
    followed: Vec<String>,
    /// Which features of the package are on, as the options of cargo say it.
    features: Vec<String>,
    any: bool,
    /// The identities of the findings in the files that were seen, so that the files are not read again for each
    /// finding: a program may have thousands. `None`: the file holds no finding that this version knows.
    seen: HashMap<OsString, Option<Identity>>,
}

/// What makes two findings the same.
#[derive(Debug, PartialEq, Eq)]
struct Identity {
    harness: String,
    by_check: bool,
    kind: Kind,
    site: Option<Site>,
    other: Option<Site>,
    /// The finding's message, where it has no site.
    message: String,
}

impl Identity {
    fn of(finding: &Finding) -> Self {
        let (by_check, kind, site, other, message) = match &finding.found {
            Found::Bug { bug, .. } => (true, bug.kind, &bug.site, &bug.other_site, &bug.message),
            Found::Failure { failure } => {
                (false, failure.kind, &failure.site, &None, &failure.message)
            }
        };
        let message = if site.is_some() { "" } else { message };
        Self {
            harness: finding.harness.clone(),
            by_check,
            kind,
            site: site.clone(),
            other: other.clone(),
            message: message.to_owned(),
        }
    }

    /// Reads the identity of the finding in a file; `None` if the file holds no finding that this version knows.
    fn read(file: &Path) -> Option<Self> {
        Finding::read(file).ok().as_ref().map(Self::of)
    }
}

impl Store {
    /// Opens the directory of the program.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn open(target_dir: &Path, program: &str, path: String) -> io::Result<Self> {
        let dir = target_dir.join("findings").join(program);
        fs::create_dir_all(&dir).map_err(|e| at(&dir, &e))?;
        Ok(Self {
            dir,
            path,
            followed: Vec::new(),
            features: Vec::new(),
            any: false,
            seen: HashMap::new(),
        })
    }

    /// Returns the store of a program with these sources, which says what a replay has to know of how they were built.
    #[must_use]
    pub fn of(self, sources: &Sources) -> Self {
        Self {
            followed: sources.followed_names(),
            features: sources.features().arguments(),
            ..self
        }
    }

    /// Returns the largest number that is taken, and the file in which this finding stands already.
    fn numbers(&mut self, finding: &Identity) -> io::Result<(u32, Option<PathBuf>)> {
        let mut last = 0;
        let mut same = None;
        for entry in fs::read_dir(&self.dir)? {
            let name = entry?.file_name();
            let stem = Path::new(&name).file_stem().and_then(|it| it.to_str());
            let Some(number) = stem.and_then(|it| it.parse::<u32>().ok()) else {
                continue;
            };
            last = last.max(number);
            let file = self.dir.join(&name);
            let seen = self.seen.entry(name);
            // A file that another version has written is left alone.
            let seen = seen.or_insert_with(|| Identity::read(&file));
            if seen.as_ref() != Some(finding) {
                continue;
            }
            // The user may have removed the file, and another process may have given its number to another finding.
            *seen = Identity::read(&file);
            if seen.as_ref() == Some(finding) {
                same = Some(file);
            }
        }
        Ok((last, same))
    }

    /// Returns the directory of the files.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Whether a finding has been written.
    #[must_use]
    pub const fn any(&self) -> bool {
        self.any
    }

    /// Writes a finding to its file, which appears whole or not at all: the file that the finding was written to
    /// before, or a new one.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn save(&mut self, harness: &str, site: &Site, found: Found) -> io::Result<PathBuf> {
        let finding = self.finding(harness, site, found);
        let mut new = self.prepare(&finding)?;
        let identity = Identity::of(&finding);
        loop {
            let (last, same) = self.numbers(&identity)?;
            if let Some(file) = same {
                new.persist(&file).map_err(|e| at(&file, &e.error))?;
                self.any = true;
                return Ok(file);
            }
            let path = self.dir.join(format!("{}.json", last + 1));
            // Another process may have taken the number.
            match new.persist_noclobber(&path) {
                Ok(_) => {
                    self.any = true;
                    return Ok(path);
                }
                Err(e) if e.error.kind() == io::ErrorKind::AlreadyExists => new = e.file,
                Err(e) => return Err(at(&path, &e.error)),
            }
        }
    }

    /// Writes a finding over the file of one that was saved earlier.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn replace(&self, file: &Path, harness: &str, site: &Site, found: Found) -> io::Result<()> {
        let new = self.prepare(&self.finding(harness, site, found))?;
        new.persist(file).map_err(|e| at(file, &e.error))?;
        Ok(())
    }

    fn finding(&self, harness: &str, site: &Site, found: Found) -> Finding {
        Finding {
            schema: SCHEMA,
            seqz: env!("CARGO_PKG_VERSION").into(),
            path: self.path.clone(),
            program: self.path.clone().into(),
            harness: harness.into(),
            harness_site: site.clone(),
            followed: self.followed.clone(),
            features: self.features.clone(),
            found,
        }
    }

    fn prepare(&self, finding: &Finding) -> io::Result<tempfile::NamedTempFile> {
        let mut new = tempfile::NamedTempFile::new_in(&self.dir)?;
        let text = finding.portable(&finding.program, &self.dir)?;
        new.write_all(text.as_bytes())?;
        Ok(new)
    }
}
