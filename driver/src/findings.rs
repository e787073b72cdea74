//! Findings as files: written while the search goes on, so that nothing is lost when it ends in a bad way.

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
use crate::visible::visible_json;

/// What is in a finding's file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The version of seqz that made it.
    pub seqz: String,
    /// The program, as given on the command line.
    pub path: String,
    /// The way to it from the directory of the finding's file, so that both may be moved together.
    pub program: PathBuf,
    /// The harness.
    pub harness: String,
    /// Where the harness is.
    pub harness_site: Site,
    /// What was found.
    #[serde(flatten)]
    pub found: Found,
}

impl Finding {
    /// Where the program is, for a finding that was read from `file`.
    ///
    /// # Errors
    /// When the file is not there any more.
    pub fn program(&self, file: &Path) -> io::Result<PathBuf> {
        // A relative way leads from where the file really is.
        let file = file.canonicalize()?;
        let dir = file.parent().unwrap_or(Path::new("/"));
        let program = dir.join(&self.program);
        Ok(program.canonicalize().unwrap_or(program))
    }

    /// The finding as it is written to a file in `dir`, where no path is this machine's.
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
    /// When it can't be read, or holds none that this version knows.
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

/// What was found, by whom.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Found {
    /// By `seqz check`.
    Bug {
        /// The threads that ran side by side.
        threads: Vec<Thread>,
        /// The bug.
        bug: Box<Bug>,
    },
    /// By `seqz explore`.
    Failure {
        /// The failure.
        failure: Box<Failure>,
    },
}

/// The findings of one program: `1.json`, `2.json`, … in a directory of their own.
///
/// A finding keeps its number for as long as its file is there: found again, whenever and by whichever search, it is written to
/// the same file. Only the user removes files.
#[derive(Debug)]
pub struct Store {
    dir: PathBuf,
    path: String,
    any: bool,
    /// What stands in the files that were seen, so that none is read for each finding: a program may have thousands.
    seen: HashMap<OsString, Option<Identity>>,
}

/// By what a finding is known again.
#[derive(Debug, PartialEq, Eq)]
struct Identity {
    harness: String,
    by_check: bool,
    kind: Kind,
    site: Option<Site>,
    other: Option<Site>,
    /// What was said, where there is no site.
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

    /// That of the finding in a file; none if there is none that this version knows.
    fn read(file: &Path) -> Option<Self> {
        Finding::read(file).ok().as_ref().map(Self::of)
    }
}

impl Store {
    /// Opens the directory of the program.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn open(target_dir: &Path, program: &str, path: String) -> io::Result<Self> {
        let dir = target_dir.join("findings").join(program);
        fs::create_dir_all(&dir).map_err(|e| at(&dir, &e))?;
        Ok(Self {
            dir,
            path,
            any: false,
            seen: HashMap::new(),
        })
    }

    /// The numbers that are taken, and the file in which this finding stands already.
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
            // What another version has written is left alone.
            let seen = seen.or_insert_with(|| Identity::read(&file));
            if seen.as_ref() != Some(finding) {
                continue;
            }
            // The user may have removed the file, and another process may have given its number to something else.
            *seen = Identity::read(&file);
            if seen.as_ref() == Some(finding) {
                same = Some(file);
            }
        }
        Ok((last, same))
    }

    /// Where the files are.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Whether a finding has been written.
    #[must_use]
    pub const fn any(&self) -> bool {
        self.any
    }

    /// Writes a finding to its file, which appears whole or not at all: the one that it was written to before, or a new one.
    ///
    /// # Errors
    /// Those of the file system.
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
    /// Those of the file system.
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
