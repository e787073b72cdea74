//! The directories of what is fuzzed, and the files that are written there.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use toml::Table;

use crate::build::Variant;
use crate::embed;
use crate::error::Error;
use crate::generated_manifest;
use crate::lock::{self, Lock};
use crate::program::{Generated, Program};

/// The script that cargo runs in the place of rustc.
pub(super) const WRAPPER: &str = "fuzz/rustc.sh";

/// The paths of the files; the head of [`super`] lists them.
#[derive(Debug)]
pub(super) struct Layout {
    /// The name of the program's directory, unique to the program's path.
    pub(super) name: String,
    pub(super) lock: PathBuf,
    pub(super) runtime: PathBuf,
    /// The crates that the runtime knows there.
    knows: embed::Knows,
    pub(super) vendor: PathBuf,
    pub(super) build: PathBuf,
    /// The directory of the generated crate.
    pub(super) program: PathBuf,
    /// The directory of the corpora of the program's harnesses.
    pub(super) corpus: PathBuf,
    /// Where original programs are built with AddressSanitizer.
    original: PathBuf,
}

impl Layout {
    pub(super) fn new(program: &Program, target_dir: &Path) -> Result<Self, Error> {
        let dir = target_dir.join("fuzz");
        fs::create_dir_all(&dir).map_err(|e| file("create", &dir, e))?;
        let dir = dir.canonicalize().map_err(|e| file("read", &dir, e))?;
        let name = program.unique_name();
        Ok(Self {
            lock: dir.join("lock"),
            runtime: dir.join(program.knows().directory()),
            knows: program.knows(),
            vendor: dir.join("vendor"),
            build: dir.join("build"),
            program: dir.join(&name),
            corpus: dir.join(&name).join("corpus"),
            original: dir.join("original"),
            name,
        })
    }

    pub(super) fn artifacts(&self) -> PathBuf {
        self.program.join("artifacts")
    }

    /// Returns all files that cargo-fuzz needs, path and content: the crate, its fuzz target, and the configuration
    /// that says where the rest is.
    pub(super) fn files(&self, generated: &Generated) -> Vec<(PathBuf, String)> {
        let mut files = generated.files_for_building(&self.name, &self.runtime, Variant::FUZZED);
        let package = generated.package();
        let testers = generated.testers().filter(|(path, _)| {
            // Files for users who take the crate away are not needed here.
            !path.starts_with("proptest") && !path.starts_with("tests")
        });
        files.extend(testers.map(|(file, text)| {
            let text = if file == Path::new("fuzz/Cargo.toml") {
                generated_manifest::edited(text, |manifest| self.place(manifest, package))
            } else {
                text.to_owned()
            };
            (file.to_owned(), text)
        }));
        files
    }

    /// Leads the fuzz target's manifest to the crates where they are.
    fn place(&self, manifest: &mut Table, package: &str) {
        generated_manifest::rename(manifest, &format!("{}-fuzz", self.name));
        if let Some(entry) = generated_manifest::runtime(manifest) {
            generated_manifest::set_path(entry, &self.runtime);
        }
        if let Some(entry) = generated_manifest::dependency(manifest, "libfuzzer-sys") {
            generated_manifest::set_path(entry, &self.vendor.join("libfuzzer-sys"));
        }
        generated_manifest::rename_dependency(manifest, package, &self.name);
    }

    /// Returns the directory of the crate that runs the original program with AddressSanitizer.
    pub(super) fn sanitized(&self) -> PathBuf {
        self.original.join(&self.name)
    }

    /// Writes that crate, and the runtime that it links.
    pub(super) fn write_sanitized(&self, generated: &Generated) -> Result<(), Error> {
        let runtime = self.original.join(self.knows.directory());
        let crate_files = generated.files_for_building(&self.name, &runtime, Variant::SANITIZED);
        let runtime_files: Vec<_> = embed::worker_runtime(self.knows).collect();
        for (dir, files) in [(runtime, runtime_files), (self.sanitized(), crate_files)] {
            let kept: Vec<_> = files.iter().map(|(path, _)| path.clone()).collect();
            let text = files.iter();
            let text = text.map(|(path, text)| (path.clone(), text.as_str()));
            embed::write(&dir, text)
                .and_then(|()| embed::clean(&dir, &kept))
                .map_err(|e| file("write", &dir, e))?;
        }
        Ok(())
    }

    /// Writes the crate and the files that all programs share.
    pub(super) fn write(&self, files: &[(PathBuf, String)]) -> Result<(), Error> {
        let kept: Vec<_> = files.iter().map(|(path, _)| path.clone()).collect();
        let text = files
            .iter()
            .map(|(path, text)| (path.clone(), text.as_str()));
        embed::write(&self.program, text)
            .and_then(|()| embed::clean(&self.program, &kept))
            .and_then(|()| executable(&self.program.join(WRAPPER)))
            .map_err(|e| file("write", &self.program, e))?;
        let runtime: Vec<_> = embed::runtime(self.knows).collect();
        let text = runtime
            .iter()
            .map(|(path, text)| (path.clone(), text.as_str()));
        // An earlier seqz may have left files that belong to no module of this one, or to one of another name.
        let kept: Vec<_> = runtime.iter().map(|(path, _)| path.clone()).collect();
        embed::write(&self.runtime, text)
            .and_then(|()| embed::clean(&self.runtime, &kept))
            .map_err(|e| file("write", &self.runtime, e))?;
        embed::write(&self.vendor, embed::fuzzer()).map_err(|e| file("write", &self.vendor, e))
    }
}

/// Takes the lock on fuzzing this program: processes that fuzz it share its target, corpus and artifacts. `None`:
/// `stop` was set while another process held the lock. `waiting` is told which process that is.
///
/// # Errors
/// Errors of the file system.
pub fn lock(
    program: &Program,
    target_dir: &Path,
    stop: &AtomicBool,
    waiting: impl FnOnce(&str),
) -> Result<Option<Lock>, Error> {
    let layout = Layout::new(program, target_dir)?;
    let path = layout
        .program
        .with_file_name(format!("{}.lock", layout.name));
    lock::take(&path, stop, waiting)
}

/// Makes the script of a crate that has been written to `dir` executable.
///
/// # Errors
/// Errors of the file system.
pub fn make_runnable(dir: &Path) -> Result<(), Error> {
    let script = dir.join(WRAPPER);
    executable(&script).map_err(|e| file("write", &script, e))
}

#[cfg(unix)]
fn executable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

pub(super) fn file(what: &'static str, path: &Path, source: io::Error) -> Error {
    Error::File {
        what,
        path: path.to_owned(),
        source,
    }
}
