//! Where to build.

use std::env;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::manifest::metadata;
use crate::program::Program;

/// The directory that seqz builds in: what the command line says, else `SEQZ_TARGET_DIR`, else `target/seqz` of the
/// program's workspace, else, for a file that is no part of a crate, a cache directory.
///
/// # Errors
/// When there is no such place, or cargo can't tell the workspace's target directory.
pub fn target_dir(given: Option<&Path>, program: &Program) -> Result<PathBuf, Error> {
    if let Some(dir) = given {
        return Ok(dir.to_owned());
    }
    if let Some(dir) = set("SEQZ_TARGET_DIR") {
        return Ok(dir);
    }
    if let Some(manifest) = program.manifest() {
        return Ok(metadata(manifest)?
            .target_directory
            .join("seqz")
            .into_std_path_buf());
    }
    set("XDG_CACHE_HOME")
        .or_else(|| Some(set("HOME")?.join(".cache")))
        .map(|cache| cache.join("seqz"))
        .ok_or_else(|| Error::Option {
            message: "there is no place to build in: neither XDG_CACHE_HOME nor HOME is set".into(),
            help: "name one with --target-dir".into(),
        })
}

fn set(name: &str) -> Option<PathBuf> {
    env::var_os(name)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}
