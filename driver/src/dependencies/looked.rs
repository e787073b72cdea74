//! A cache of what was seen in the source of a package: a package in a registry never changes.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::path::PathBuf;

use seqz_transform::sharing::{Cfgs, Shared, look_through};

use super::graph::Package;

/// The version of the analysis; to be raised when the same source gives another result.
const VERSION: u32 = 5;

/// Returns what a package could share, from the cache or by looking at the source.
pub(super) fn look(package: &Package, target: &BTreeSet<String>) -> Vec<Shared> {
    let mut cfgs = target.clone();
    cfgs.extend(
        package
            .features
            .iter()
            .map(|name| format!("feature={name:?}")),
    );
    let file = package.identity.as_ref().and_then(|identity| {
        // This hasher gives the same digest in every process.
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        let key = hasher.hash_one((VERSION, env!("CARGO_PKG_VERSION"), identity, &cfgs));
        Some(directory()?.join(format!("{}-{key:016x}.json", package.name)))
    });
    let kept = file.as_ref().and_then(|file| fs::read(file).ok());
    if let Some(kept) = kept.and_then(|text| serde_json::from_slice(&text).ok()) {
        return kept;
    }
    let found = look_through(&package.source, &Cfgs(cfgs));
    if let Some(file) = file {
        keep(&file, &found);
    }
    found
}

/// Returns the directory of the cache.
fn directory() -> Option<PathBuf> {
    let set = |name: &str| {
        env::var_os(name)
            .filter(|it| !it.is_empty())
            .map(PathBuf::from)
    };
    let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))?;
    Some(cache.join("seqz").join("looked-through"))
}

/// Writes a result to the cache. Another process may do so at the same time: the last one to write leaves a whole file.
/// A result that can't be written is computed again next time.
fn keep(file: &std::path::Path, found: &[Shared]) {
    let Some(dir) = file.parent() else { return };
    let written = fs::create_dir_all(dir).and_then(|()| {
        let new = tempfile::NamedTempFile::new_in(dir)?;
        serde_json::to_writer(&new, found)?;
        new.persist(file).map_err(|error| error.error)
    });
    drop(written);
}
