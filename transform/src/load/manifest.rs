//! The user's `Cargo.toml`: which file is the crate's root, its edition, and what the generated crate must depend on.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::targets::{self, Target};
use crate::error::Error;
use crate::source::shown;

/// What seqz needs to know of the user's package.
#[derive(Clone, Debug)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) edition: String,
    /// The crate's root file.
    pub(crate) root: PathBuf,
    /// The manifest, unless the package is a lone file.
    pub(crate) manifest: Option<PathBuf>,
    /// The root is a program, so its `main` can be a harness.
    pub(crate) has_main: bool,
    /// The name under which the package's other targets know the library.
    pub(crate) library: Option<String>,
    /// The package's tests and programs, if the root is a library.
    pub(crate) targets: Vec<Target>,
    /// `[dependencies]` and `[dev-dependencies]` together, inheritance and paths resolved.
    pub(crate) dependencies: Table,
    pub(crate) features: Table,
    /// The `[patch]` of the workspace, paths resolved.
    pub(crate) patch: Table,
}

const DEFAULT_EDITION: &str = "2024";

impl Package {
    /// A package of a single file.
    pub(crate) fn of_file(path: &Path) -> Result<Self, Error> {
        if path.extension().is_none_or(|extension| extension != "rs") {
            let reason =
                "give a `.rs` file, a directory with a `Cargo.toml`, or a `Cargo.toml`".to_string();
            return Err(Error::NotACrate {
                path: shown(path),
                reason,
            });
        }
        // A root file inside a crate is that crate's, with its edition and dependencies.
        if let Some(package) = owner(path) {
            return Ok(package);
        }
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        Ok(Package {
            name: crate_name(&stem),
            edition: DEFAULT_EDITION.into(),
            root: path.to_path_buf(),
            manifest: None,
            has_main: true,
            library: None,
            targets: Vec::new(),
            dependencies: Table::new(),
            features: Table::new(),
            patch: Table::new(),
        })
    }

    /// A package of text in a test.
    #[cfg(test)]
    pub(crate) fn of_text() -> Self {
        Self::of_file(Path::new("text.rs")).unwrap()
    }

    /// The package of a manifest.
    pub(crate) fn read(manifest: &Path) -> Result<Self, Error> {
        let dir = manifest.parent().unwrap_or(Path::new("")).to_path_buf();
        if !manifest.is_file() {
            let reason =
                "it has no `Cargo.toml`; give a crate, a workspace member, or a `.rs` file"
                    .to_string();
            return Err(Error::NotACrate {
                path: shown(&dir),
                reason,
            });
        }
        let table = read_table(manifest)?;
        let wrong = |message: &str| Error::Manifest {
            path: shown(manifest),
            message: message.to_string(),
        };
        let Some(package) = table.get("package").and_then(Value::as_table) else {
            let members = members(&table);
            let hint = if members.is_empty() {
                String::new()
            } else {
                format!(": {}", members.join(", "))
            };
            return Err(wrong(&format!(
                "this is a workspace without a package of its own; give a member{hint}"
            )));
        };
        let name = package
            .get("name")
            .and_then(Value::as_str)
            .ok_or_else(|| wrong("the package has no name"))?;
        let workspace = if inherits(&table) {
            Some(workspace_of(manifest, &table)?)
        } else {
            None
        };
        let shared = |key: &str| {
            workspace
                .as_ref()
                .and_then(|(_, table)| table.get(key))
                .and_then(Value::as_table)
        };
        let edition = match package.get("edition") {
            Some(Value::String(edition)) => edition.clone(),
            Some(Value::Table(_)) => shared("package")
                .and_then(|package| package.get("edition"))
                .and_then(Value::as_str)
                .ok_or_else(|| wrong("the workspace sets no edition to inherit"))?
                .to_string(),
            // cargo's default when the key is missing.
            _ => "2015".to_string(),
        };
        let (root, has_main) = root_file(&dir, &table)
            .ok_or_else(|| wrong("there is no src/lib.rs or src/main.rs"))?;
        let library = (!has_main).then(|| {
            let named = table
                .get("lib")
                .and_then(|lib| lib.get("name"))
                .and_then(Value::as_str);
            named.unwrap_or(name).replace('-', "_")
        });
        let targets = if has_main {
            Vec::new()
        } else {
            targets::discover(&dir, &table)
        };
        let mut dependencies = Table::new();
        for section in ["dev-dependencies", "dependencies"] {
            let Some(own) = table.get(section).and_then(Value::as_table) else {
                continue;
            };
            for (name, dependency) in own {
                let resolved = resolve(&dir, workspace.as_ref(), name, dependency)
                    .map_err(|message| wrong(&message))?;
                dependencies.insert(name.clone(), resolved);
            }
        }
        let features = table
            .get("features")
            .and_then(Value::as_table)
            .cloned()
            .unwrap_or_default();
        let patch = patch(manifest, &table)?;
        Ok(Package {
            name: name.to_string(),
            edition,
            root,
            manifest: Some(manifest.to_path_buf()),
            has_main,
            library,
            targets,
            dependencies,
            features,
            patch,
        })
    }

