//! The stamp: a digest of what a worker was made of. While the stamp stays the same, cargo need not be asked.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::digest::Digest;
use crate::embed;
use crate::error::Error;
use crate::program::SOURCE_MAP;
use crate::rustc::{self, Silent};

/// A digest of all that goes into a worker: the generated files, the runtime, the versions locked, the compiler and its
/// flags.
pub(crate) fn of(files: &[(PathBuf, String)], lock_file: Option<&Path>) -> Result<String, Error> {
    let mut digest = Digest::new();
    digest.add(env!("CARGO_PKG_VERSION").as_bytes());
    digest.add(compiler()?.as_bytes());
    // Whatever else has a say in how cargo builds.
    let mut variables: Vec<_> = env::vars_os()
        .filter(|(name, _)| matters(&name.to_string_lossy()))
        .collect();
    variables.sort();
    for (name, value) in variables {
        digest.add(name.as_encoded_bytes());
        digest.add(value.as_encoded_bytes());
    }
    for part in embed::worker_runtime_in_short() {
        digest.add(part.as_bytes());
    }
    for (path, text) in files {
        // Where the user's files are seen from the working directory is nothing to the worker.
        if path == Path::new(SOURCE_MAP) {
            continue;
        }
        digest.add(path.as_os_str().as_encoded_bytes());
        for line in compiled_lines(path, text) {
            digest.add(line.as_bytes());
        }
    }
    if let Some(path) = lock_file {
        digest.add(&fs::read(path).map_err(|e| super::file("read", path, e))?);
    }
    Ok(digest.finish())
}

/// The lines of a generated file but for what its head says: of seqz's own files, that tells where the user's are.
fn compiled_lines<'t>(path: &Path, text: &'t str) -> impl Iterator<Item = &'t str> {
    let is_own = path.starts_with("src/p_hat") || path == Path::new("src/p_hat.rs");
    let lines = text.split_inclusive('\n');
    lines.filter(move |line| !(is_own && line.starts_with("//!")))
}

fn matters(variable: &str) -> bool {
    matches!(
        variable,
        "RUSTFLAGS" | "CARGO_ENCODED_RUSTFLAGS" | "RUSTC_WRAPPER"
    ) || variable.starts_with("CARGO_BUILD_")
        || variable.starts_with("CARGO_PROFILE_")
        || variable.starts_with("CARGO_TARGET_")
            && variable != "CARGO_TARGET_DIR"
            && variable != "CARGO_TARGET_TMPDIR"
}

/// What `rustc -vV` prints: version, commit and host.
fn compiler() -> Result<String, Error> {
    rustc::says(&["-vV"]).map_err(|Silent { message, output }| Error::Build { message, output })
}
