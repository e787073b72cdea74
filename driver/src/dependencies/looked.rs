//! What was seen in the source of a package, kept for the next time: what a registry has never changes.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::path::PathBuf;

use seqz_transform::sharing::{Cfgs, Shared, look_through};

use super::graph::Package;

/// Goes up when the same source is seen in another way.
const VERSION: u32 = 3;

/// What a package could share, from what is kept, or by looking.
pub(super) fn look(package: &Package, target: &BTreeSet<String>) -> Vec<Shared> {
    let mut cfgs = target.clone();
    cfgs.extend(
        package
            .features
            .iter()
            .map(|name| format!("feature={name:?}")),
    );
    let file = package.identity.as_ref().and_then(|identity| {
        // The same in every process.
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

/// Where that is kept.
fn directory() -> Option<PathBuf> {
    let set = |name: &str| {
        env::var_os(name)
            .filter(|it| !it.is_empty())
            .map(PathBuf::from)
    };
    let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))?;
    Some(cache.join("seqz").join("looked-through"))
}

/// Another process may do the same: whoever is last leaves a whole file. What can't be kept is looked at again.
fn keep(file: &std::path::Path, found: &[Shared]) {
    let Some(dir) = file.parent() else { return };
    let written = fs::create_dir_all(dir).and_then(|()| {
        let new = tempfile::NamedTempFile::new_in(dir)?;
        serde_json::to_writer(&new, found)?;
        new.persist(file).map_err(|error| error.error)
    });
    drop(written);
}