    /// The features that are on by default.
    pub(crate) fn features_on(&self) -> BTreeSet<String> {
        let mut on = BTreeSet::new();
        let mut open = vec!["default".to_string()];
        while let Some(feature) = open.pop() {
            let Some(enabled) = self.features.get(&feature).and_then(Value::as_array) else {
                continue;
            };
            if on.insert(feature) {
                open.extend(enabled.iter().filter_map(Value::as_str).map(str::to_string));
            }
        }
        on
    }
}

/// A file name as a package name.
fn crate_name(stem: &str) -> String {
    let name: String = stem
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '_' {
                c
            } else {
                '-'
            }
        })
        .collect();
    let name = name.trim_matches('-');
    if name.chars().next().is_some_and(|c| c.is_ascii_alphabetic()) {
        name.to_string()
    } else {
        format!("p-{name}")
    }
}

/// The package that has this very file as the root of one of its targets; of the others only the library is kept.
fn owner(path: &Path) -> Option<Package> {
    let path = path.canonicalize().ok()?;
    let manifest = path
        .ancestors()
        .skip(1)
        .map(|dir| dir.join("Cargo.toml"))
        .find(|manifest| manifest.is_file())?;
    let mut package = Package::read(&manifest).ok()?;
    let is_it = |root: &Path| root.canonicalize().is_ok_and(|root| root == path);
    if is_it(&package.root) {
        package.targets.clear();
        return Some(package);
    }
    let dir = manifest.parent()?;
    let all = package
        .targets
        .iter()
        .cloned()
        .chain(targets::examples(dir));
    let target = all.into_iter().find(|target| is_it(&target.root))?;
    if package.has_main {
        // There is no library that it could use.
        package.root = target.root;
        package.has_main = true;
        package.targets.clear();
    } else {
        package.targets = vec![target];
    }
    Some(package)
}

fn read_table(path: &Path) -> Result<Table, Error> {
    let text = fs::read_to_string(path).map_err(|cause| Error::read(path, cause))?;
    text.parse::<Table>().map_err(|error| Error::Manifest {
        path: shown(path),
        message: error.message().to_string(),
    })
}

