//! The results file: a line for each run, appended as soon as the run has ended.
//!
//! Whenever the comparison is killed, whole lines are there, but for the last one perhaps, which is left out when the file
//! is picked up again. A result counts again if it is of the same harness, inputs, method and limits, of the same source,
//! and of the same version of seqz.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::document::{Limits, Run, Subject};
use super::job::Job;
use crate::error::Error;
use crate::output::writing;

/// One line of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Line {
    seqz: String,
    stamp: String,
    limits: Limits,
    #[serde(flatten)]
    subject: Subject,
    run: Run,
}

/// The results of earlier runs, and the file to which new ones are appended.
#[derive(Debug)]
pub struct Store {
    file: Option<(PathBuf, File)>,
    known: HashMap<(Subject, String, String), Run>,
    limits: Limits,
}

impl Store {
    /// Opens a results file, or begins one. Without a path, results are only kept in memory.
    ///
    /// # Errors
    /// When the file can't be read or written, or holds something else.
    pub fn open(path: Option<&Path>, limits: &Limits) -> Result<Self, Error> {
        let mut store = Self {
            file: None,
            known: HashMap::new(),
            limits: limits.clone(),
        };
        let Some(path) = path else { return Ok(store) };
        let mut file = File::options()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(path)
            .map_err(writing(path))?;
        // Two comparisons that write to one file would tear each other's lines.
        if file.try_lock().is_err() {
            return Err(Error::Option {
                message: format!(
                    "another comparison writes to {}",
                    crate::diagnostic::shown(path)
                ),
                help: "wait for it, or name another file with --results".into(),
            });
        }
        let mut text = String::new();
        file.read_to_string(&mut text)
            .map_err(|source| Error::File {
                what: "read",
                path: path.to_owned(),
                source,
            })?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        for (number, line) in text[..whole].lines().enumerate() {
            let line: Line = serde_json::from_str(line).map_err(|e| Error::Option {
                message: format!(
                    "{}:{} is no result: {e}",
                    crate::diagnostic::shown(path),
                    number + 1
                ),
                help: "--results names a file that an earlier `seqz compare --results` has written, or none that is there"
                    .into(),
            })?;
            if line.seqz == env!("CARGO_PKG_VERSION") && line.limits == *limits {
                let key = (line.subject, line.run.method.clone(), line.stamp);
                store.known.insert(key, line.run);
            }
        }
        // The last line may have been cut off when its writer was killed.
        let end = u64::try_from(whole).unwrap_or(u64::MAX);
        file.set_len(end)
            .and_then(|()| file.seek(SeekFrom::Start(end)))
            .map_err(writing(path))?;
        store.file = Some((path.to_owned(), file));
        Ok(store)
    }

    /// Returns the result of an earlier run of this job, if there was one.
    #[must_use]
    pub fn known(&self, job: &Job) -> Option<Run> {
        let key = (
            job.subject.clone(),
            job.method.to_string(),
            job.stamp.clone(),
        );
        self.known.get(&key).cloned()
    }

    /// Adds a run's result.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn add(&mut self, job: &Job, run: &Run) -> Result<(), Error> {
        let Some((path, file)) = &mut self.file else {
            return Ok(());
        };
        let line = Line {
            seqz: env!("CARGO_PKG_VERSION").into(),
            stamp: job.stamp.clone(),
            limits: self.limits.clone(),
            subject: job.subject.clone(),
            run: run.clone(),
        };
        let mut text = serde_json::to_vec(&line)
            .map_err(|e| Error::Worker(format!("a result can't be written as JSON: {e}")))?;
        text.push(b'\n');
        file.write_all(&text)
            .and_then(|()| file.sync_data())
            .map_err(writing(path.as_path()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::method::Method;
    use super::*;

    fn limits(seconds: f64) -> Limits {
        Limits {
            seconds,
            executions: None,
            memory: 1,
            k_max: 3,
            seed: 1,
            ignore_detached_panics: false,
        }
    }

    fn job(harness: &str, stamp: &str) -> Job {
        Job {
            subject: Subject {
                path: "p".into(),
                harness: harness.into(),
                inputs: vec![("n".into(), "1".into())],
            },
            method: Method::explore("dfs"),
            stamp: stamp.into(),
        }
    }

    #[test]
    fn only_what_is_whole_and_the_same_is_known_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("results");
        let open = |seconds| Store::open(Some(&path), &limits(seconds));
        let mut store = open(1.0).unwrap();
        assert!(open(1.0).is_err(), "two at a time");
        for harness in ["a", "b"] {
            let job = job(harness, "s");
            let run = Run::failed(&job, "w\n\"".into());
            store.add(&job, &run).unwrap();
        }
        drop(store);
        // As if the writer had been killed while it wrote the second line.
        let text = std::fs::read(&path).unwrap();
        std::fs::write(&path, &text[..text.len() - 9]).unwrap();

        let mut store = open(1.0).unwrap();
        let again = store.known(&job("a", "s")).unwrap();
        assert_eq!(again, Run::failed(&job("a", "s"), "w\n\"".into()));
        assert!(store.known(&job("b", "s")).is_none());
        assert!(store.known(&job("a", "t")).is_none(), "another source");
        let late = job("c", "s");
        store.add(&late, &Run::failed(&late, "x".into())).unwrap();
        drop(store);
        assert!(open(1.0).unwrap().known(&late).is_some());
        assert!(open(2.0).unwrap().known(&late).is_none(), "other limits");

        std::fs::write(&path, "fn main() {}\n").unwrap();
        assert!(open(1.0).is_err());
    }
}
