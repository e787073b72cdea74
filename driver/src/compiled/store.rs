//! Compiled libraries in a directory, each in a subdirectory that is named after what the library was made of.
//! `build.rs` includes this file, too.
//!
//! An error in the store only costs the time to compile once more, so it is not reported.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;

use super::invocation::{Compiler, Invocation};

/// The kinds of files that make up a library.
pub(crate) const KINDS: [&str; 2] = ["rmeta", "rlib"];

/// The file that is written last: it has the sizes of the others. Its modification time is when the library was last
/// used.
pub(crate) const SIZES: &str = "sizes";

/// The number of libraries that are kept: those of the versions, compilers and flags that were used last.
const KEPT: usize = 32;

/// A directory of compiled libraries.
pub(crate) struct Store(pub(crate) PathBuf);

impl Store {
    /// Returns the name of a library in the store.
    pub(crate) fn name(
        invocation: &Invocation,
        sources: &str,
        compiler: &Compiler,
    ) -> io::Result<String> {
        let digest = invocation.digest(sources, compiler)?;
        Ok(format!(
            "{}-{}-{digest}",
            invocation.crate_name,
            compiler.with(sources)
        ))
    }

    /// Whether the store has a library of this crate, compiled with any flags, of these sources and by this compiler.
    pub(crate) fn has(&self, crate_name: &str, sources: &str, compiler: &Compiler) -> bool {
        let start = format!("{crate_name}-{}-", compiler.with(sources));
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        entries
            .map(|entry| entry.file_name())
            .any(|name| name.to_string_lossy().starts_with(&start))
    }

    /// Copies a library to the place where rustc would write it.
    ///
    /// # Errors
    /// When the library isn't in the store, or is not whole.
    pub(crate) fn fetch(&self, name: &str, invocation: &Invocation) -> io::Result<()> {
        let dir = self.0.join(name);
        let sizes = fs::read_to_string(dir.join(SIZES))?;
        for kind in KINDS {
            let copied = fs::copy(dir.join(kind), invocation.library(kind))?;
            if !sizes.lines().any(|line| line == format!("{kind} {copied}")) {
                return Err(io::Error::other(format!("{name}: not the whole {kind}")));
            }
        }
        fs::write(invocation.dep_info(), dep_info(invocation)?)?;
        // Notes that the library is in use.
        fs::write(dir.join(SIZES), sizes)
    }

    /// Adds a library that rustc has made to the store.
    ///
    /// # Errors
    /// Errors of the file system.
    pub(crate) fn keep(&self, name: &str, invocation: &Invocation) -> io::Result<()> {
        let files = KINDS.map(|kind| (kind, invocation.library(kind)));
        self.add(name, |kind, to| {
            let from = files.iter().find(|(of, _)| *of == kind);
            from.map_or(Ok(0), |(_, from)| fs::copy(from, to))
        })?;
        self.forget_old();
        Ok(())
    }

    /// Adds a library. `write` writes its files: it is called with the kind and the path, and returns the length of the
    /// file in bytes. The library appears whole or not at all.
    ///
    /// # Errors
    /// Errors of the file system.
    pub(crate) fn add(
        &self,
        name: &str,
        write: impl Fn(&str, &Path) -> io::Result<u64>,
    ) -> io::Result<()> {
        let new = self.0.join(format!("new-{}-{name}", process::id()));
        fs::create_dir_all(&new)?;
        let mut sizes = String::new();
        let written = KINDS.iter().try_for_each(|kind| {
            sizes.push_str(&format!("{kind} {}\n", write(kind, &new.join(kind))?));
            Ok(())
        });
        let there = written
            .and_then(|()| fs::write(new.join(SIZES), &sizes))
            .and_then(|()| {
                let dir = self.0.join(name);
                // A library that is already there was not whole, or is as good as this one.
                let _ = fs::remove_dir_all(&dir);
                fs::rename(&new, &dir)
            });
        if there.is_err() {
            let _ = fs::remove_dir_all(&new);
        }
        there
    }

    /// Removes all libraries but those that were used last.
    fn forget_old(&self) {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let mut all: Vec<_> = entries
            .filter_map(|entry| {
                let path = entry.path();
                // A library that is just being written counts from its own modification time on.
                let used = fs::metadata(path.join(SIZES)).or_else(|_| entry.metadata());
                Some((used.ok()?.modified().ok()?, path))
            })
            .collect();
        all.sort();
        let old = all.len().saturating_sub(KEPT);
        for (_, path) in all.drain(..old) {
            let _ = fs::remove_dir_all(path);
        }
    }
}

/// Returns the list of the source files of a library, in rustc's format for cargo: all files in the folder of the
/// crate's root.
fn dep_info(invocation: &Invocation) -> io::Result<String> {
    let mut files = Vec::new();
    if let Some(folder) = invocation.source.parent() {
        list(folder, &mut files)?;
    }
    files.sort();
    let escaped = |path: &Path| path.display().to_string().replace(' ', "\\ ");
    let mut text = String::new();
    for target in [
        invocation.dep_info(),
        invocation.library("rmeta"),
        invocation.library("rlib"),
    ] {
        text.push_str(&escaped(&target));
        text.push(':');
        for file in &files {
            text.push(' ');
            text.push_str(&escaped(file));
        }
        text.push_str("\n\n");
    }
    Ok(text)
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            list(&path, files)?;
        } else if path.extension().is_some_and(|it| it == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, SystemTime};

    fn add(store: &Store, name: &str) -> io::Result<()> {
        store.add(name, |kind, to| {
            fs::write(to, kind)?;
            Ok(kind.len() as u64)
        })
    }

    #[test]
    fn those_that_were_used_last_are_kept() -> io::Result<()> {
        let dir = tempfile::tempdir()?;
        let store = Store(dir.path().join("store"));
        let names: Vec<_> = (0..KEPT + 3).map(|i| format!("a-{i}")).collect();
        let now = SystemTime::now();
        for (age, name) in names.iter().enumerate() {
            add(&store, name)?;
            let used = fs::File::options()
                .write(true)
                .open(store.0.join(name).join(SIZES))?;
            used.set_modified(now - Duration::from_secs(age as u64))?;
        }
        store.forget_old();
        for (age, name) in names.iter().enumerate() {
            assert_eq!(store.0.join(name).is_dir(), age < KEPT, "{name}");
        }
        Ok(())
    }

    #[test]
    fn what_can_not_be_written_leaves_nothing() -> io::Result<()> {
        let dir = tempfile::tempdir()?;
        let store = Store(dir.path().join("store"));
        let full = |_: &str, to: &Path| {
            fs::write(to, "half")?;
            Err(io::Error::other("full"))
        };
        assert!(store.add("a", full).is_err());
        assert_eq!(fs::read_dir(&store.0)?.count(), 0);
        Ok(())
    }
}
