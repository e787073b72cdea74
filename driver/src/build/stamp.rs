//! What a worker was made of, in short: when that hasn't changed, cargo need not be asked.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::embed;
use crate::error::Error;
use crate::program::SOURCE_MAP;

/// A digest of all that goes into a worker: the generated files, the runtime, the versions locked, the compiler and its
/// flags.
pub(crate) fn of(files: &[(PathBuf, String)], lock_file: Option<&Path>) -> Result<String, Error> {
    let mut digest = Digest::new();
    digest.add(env!("CARGO_PKG_VERSION").as_bytes());
    digest.add(&compiler()?);
    // Whatever else has a say in how cargo builds.
    let mut variables: Vec<_> = env::vars_os()
        .filter(|(name, _)| matters(&name.to_string_lossy()))
        .collect();
    variables.sort();
    for (name, value) in variables {
        digest.add(name.as_encoded_bytes());
        digest.add(value.as_encoded_bytes());
    }
    for (path, text) in embed::worker_runtime(embed::Knows::None) {
        digest.add(path.as_os_str().as_encoded_bytes());
        digest.add(text.as_bytes());
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
fn compiler() -> Result<Vec<u8>, Error> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(&rustc)
        .arg("-vV")
        .output()
        .map_err(|e| Error::Build {
            message: format!("cannot run `{}`: {e}", rustc.display()),
            output: "seqz builds the transformed program with cargo and rustc".into(),
        })?;
    Ok(output.stdout)
}

/// FNV-1a over 128 bits. The standard library's hasher may change with the compiler, and the digest outlives a process.
struct Digest(u128);

impl Digest {
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

    const fn new() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }

    /// Adds one part, its length first, so that no two lists of parts read the same.
    fn add(&mut self, bytes: &[u8]) {
        for byte in (bytes.len() as u64).to_le_bytes().iter().chain(bytes) {
            self.0 = (self.0 ^ u128::from(*byte)).wrapping_mul(Self::PRIME);
        }
    }

    fn finish(&self) -> String {
        format!("{:032x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_together() {
        let digest = |parts: &[&str]| {
            let mut digest = Digest::new();
            for part in parts {
                digest.add(part.as_bytes());
            }
            digest.finish()
        };
        assert_ne!(digest(&["ab", "c"]), digest(&["a", "bc"]));
        assert_ne!(digest(&["ab"]), digest(&["ab", ""]));
        assert_eq!(digest(&["ab", "c"]), digest(&["ab", "c"]));
    }
}