fn members(table: &Table) -> Vec<String> {
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

/// Whether any value is `workspace = true`.
fn inherits(table: &Table) -> bool {
    table.iter().any(|(key, value)| match value {
        Value::Boolean(true) => key == "workspace",
        Value::Table(table) => inherits(table),
        _ => false,
    })
}

/// The directory and the `[workspace]` table of the workspace that a manifest belongs to.
fn workspace_of(manifest: &Path, own: &Table) -> Result<(PathBuf, Table), Error> {
    let workspace = workspace_above(manifest, own)?.and_then(|(dir, root)| {
        let workspace = root.get("workspace")?.as_table()?;
        Some((dir, workspace.clone()))
    });
    workspace.ok_or_else(|| Error::Manifest {
        path: shown(manifest),
        message: "it inherits from a workspace, but no directory above has one".to_string(),
    })
}

/// The directory and the manifest of the workspace that a manifest belongs to, if it belongs to one.
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
    for dir in candidates {
        let candidate = dir.join("Cargo.toml");
        if !candidate.is_file() {
            continue;
        }
        let table = read_table(&candidate)?;
        if table.get("workspace").is_some_and(Value::is_table) {
            return Ok(Some((dir, table)));
        }
    }
    Ok(None)
}

/// The `[patch]` that cargo goes by, paths resolved: it is that of the workspace's root.
fn patch(manifest: &Path, own: &Table) -> Result<Table, Error> {
    let of = |table: &Table| table.get("patch").and_then(Value::as_table).cloned();
    let (dir, mut patch) = match (of(own), workspace_above(manifest, own)?) {
        (Some(patch), _) => {
            let dir = manifest.parent().unwrap_or(Path::new(""));
            (dir.to_path_buf(), patch)
        }
        (None, Some((dir, root))) => (dir, of(&root).unwrap_or_default()),
        (None, None) => return Ok(Table::new()),
    };
    let sources = patch.iter_mut().filter_map(|(_, all)| all.as_table_mut());
    for (_, dependency) in sources.flatten() {
        if let Some(Value::String(path)) = dependency.get_mut("path") {
            absolute(&dir, path);
        }
    }
    Ok(patch)
}

/// Makes a path absolute that a manifest in `dir` has.
fn absolute(dir: &Path, path: &mut String) {
    let absolute = dir.join(&*path);
    *path = absolute
        .canonicalize()
        .unwrap_or(absolute)
        .to_string_lossy()
        .into_owned();
}

/// The root of the library, else of the program.
fn root_file(dir: &Path, table: &Table) -> Option<(PathBuf, bool)> {
    let lib = table
        .get("lib")
        .and_then(|lib| lib.get("path"))
        .and_then(Value::as_str)
        .unwrap_or("src/lib.rs");
    let bins = table
        .get("bin")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let mut roots = vec![(dir.join(lib), false), (dir.join("src/main.rs"), true)];
    roots.extend(bins.filter_map(|bin| Some((dir.join(bin.get("path")?.as_str()?), true))));
    roots.into_iter().find(|(root, _)| root.is_file())
}

/// A dependency that means the same in a manifest elsewhere.
fn resolve(
    dir: &Path,
    workspace: Option<&(PathBuf, Table)>,
    name: &str,
    dependency: &Value,
) -> Result<Value, String> {
    let Value::Table(own) = dependency else {
        return Ok(dependency.clone());
    };
    let mut own = own.clone();
    let mut base = dir.to_path_buf();
    if own.remove("workspace") == Some(Value::Boolean(true)) {
        let missing = || format!("the workspace has no dependency `{name}` to inherit");
        let (root, workspace) = workspace.ok_or_else(missing)?;
        let shared = workspace
            .get("dependencies")
            .and_then(|all| all.get(name))
            .ok_or_else(missing)?;
        let mut merged = match shared {
            Value::Table(table) => table.clone(),
            version => Table::from_iter([("version".to_string(), version.clone())]),
        };
        base = root.clone();
        for (key, value) in own {
            match (merged.get_mut(&key), value) {
                (Some(Value::Array(list)), Value::Array(more)) => list.extend(more),
                (_, value) => drop(merged.insert(key, value)),
            }
        }
        own = merged;
    }
    if let Some(Value::String(path)) = own.get_mut("path") {
        absolute(&base, path);
    }
    Ok(Value::Table(own))
}
