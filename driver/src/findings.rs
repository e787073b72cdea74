//! Findings as files: written while the search goes on, so that nothing is lost when it ends in a bad way.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::embed::at;
use crate::report::document::{Bug, SCHEMA, Site, Thread};

/// What is in a finding's file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The version of seqz that made it.
    pub seqz: String,
    /// The program, as given on the command line.
    pub path: String,
    /// The harness.
    pub harness: String,
    /// Where the harness is.
    pub harness_site: Site,
    /// The threads that ran side by side.
    pub threads: Vec<Thread>,
    /// The bug.
    pub bug: Bug,
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
    pub fn save(
        &mut self,
        harness: &str,
        site: &Site,
        threads: &[Thread],
        bug: &Bug,
    ) -> io::Result<PathBuf> {
        let finding = Finding {
            schema: SCHEMA,
            seqz: env!("CARGO_PKG_VERSION").into(),
            path: self.path.clone(),
            harness: harness.into(),
            harness_site: site.clone(),
            threads: threads.to_vec(),
            bug: bug.clone(),
        };
        let mut new = tempfile::NamedTempFile::new_in(&self.dir)?;
        serde_json::to_writer_pretty(&mut new, &finding)?;
        new.write_all(b"\n")?;
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
}
