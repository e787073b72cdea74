//! The user's `Cargo.toml`: which file is the crate's root, its edition, and what the generated crate must depend on.

use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::dependencies::Dependencies;
use super::environment;
use super::libraries::LibrarySource;
use super::targets::{self, Target};
use super::workspace::{Workspace, members, read_table};
use crate::error::Error;
use crate::source::shown;

/// What seqz needs to know of the user's package.
#[derive(Clone, Debug)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// The name that the crate has for rustc.
    pub(crate) crate_name: String,
    pub(crate) edition: String,
    /// The path of the crate's root file.
    pub(crate) root: PathBuf,
    /// The path of the manifest; `None` for a lone file.
    pub(crate) manifest: Option<PathBuf>,
    /// Whether the root is a program, so that its `main` can be a harness.
    pub(crate) has_main: bool,
    /// The name under which the package's other targets know the library.
    pub(crate) library: Option<String>,
    /// The package's tests and programs; empty unless the root is a library.
    pub(crate) targets: Vec<Target>,
    pub(crate) dependencies: Dependencies,
    /// The `[patch]` of the workspace, with absolute paths.
    pub(crate) patch: Table,
    /// The version of cargo's resolver.
    pub(crate) resolver: String,
    /// The environment variables that cargo sets for the package; empty for a lone file.
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) build_script: Option<PathBuf>,
    /// The native library that the package links, which cargo names to its build script alone. The generated crate
    /// claims no native library: the package itself may be among its dependencies.
    pub(crate) links: Option<String>,
    /// Whether the profile of the package's tests has debug assertions; below, whether it has overflow checks.
    pub(crate) debug_assertions: bool,
    pub(crate) overflow_checks: bool,
    /// The directory in which cargo calls rustc, which the names of files are relative to; `None` for a lone file.
    pub(crate) called_in: Option<PathBuf>,
    /// The directory in which cargo puts the package's build.
    pub(crate) target_directory: Option<PathBuf>,
    /// Whether the package is a library that the program depends on: its kind, and the places of its files, stay as they
    /// are.
    pub(crate) is_dependency: bool,
}

const DEFAULT_EDITION: &str = "2024";

impl Package {
    /// Whether the package may use other crates than std.
    pub(crate) fn depends(&self) -> bool {
        let sections = self.dependencies.sections.iter();
        let mut used = sections.filter(|(section, _)| *section != "build-dependencies");
        used.any(|(_, of)| of.as_table().is_none_or(|of| !of.is_empty()))
    }

    /// Whether what the build script writes can only be reached through the names of its own module: the script writes no
    /// implementation, and has all that it writes from its own text.
    pub(crate) fn build_only_declares(&self) -> bool {
        let Some(script) = &self.build_script else {
            return true;
        };
        let Ok(text) = std::fs::read_to_string(script) else {
            return false;
        };
        let has_help = self
            .dependencies
            .sections
            .contains_key("build-dependencies");
        let others = [
            "impl", "mod ", "read", "copy", "include", "Command", "extern",
        ];
        !has_help && !others.iter().any(|word| text.contains(word))
    }

    /// Makes a package of a single file.
    pub(crate) fn of_file(path: &Path) -> Result<Self, Error> {
        if path.extension().is_none_or(|extension| extension != "rs") {
            let reason =
                "give a `.rs` file, a directory with a `Cargo.toml`, or a `Cargo.toml`".to_string();
            return Err(Error::NotACrate {
                path: shown(path),
                reason,
            });
        }
        // A root file in a crate belongs to that crate, with its edition and dependencies.
        if let Some(package) = owner(path) {
            return Ok(package);
        }
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let name = package_name(&stem);
        Ok(Package {
            crate_name: crate_name(&name),
            name,
            edition: DEFAULT_EDITION.into(),
            root: path.to_path_buf(),
            manifest: None,
            has_main: true,
            library: None,
            targets: Vec::new(),
            dependencies: Dependencies::default(),
            patch: Table::new(),
            resolver: "3".into(),
            environment: Vec::new(),
            build_script: None,
            links: None,
            debug_assertions: true,
            overflow_checks: true,
            called_in: None,
            target_directory: None,
            is_dependency: false,
        })
    }

