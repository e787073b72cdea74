//! The workspace that a package belongs to: what the package inherits from it, and what only its root decides.

use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::error::Error;
use crate::source::shown;

/// The root of a package's workspace; the package itself, if it belongs to none.
pub(super) struct Workspace {
    dir: PathBuf,
    /// The whole manifest of the root.
    root: Table,
    patch: Table,
}

impl Workspace {
    /// Finds the workspace of the package with this manifest.
    pub(super) fn of(manifest: &Path, own: &Table) -> Result<Self, Error> {
        let here = manifest.parent().unwrap_or(Path::new(""));
        let (dir, root) =
            workspace_above(manifest, own)?.unwrap_or_else(|| (here.to_path_buf(), own.clone()));
        let patch = if own.contains_key("patch") {
            patch(here, own)
        } else {
            patch(&dir, &root)
        };
        Ok(Workspace { dir, root, patch })
    }

    fn shared(&self, key: &str) -> Option<&Value> {
        self.root.get("workspace")?.get(key)
    }

    /// Returns the value of a key of `[package]`, from the workspace where the package inherits it.
    pub(super) fn field<'a>(&'a self, own: &'a Table, key: &str) -> Option<&'a Value> {
        let value = own.get("package")?.get(key)?;
        let inherited = value.get("workspace") == Some(&Value::Boolean(true));
        if inherited {
            self.shared("package")?.get(key)
        } else {
            Some(value)
        }
    }

    /// Returns a dependency that members inherit, and the directory that its path is relative to.
    pub(super) fn dependency(&self, name: &str) -> Option<(&Path, &Value)> {
        let dependency = self.shared("dependencies")?.get(name)?;
        Some((&self.dir, dependency))
    }

    /// Returns the version of cargo's resolver. `edition` is the package's.
    pub(super) fn resolver(&self, edition: &str) -> String {
        let package = self.root.get("package");
        let given = self
            .shared("resolver")
            .or_else(|| package?.get("resolver"))
            .and_then(Value::as_str);
        let by_edition = match edition {
            "2015" | "2018" => "1",
            "2021" => "2",
            _ => "3",
        };
        // A workspace without a package of its own has no edition.
        let default = if package.is_some() { by_edition } else { "1" };
        given.unwrap_or(default).to_string()
    }

    /// Returns a setting of the profile that tests are built with.
    pub(super) fn of_profile(&self, key: &str) -> Option<bool> {
        let profiles = self.root.get("profile")?;
        let of = |profile: &str| profiles.get(profile)?.get(key)?.as_bool();
        of("test").or_else(|| of("dev"))
    }

    /// Returns the `[patch]`, with absolute paths.
    pub(super) fn patch(&self) -> Table {
        self.patch.clone()
    }

    /// Returns the directory of the root, in which cargo calls rustc for the members.
    pub(super) fn directory(&self) -> &Path {
        &self.dir
    }

    /// Returns the directory in which cargo puts its builds.
    pub(super) fn target_directory(&self) -> PathBuf {
        let set = std::env::var_os("CARGO_TARGET_DIR").filter(|dir| !dir.is_empty());
        let dir = set.map_or_else(|| self.dir.join("target"), PathBuf::from);
        std::path::absolute(&dir).unwrap_or(dir)
    }
}

pub(super) fn read_table(path: &Path) -> Result<Table, Error> {
    let text = fs::read_to_string(path).map_err(|cause| Error::read(path, cause))?;
    text.parse::<Table>().map_err(|error| Error::Manifest {
        path: shown(path),
        message: error.message().to_string(),
    })
}

/// Returns the members that a workspace's root names.
pub(super) fn members(table: &Table) -> Vec<String> {
    let members = table
        .get("workspace")
        .and_then(|workspace| workspace.get("members"))
        .and_then(Value::as_array);
    members
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_string)
        .collect()
}

/// Returns the directory and the manifest of the workspace that a manifest belongs to, if there is one.
fn workspace_above(manifest: &Path, own: &Table) -> Result<Option<(PathBuf, Table)>, Error> {
    let path = manifest
        .canonicalize()
        .map_err(|cause| Error::read(manifest, cause))?;
    let named = own
        .get("package")
        .and_then(|package| package.get("workspace"))
        .and_then(Value::as_str);
    let dir = path.parent().unwrap_or(Path::new("/"));
    let candidates: Vec<PathBuf> = match named {
        Some(root) => vec![dir.join(root)],
        None => dir.ancestors().map(Path::to_path_buf).collect(),
    };
    for candidate_dir in candidates {
        let candidate = candidate_dir.join("Cargo.toml");
        if !candidate.is_file() {
            continue;
        }
        let table = read_table(&candidate)?;
        match table.get("workspace") {
            Some(workspace) if excludes(&candidate_dir, workspace, dir) => return Ok(None),
            Some(Value::Table(_)) => return Ok(Some((candidate_dir, table))),
            _ => {}
        }
    }
    Ok(None)
}

/// Returns the `[patch]` of a manifest in `dir`, with absolute paths.
fn patch(dir: &Path, manifest: &Table) -> Table {
    let patch = manifest.get("patch").and_then(Value::as_table);
    let mut patch = patch.cloned().unwrap_or_default();
    let sources = patch.iter_mut().filter_map(|(_, all)| all.as_table_mut());
    for (_, dependency) in sources.flatten() {
        if let Some(Value::String(path)) = dependency.get_mut("path") {
            absolute(dir, path);
        }
    }
    patch
}

/// Whether a workspace in `root` excludes a package in `dir`.
fn excludes(root: &Path, workspace: &Value, dir: &Path) -> bool {
    let excluded = workspace.get("exclude").and_then(Value::as_array);
    let mut excluded = excluded.into_iter().flatten().filter_map(Value::as_str);
    excluded.any(|path| dir.starts_with(root.join(path)))
}

/// Makes a path of a manifest in `dir` absolute.
pub(super) fn absolute(dir: &Path, path: &mut String) {
    let absolute = dir.join(&*path);
    *path = absolute
        .canonicalize()
        .unwrap_or(absolute)
        .to_string_lossy()
        .into_owned();
}
