//! Findings as files: written while the search goes on, so that nothing is lost when it ends in a bad way.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::diagnostic::shown;
use crate::embed::at;
use crate::error::Error;
use crate::report::document::{Bug, SCHEMA, Site, Thread};
use crate::report::exploration::Failure;

/// What is in a finding's file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The version of seqz that made it.
    pub seqz: String,
    /// The program, as given on the command line.
    pub path: String,
    /// The same, wherever it is looked for from.
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
#[derive(Debug)]
pub struct Store {
    dir: PathBuf,
    path: String,
    next: u32,
    any: bool,
    // Held while this process writes here.
    _lock: Option<File>,
}

impl Store {
    /// Opens the directory of the program, and removes what an earlier search has left, unless another one is still at
    /// it.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn open(target_dir: &Path, program: &str, path: String) -> io::Result<Self> {
        let dir = target_dir.join("findings").join(program);
        fs::create_dir_all(&dir).map_err(|e| at(&dir, &e))?;
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(dir.join("lock"))?;
        let alone = lock.try_lock().is_ok();
        let mut next = 1;
        for entry in fs::read_dir(&dir)? {
            let file = entry?.path();
            let number = file
                .file_stem()
                .and_then(|stem| stem.to_str()?.parse::<u32>().ok());
            match number {
                Some(_) if alone => fs::remove_file(&file).map_err(|e| at(&file, &e))?,
                Some(number) => next = next.max(number + 1),
                None => {}
            }
        }
        Ok(Self {
            dir,
            path,
            next,
            any: false,
            _lock: alone.then_some(lock),
        })
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

    /// Writes a finding to a file of its own, which appears whole or not at all.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn save(&mut self, harness: &str, site: &Site, found: Found) -> io::Result<PathBuf> {
        let mut new = self.prepare(harness, site, found)?;
        loop {
            let path = self.dir.join(format!("{}.json", self.next));
            self.next += 1;
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
        let new = self.prepare(harness, site, found)?;
        new.persist(file).map_err(|e| at(file, &e.error))?;
        Ok(())
    }

    fn prepare(
        &self,
        harness: &str,
        site: &Site,
        found: Found,
    ) -> io::Result<tempfile::NamedTempFile> {
        let finding = Finding {
            schema: SCHEMA,
            seqz: env!("CARGO_PKG_VERSION").into(),
            path: self.path.clone(),
            program: Path::new(&self.path)
                .canonicalize()
                .unwrap_or_else(|_| self.path.clone().into()),
            harness: harness.into(),
            harness_site: site.clone(),
            found,
        };
        let mut new = tempfile::NamedTempFile::new_in(&self.dir)?;
        serde_json::to_writer_pretty(&mut new, &finding)?;
        new.write_all(b"\n")?;
        Ok(new)
    }
}
