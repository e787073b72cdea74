//! Does the program compile as the user wrote it?

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::{env, fs};

use cargo_metadata::diagnostic::{Diagnostic as Rustc, DiagnosticLevel};

use super::cargo;
use crate::error::Error;
use crate::program::Program;

/// rustc's errors about the program as it is. Empty where it compiles, or where that can't be told. `stop` breaks the
/// question off.
pub(super) fn errors(
    program: &Program,
    target_dir: &Path,
    stop: &AtomicBool,
) -> Result<Vec<Rustc>, Error> {
    let _kept = program.lock_path().map(KeptLock::of);
    let found = match program.manifest() {
        Some(manifest) => match cargo::check(manifest, program.features(), target_dir, stop)? {
            cargo::Outcome::Built(_) => Vec::new(),
            cargo::Outcome::Failed(failure) => failure.errors,
        },
        None => file(program)?,
    };
    // cargo compiles the library once more for its tests, with the same errors.
    let mut told = HashSet::new();
    // `seqz::assume` is for seqz alone; without it the name means nothing.
    Ok(found
        .into_iter()
        .filter(|error| !names_seqz(error))
        .filter(|error| told.insert(error.rendered.clone().unwrap_or(error.message.clone())))
        .collect())
}

/// A user's `Cargo.lock`, which is as it was once this is dropped: cargo writes one that is missing, and mends one that does
/// not fit, but it is not for seqz to choose the versions of a project.
struct KeptLock {
    path: PathBuf,
    text: Option<Vec<u8>>,
}

impl KeptLock {
    fn of(path: PathBuf) -> Self {
        let text = fs::read(&path).ok();
        Self { path, text }
    }
}

impl Drop for KeptLock {
    fn drop(&mut self) {
        let now = fs::read(&self.path).ok();
        if now == self.text {
            return;
        }
        // What can't be put back is left as cargo left it, which is right, too.
        let _ = match &self.text {
            Some(text) => fs::write(&self.path, text),
            None => fs::remove_file(&self.path),
        };
    }
}

fn file(program: &Program) -> Result<Vec<Rustc>, Error> {
    let failed = |e: std::io::Error| Error::Build {
        message: format!("cannot run rustc: {e}"),
        output: String::new(),
    };
    let out = tempfile::tempdir().map_err(failed)?;
    let output = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .args([
            "--test",
            "--emit=metadata",
            "--error-format=json",
            "--cap-lints=allow",
            "--edition",
        ])
        .arg(program.edition())
        .arg("--out-dir")
        .arg(out.path())
        .arg(program.root())
        .output()
        .map_err(failed)?;
    if output.status.success() {
        return Ok(Vec::new());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    Ok(text
        .lines()
        .filter_map(|line| serde_json::from_str::<Rustc>(line).ok())
        .filter(|message| {
            matches!(message.level, DiagnosticLevel::Error) && !message.spans.is_empty()
        })
        .collect())
}

fn names_seqz(error: &Rustc) -> bool {
    let code = error.code.as_ref().map(|code| code.code.as_str());
    matches!(code, Some("E0432" | "E0433"))
        && (error.message.contains("`seqz") || error.message.contains("`seqz_runtime"))
}