    /// Makes a package of a library that the program depends on.
    pub(crate) fn of_dependency(source: &LibrarySource) -> Self {
        Package {
            name: source.name.clone(),
            crate_name: source.crate_name.clone(),
            edition: source.edition.clone(),
            root: source.root.clone(),
            manifest: Some(source.dir.join("Cargo.toml")),
            has_main: false,
            library: Some(source.crate_name.clone()),
            targets: Vec::new(),
            dependencies: Dependencies::named(&source.dependencies),
            patch: Table::new(),
            resolver: "2".into(),
            environment: Vec::new(),
            build_script: source.build_script.clone(),
            links: None,
            debug_assertions: true,
            overflow_checks: true,
            called_in: None,
            target_directory: None,
            is_dependency: true,
        }
    }

    /// Makes a package of a text in a test.
    #[cfg(test)]
    pub(crate) fn of_text() -> Self {
        Self::of_file(Path::new("text.rs")).unwrap()
    }

    /// Reads the package of a manifest.
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
        let workspace = Workspace::of(manifest, &table)?;
        let edition = match (package.get("edition"), workspace.field(&table, "edition")) {
            (_, Some(Value::String(edition))) => edition.clone(),
            (Some(_), _) => return Err(wrong("the workspace sets no edition to inherit")),
            // cargo's default where the key is missing.
            (None, _) => "2015".to_string(),
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
            targets::discover(&dir, &table, name)
        };
        let crate_name = library
            .clone()
            .unwrap_or_else(|| binary(&table, &root, &dir, name));
        let dependencies =
            Dependencies::read(&dir, &table, &workspace).map_err(|message| wrong(&message))?;
        let debug_assertions = workspace.of_profile("debug-assertions").unwrap_or(true);
        Ok(Package {
            name: name.to_string(),
            crate_name,
            resolver: workspace.resolver(&edition),
            edition,
            root,
            manifest: Some(manifest.to_path_buf()),
            has_main,
            library,
            targets,
            dependencies,
            patch: workspace.patch(),
            environment: environment::variables(manifest, &table, &workspace),
            build_script: build_script(&dir, package),
            links: package
                .get("links")
                .and_then(Value::as_str)
                .map(str::to_owned),
            debug_assertions,
            overflow_checks: workspace
                .of_profile("overflow-checks")
                .unwrap_or(debug_assertions),
            called_in: Some(workspace.directory().to_path_buf()),
            target_directory: Some(workspace.target_directory()),
            is_dependency: false,
        })
    }
}

/// Returns the path of the build script.
fn build_script(dir: &Path, package: &Table) -> Option<PathBuf> {
    let path = match package.get("build") {
        Some(Value::String(path)) => path,
        Some(Value::Boolean(false)) => return None,
        _ => "build.rs",
    };
    Some(dir.join(path)).filter(|path| path.is_file())
}

/// Returns the crate name of the program with this root.
fn binary(manifest: &Table, root: &Path, dir: &Path, package: &str) -> String {
    let listed = manifest.get("bin").and_then(Value::as_array);
    let name = listed.into_iter().flatten().find_map(|bin| {
        let path = bin
            .get("path")
            .and_then(Value::as_str)
            .unwrap_or("src/main.rs");
        let name = bin.get("name").and_then(Value::as_str)?;
        (dir.join(path) == root).then_some(name)
    });
    name.unwrap_or(package).replace('-', "_")
}
/// Makes a package name of a file name.
fn package_name(stem: &str) -> String {
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

/// Returns the name of a lone file's crate, which must be neither that of another crate in the program nor a word of
/// the language.
fn crate_name(package: &str) -> String {
    let name = package.replace('-', "_");
    let taken = ["std", "core", "alloc", "proc_macro", "test", "seqz_runtime"];
    if taken.contains(&name.as_str()) || syn::parse_str::<syn::Ident>(&name).is_err() {
        format!("{name}_p_hat")
    } else {
        name
    }
}

/// Returns the package that has exactly this file as the root of one of its targets; of the other targets only the
/// library is kept.
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
        // There is no library that the target could use.
        package.root = target.root;
        package.has_main = true;
        package.targets.clear();
    } else {
        package.targets = vec![target];
    }
    Some(package)
}

/// Returns the root of the library, else that of the program.
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
