//! The directory of the user's choice that a generated crate is written to.
//!
//! Nothing of the user's is written over or removed there: [`MARKER`] lists what seqz has written, with a digest of each file.
//! A directory that isn't empty is written to only if it has that list, and a file that isn't on the list is never touched.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::diagnostic::shown;
use crate::embed::{self, at};
use crate::error::Error;
use crate::output::writing;
use crate::program::{Generated, Program};

/// The file that lists what seqz has written into its directory.
const MARKER: &str = ".seqz.json";

/// Which files may be written over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Force {
    /// No file: the directory has to be empty.
    Never,
    /// Files that seqz has written and that have not been changed since.
    Unchanged,
    /// Files that seqz has written, whether or not they have been changed since.
    Written,
}

/// The files that seqz has written: the path below the directory, and the [`digest`] of the content.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Written {
    seqz: String,
    files: BTreeMap<PathBuf, String>,
}

/// Writes the crate to `dir`, with the runtime inside.
///
/// # Errors
///
/// When `dir` is, holds or lies in the program's sources; when it holds files that `force` does not let be written
/// over; and those of the file system.
/// the file system.
pub fn write(
    dir: &Path,
    program: &Program,
    generated: &Generated,
    force: Force,
) -> Result<(), Error> {
    keep_off_sources(dir, program)?;
    fs::create_dir_all(dir).map_err(writing(dir))?;
    let files = files(generated);
    let old = admitted(dir, force)?;
    refuse_others_files(dir, &files, &old, force)?;
    // If seqz is killed while it writes, this list still names all files that seqz has written.
    let mut both = written(&files);
    for (path, digest) in &old.files {
        both.files
            .entry(path.clone())
            .or_insert_with(|| digest.clone());
    }
    note(dir, &both).map_err(writing(dir))?;
    let borrowed = files
        .iter()
        .map(|(path, text)| (path.clone(), text.as_str()));
    embed::write(dir, borrowed).map_err(writing(dir))?;
    crate::fuzz::make_runnable(dir)?;
    remove_left_over(dir, &old, &files).map_err(writing(dir))?;
    note(dir, &written(&files)).map_err(writing(dir))
}

/// Returns all files of the crate: the path below its directory and the content.
fn files(generated: &Generated) -> Vec<(PathBuf, String)> {
    let own = generated
        .files()
        .chain(generated.testers())
        .map(|(path, text)| (path.to_owned(), text.to_owned()));
    let runtime = embed::runtime(generated.knows())
        .map(|(path, text)| (Path::new("runtime").join(path), text));
    let fuzzer =
        embed::fuzzer().map(|(path, text)| (Path::new("fuzz/vendor").join(path), text.to_owned()));
    own.chain(runtime).chain(fuzzer).collect()
}

fn written(files: &[(PathBuf, String)]) -> Written {
    Written {
        seqz: env!("CARGO_PKG_VERSION").into(),
        files: files
            .iter()
            .map(|(path, text)| (path.clone(), digest(text.as_bytes())))
            .collect(),
    }
}

fn digest(content: &[u8]) -> String {
    format!("{:016x}", seqz_runtime::worker::checkpoint::digest(content))
}

/// Refuses a directory that the program is in, or that is part of the program.
fn keep_off_sources(dir: &Path, program: &Program) -> Result<(), Error> {
    let target = resolved(dir).map_err(writing(dir))?;
    let package = program
        .manifest()
        .map(Path::to_owned)
        .or_else(|| Some(program.root().to_owned()));
    let package = package
        .and_then(|file| resolved(&file).ok())
        .and_then(|file| file.parent().map(Path::to_owned));
    for source in program.manifest().into_iter().chain(program.files()) {
        let Ok(file) = resolved(source) else { continue };
        let holds = file.starts_with(&target);
        let lies_in = file
            .parent()
            .is_some_and(|parent| Some(parent) != package.as_deref() && target.starts_with(parent));
        if holds || lies_in {
            let relation = if holds { "holds" } else { "lies beside" };
            return Err(Error::Option {
                message: format!(
                    "{} {relation} the program's own source {}: nothing is written there",
                    shown(dir),
                    shown(source)
                ),
                help: "name a directory that the program is no part of".into(),
            });
        }
    }
    Ok(())
}

