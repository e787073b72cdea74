//! What cargo says of the user's own manifest, in cargo's words: the crates that seqz writes have manifests of their own, in
//! which a slip of the user's would have another place.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::{Metadata, MetadataCommand};

use crate::diagnostic::{Diagnostic, shown};
use crate::error::Error;

/// What cargo knows of the workspace of a manifest, but for what its packages depend on.
///
/// # Errors
/// When cargo can't read the manifest.
pub(crate) fn metadata(manifest: &Path) -> Result<Metadata, Error> {
    MetadataCommand::new()
        .manifest_path(manifest)
        .no_deps()
        .other_options(vec!["--offline".to_owned()])
        .exec()
        .map_err(|error| refused(manifest, &error))
}

/// Asks cargo whether it takes the manifest.
///
/// # Errors
/// What cargo says against the manifest. A cargo that can't be started says nothing: a program that is built already needs none,
/// and the build of any other reports it.
pub(crate) fn accepted(manifest: &Path) -> Result<(), Error> {
    match metadata(manifest) {
        Err(error @ Error::Program(_)) => Err(error),
        _ => Ok(()),
    }
}

/// Returns what is wrong with the dependencies of the package; `None` if cargo finds nothing wrong, or misses only what has to
/// be downloaded.
pub(crate) fn wrong_dependencies(manifest: &Path, host: &str) -> Option<Error> {
    let asked = MetadataCommand::new()
        .manifest_path(manifest)
        .other_options(["--offline", "--filter-platform", host].map(str::to_owned))
        .exec();
    match asked {
        Err(cargo_metadata::Error::CargoMetadata { stderr }) if stderr.contains("offline") => None,
        Err(error @ cargo_metadata::Error::CargoMetadata { .. }) => Some(refused(manifest, &error)),
        _ => None,
    }
}

/// Returns the manifest above a file, if it is no TOML, so that nobody can tell whether the file belongs to its package.
pub(crate) fn unreadable_above(file: &Path) -> Option<PathBuf> {
    if file.extension() != Some(OsStr::new("rs")) {
        return None;
    }
    let file = file.canonicalize().ok()?;
    let dirs = file.ancestors().skip(1);
    let mut manifests = dirs.map(|dir| dir.join("Cargo.toml"));
    let manifest = manifests.find(|it| it.is_file())?;
    let text = fs::read_to_string(&manifest).ok()?;
    text.parse::<toml::Table>().is_err().then_some(manifest)
}

/// cargo's words about a manifest that it doesn't take.
fn refused(manifest: &Path, error: &cargo_metadata::Error) -> Error {
    match error {
        cargo_metadata::Error::CargoMetadata { stderr } => Error::Program(vec![
            Diagnostic::error(format!("cargo can't read {}", shown(manifest))).note(stderr.trim()),
        ]),
        other => Error::Build {
            message: format!("cannot run `cargo metadata`: {other}"),
            output: String::new(),
        },
    }
}
