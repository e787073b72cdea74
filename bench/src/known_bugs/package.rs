//! The packages, one for each bug.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use toml::Table;

use super::searched::Searched;

/// A version of a crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// It has the bug.
    Affected,
    /// It does not have it any more.
    Fixed,
}

/// A known bug.
pub(super) struct Bug {
    /// The name of the package's directory.
    pub(super) name: String,
    dir: PathBuf,
    manifest: String,
    /// The crate that has the bug.
    pub(super) of: String,
    pub(super) affected: String,
    /// The version that mends the bug, if there is one.
    pub(super) fixed: Option<String>,
    /// Where the bug is told of.
    pub(super) told: String,
    /// What is wrong, in a few words.
    pub(super) what: String,
    /// The kinds of failures by which the bug shows.
    kinds: Vec<String>,
    /// What is wrong with the mended version, too.
    pub(super) remains: Option<Remains>,
}

/// What is wrong with the affected version and with the mended one, as is known.
pub(super) struct Remains {
    /// The kinds of failures by which that shows.
    kinds: Vec<String>,
    /// Where it is told of.
    pub(super) told: String,
}

impl Bug {
    /// All bugs, by name.
    pub(super) fn all(dir: &Path) -> io::Result<Vec<Self>> {
        let mut dirs: Vec<PathBuf> = fs::read_dir(dir)?
            .map(|entry| Ok(entry?.path()))
            .collect::<io::Result<_>>()?;
        dirs.retain(|dir| dir.is_dir());
        dirs.sort();
        dirs.into_iter().map(Self::load).collect()
    }

    fn load(dir: PathBuf) -> io::Result<Self> {
        let manifest = fs::read_to_string(dir.join("Cargo.toml"))?;
        let wrong = |what: &str| {
            let text = format!("{}: {what}", dir.join("Cargo.toml").display());
            io::Error::new(io::ErrorKind::InvalidData, text)
        };
        let table: Table = manifest.parse().map_err(|_| wrong("it can't be parsed"))?;
        let known = table["package"]["metadata"]["known-bug"].clone();
        let text = |key: &str| {
            let value = known.get(key).and_then(toml::Value::as_str);
            value
                .map(str::to_owned)
                .ok_or_else(|| wrong(&format!("the bug has no `{key}`")))
        };
        let remains = known.get("remains").map(|it| Remains {
            kinds: kinds(it),
            told: it["told"].as_str().unwrap_or_default().to_owned(),
        });
        Ok(Self {
            name: dir
                .file_name()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default(),
            of: text("crate")?,
            affected: text("affected")?,
            fixed: text("fixed").ok(),
            told: text("told")?,
            what: text("what")?,
            kinds: kinds(&known),
            remains,
            manifest: manifest.clone(),
            dir,
        })
    }

    /// Whether a search has found the bug.
    pub(super) fn is_found(&self, searched: &Searched) -> bool {
        searched.kinds.iter().any(|kind| self.kinds.contains(kind))
    }

    /// Whether a search of the mended version has found nothing but what is known to be wrong with it still.
    pub(super) fn is_clean(&self, searched: &Searched) -> bool {
        let remains = self.remains.iter().flat_map(|it| &it.kinds);
        let remains: Vec<_> = remains.collect();
        searched.took_place() && searched.kinds.iter().all(|kind| remains.contains(&kind))
    }

    /// Writes the package with this version of the crate below `scratch`, and has cargo fetch what it depends on. `None`:
    /// there is no such version.
    pub(super) fn write(&self, version: Version, scratch: &Path) -> io::Result<Option<PathBuf>> {
        let (name, lock, wanted) = match version {
            Version::Affected => ("affected", "affected.lock", Some(&self.affected)),
            Version::Fixed => ("fixed", "fixed.lock", self.fixed.as_ref()),
        };
        let Some(wanted) = wanted else {
            return Ok(None);
        };
        let to = scratch.join(format!("{}-{name}", self.name));
        fs::create_dir_all(to.join("src"))?;
        let pinned = |version: &str| format!("\"={version}\"");
        let manifest = self
            .manifest
            .replace(&pinned(&self.affected), &pinned(wanted));
        fs::write(to.join("Cargo.toml"), manifest)?;
        fs::copy(self.dir.join(lock), to.join("Cargo.lock"))?;
        fs::copy(self.dir.join("src/lib.rs"), to.join("src/lib.rs"))?;
        let mut cargo = std::process::Command::new("cargo");
        let fetched = cargo
            .args(["fetch", "--locked", "--quiet"])
            .current_dir(&to)
            .status()?;
        if fetched.success() {
            Ok(Some(to))
        } else {
            let text = format!("{}: cargo can't fetch what it depends on", to.display());
            Err(io::Error::other(text))
        }
    }
}

/// The kinds of failures that a table names.
fn kinds(of: &toml::Value) -> Vec<String> {
    let all = of.get("kinds").and_then(toml::Value::as_array);
    let all = all.into_iter().flatten();
    all.filter_map(|it| Some(it.as_str()?.to_owned())).collect()
}