/// Returns the canonical path, as far as the path exists.
fn resolved(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    let mut missing = Vec::new();
    let mut there = path.as_path();
    loop {
        match there.canonicalize() {
            Ok(mut found) => {
                found.extend(missing.iter().rev());
                return Ok(found);
            }
            Err(error) => match (there.file_name(), there.parent()) {
                (Some(name), Some(parent)) => {
                    missing.push(name);
                    there = parent;
                }
                _ => return Err(error),
            },
        }
    }
}

/// Returns the list of what seqz has written to the directory before, if seqz may write there again.
fn admitted(dir: &Path, force: Force) -> Result<Written, Error> {
    let reading = |source| Error::File {
        what: "read",
        path: dir.to_owned(),
        source,
    };
    if fs::read_dir(dir).map_err(reading)?.next().is_none() {
        return Ok(Written::default());
    }
    let marker = fs::read(dir.join(MARKER))
        .ok()
        .and_then(|text| serde_json::from_slice(&text).ok());
    let help = match (marker, force) {
        (Some(_), Force::Never) => {
            "name another directory with -o, or say --force to write over what seqz has written there"
        }
        (Some(marker), _) => return Ok(marker),
        (None, _) => "name an empty directory, or one that seqz has written",
    };
    Err(Error::Option {
        message: format!("{} is not empty", shown(dir)),
        help: help.into(),
    })
}

/// Refuses to write over a file that seqz has not written, or that has been changed since and may not be written over.
fn refuse_others_files(
    dir: &Path,
    files: &[(PathBuf, String)],
    old: &Written,
    force: Force,
) -> Result<(), Error> {
    for (path, text) in files {
        let Ok(content) = fs::read(dir.join(path)) else {
            continue;
        };
        if content == text.as_bytes() {
            continue;
        }
        let (what, help) = match old.files.get(path) {
            None => (
                "was not written by seqz",
                "move it away, or name another directory",
            ),
            Some(known) if force != Force::Written && *known != digest(&content) => (
                "was changed after seqz wrote it",
                "move it away, or name another directory",
            ),
            Some(_) => continue,
        };
        return Err(Error::Option {
            message: format!("{} {what}", shown(&dir.join(path))),
            help: help.into(),
        });
    }
    Ok(())
}

/// Removes the files that seqz has written before and that are no part of the crate now, unless they have been changed
/// since.
fn remove_left_over(dir: &Path, old: &Written, files: &[(PathBuf, String)]) -> io::Result<()> {
    for (path, known) in &old.files {
        if files.iter().any(|(kept, _)| kept == path) {
            continue;
        }
        let path = dir.join(path);
        if fs::read(&path).is_ok_and(|content| digest(&content) == *known) {
            fs::remove_file(&path).map_err(|e| at(&path, &e))?;
        }
    }
    Ok(())
}

/// Writes the list, which appears whole or not at all.
fn note(dir: &Path, written: &Written) -> io::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    serde_json::to_writer_pretty(&mut file, written)?;
    file.write_all(b"\n")?;
    file.persist(dir.join(MARKER))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_is_not_there_yet_is_resolved_as_far_as_it_goes() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().join("real");
        fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, dir.path().join("link")).unwrap();
        let found = resolved(&dir.path().join("link/new/one")).unwrap();
        assert_eq!(found, real.canonicalize().unwrap().join("new/one"));
    }

    #[test]
    fn what_is_left_over_goes_unless_it_was_changed() {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in [("a", "1"), ("b", "2"), ("c", "mine")] {
            fs::write(dir.path().join(name), text).unwrap();
        }
        let old = written(&[("a".into(), "1".into()), ("b".into(), "other".into())]);
        remove_left_over(dir.path(), &old, &[]).unwrap();
        let left = |name| dir.path().join(name).exists();
        assert!(!left("a") && left("b") && left("c"));
    }
}
