//! Copies of dependencies in which std's concurrency items are replaced, built in the place of the packages themselves.
//!
//! A copy is a whole package beside the generated programs. Only the Rust files of the package's library differ; cargo
//! runs the build script, resolves the features and locks the versions as it does for the package. Nothing is written
//! where the packages are.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use seqz_transform::{Inside, Instrumented, LibrarySource, Origin, SourceMap};
use toml::{Table, Value};

use super::graph::Package;
use super::manifest::{self, Paths};
use crate::digest::Digest;
use crate::embed;

/// All copies for a program.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    all: Vec<Copy>,
}

/// A copy of a package.
#[derive(Debug)]
pub(crate) struct Copy {
    /// The package's name.
    pub(crate) name: String,
    /// The name of the copy's directory, which no other copy has.
    pub(crate) directory: String,
    /// The libraries that depend on the package, by the names that rustc knows.
    pub(crate) users: BTreeSet<String>,
    /// What the parts of the copy have that is not followed.
    pub(super) inside: Inside,
    source: LibrarySource,
    /// The key of `[patch]` that replaces the package; `None` for a package that is known by its path.
    patch: Option<String>,
    manifest: Table,
    files: Vec<(PathBuf, String)>,
    map: SourceMap,
}

impl Copy {
    /// Makes a copy of a package from its instrumented library; `None` if cargo can't be led to a copy.
    pub(super) fn of(
        package: &Package,
        source: LibrarySource,
        instrumented: Instrumented,
    ) -> Option<Self> {
        let patch = match &package.said.source {
            Some(source) => Some(manifest::patch_key(&source.repr)?),
            None => None,
        };
        let is_published =
            patch.is_some() && !package.said.source.as_ref()?.repr.starts_with("git");
        let manifest = if is_published {
            let text = fs::read_to_string(source.dir.join("Cargo.toml")).ok()?;
            manifest::of_published(text.parse().ok()?)
        } else {
            let script = source.build_script.as_deref();
            manifest::of_metadata(&package.said, &source.root, script)
        };
        let version = package.said.version.to_string();
        let mut digest = Digest::new();
        for part in [env!("CARGO_PKG_VERSION"), &source.dir.display().to_string()] {
            digest.add(part.as_bytes());
        }
        digest.add(manifest.to_string().as_bytes());
        for (path, text) in &instrumented.files {
            digest.add(path.as_os_str().as_encoded_bytes());
            digest.add(text.as_bytes());
        }
        Some(Self {
            directory: format!("{}-{version}-{}", package.name, &digest.finish()[..16]),
            name: package.name.clone(),
            users: BTreeSet::new(),
            inside: instrumented.inside,
            source,
            patch,
            manifest,
            files: instrumented.files,
            map: instrumented.map,
        })
    }

    /// Returns the path of a file in the package, as messages about the package show it.
    pub(crate) fn below(&self, shown: &Path) -> PathBuf {
        let below = shown.strip_prefix(&self.source.shown);
        below.unwrap_or(shown).to_owned()
    }

    fn write(&self, base: &Path, runtime: &Path, paths: &Paths) -> io::Result<()> {
        let dir = base.join(&self.directory);
        let mut table = self.manifest.clone();
        manifest::lead(&mut table, paths);
        manifest::add_runtime(&mut table, runtime);
        let text = toml::to_string(&table).map_err(io::Error::other)?;
        let manifest = dir.join("Cargo.toml");
        // The manifest is written last: with it, all is there.
        if self.patch.is_some() && fs::read_to_string(&manifest).is_ok_and(|it| it == text) {
            return Ok(());
        }
        let is_written = |path: &Path| self.files.iter().any(|(known, _)| known == path);
        copy_tree(&self.source.dir, Path::new(""), &dir, &is_written)?;
        let files = self.files.iter();
        let files = files.map(|(path, text)| (path.clone(), text.as_str()));
        embed::write(&dir, files)?;
        embed::write(&dir, [(PathBuf::from("Cargo.toml"), text.as_str())])
    }
}

/// The parts of a package that its library is not made of.
const LEFT_OUT: &[&str] = &[
    "Cargo.lock",
    "Cargo.toml",
    "Cargo.toml.orig",
    "benches",
    "examples",
    "target",
    "tests",
];

/// Copies the files of a package, but for those that are written otherwise, and for other packages inside of it.
fn copy_tree(
    package: &Path,
    below: &Path,
    to: &Path,
    is_written: &dyn Fn(&Path) -> bool,
) -> io::Result<()> {
    let from = package.join(below);
    fs::create_dir_all(to.join(below)).map_err(|e| embed::at(&to.join(below), &e))?;
    for entry in fs::read_dir(&from).map_err(|e| embed::at(&from, &e))? {
        let entry = entry?;
        let name = entry.file_name();
        let is_top = below.as_os_str().is_empty();
        let hidden = name.as_encoded_bytes().starts_with(b".");
        if hidden || is_top && LEFT_OUT.iter().any(|it| name == *it) {
            continue;
        }
        let path = below.join(&name);
        let whole = package.join(&path);
        let Ok(metadata) = fs::metadata(&whole) else {
            continue;
        };
        if metadata.is_dir() {
            if !whole.join("Cargo.toml").is_file() {
                copy_tree(package, &path, to, is_written)?;
            }
        } else if metadata.is_file() && !is_written(&path) {
            let (text, target) = (fs::read(&whole), to.join(&path));
            let text = text.map_err(|e| embed::at(&whole, &e))?;
            if !fs::read(&target).is_ok_and(|old| old == text) {
                fs::write(&target, text).map_err(|e| embed::at(&target, &e))?;
            }
        }
    }
    Ok(())
}

impl Copies {
    pub(super) fn new(all: Vec<Copy>) -> Self {
        Self { all }
    }

    /// Whether no dependency is followed.
    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns all copies.
    pub(crate) fn all(&self) -> &[Copy] {
        &self.all
    }

    /// Writes all copies below `base`, each with the runtime in `runtime`.
    ///
    /// # Errors
    /// Errors of the file system, with the path.
    pub(crate) fn write(&self, base: &Path, runtime: &Path) -> io::Result<()> {
        let paths = self.paths(base);
        self.all
            .iter()
            .try_for_each(|copy| copy.write(base, runtime, &paths))
    }

    fn paths(&self, base: &Path) -> Paths {
        let by_path = self.all.iter().filter(|copy| copy.patch.is_none());
        by_path
            .filter_map(|copy| {
                let dir = copy.source.dir.canonicalize().ok()?;
                Some((dir, base.join(&copy.directory)))
            })
            .collect()
    }

    /// Has a program's manifest lead to the copies below `base`. A manifest that can't be read stays as it is.
    pub(crate) fn lead(&self, manifest: &str, base: &Path) -> String {
        let Ok(mut table) = manifest.parse::<Table>() else {
            return manifest.to_owned();
        };
        manifest::lead(&mut table, &self.paths(base));
        let mut of_name: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for copy in &self.all {
            let Some(key) = &copy.patch else { continue };
            let count = of_name.entry((key, &copy.name)).or_default();
            let path = Value::String(base.join(&copy.directory).display().to_string());
            let mut entry = Table::from_iter([("path".to_owned(), path)]);
            let patch = manifest::below_key(manifest::below_key(&mut table, "patch"), key);
            let mut name = copy.name.clone();
            while *count > 0 || patch.contains_key(&name) {
                // Another version of a package is patched under another name.
                *count += 1;
                name = format!("{}-{count}", copy.name);
                if !patch.contains_key(&name) {
                    entry.insert("package".into(), Value::String(copy.name.clone()));
                    break;
                }
            }
            *count += 1;
            patch.insert(name, Value::Table(entry));
        }
        toml::to_string(&table).unwrap_or_else(|_| manifest.to_owned())
    }

    /// Returns the copy that a file is in, and the file's path in the copy.
    pub(crate) fn find<'p>(&self, file: &'p Path) -> Option<(&Copy, &'p Path)> {
        self.all.iter().find_map(|copy| {
            let mut parts = file.components();
            let is_it = |part: std::path::Component<'_>| part.as_os_str() == &*copy.directory;
            parts.find(|part| is_it(*part))?;
            Some((copy, parts.as_path()))
        })
    }

    /// Returns the origin of a place in a copy.
    pub(crate) fn lookup(&self, file: &Path, line: u32, column: u32) -> Option<Origin> {
        let (copy, below) = self.find(file)?;
        copy.map.lookup(below, line, column)
    }

    /// Whether there are calls in the texts of macros that may end or fail without a reason.
    pub(crate) fn has_lone_in_macros(&self) -> bool {
        self.all.iter().any(|copy| copy.map.has_lone_in_macros())
    }

    /// Returns the places at which the runtime sees calls outside of loops that may end or fail without a reason, and those
    /// at which macros are used, if that is asked for.
    pub(crate) fn lone(&self, in_macros: bool) -> impl Iterator<Item = (PathBuf, u32, u32)> {
        self.all.iter().flat_map(move |copy| {
            let macros = copy.map.macros().filter(move |_| in_macros);
            let all = copy.map.lone().chain(macros);
            all.map(|(file, line, column)| (Path::new(&copy.directory).join(file), line, column))
        })
    }

    /// Returns the text of a file of a followed package, given the path that messages show.
    pub(crate) fn text(&self, shown: &Path) -> Option<String> {
        let mut files = self.all.iter().filter_map(|copy| copy.source.file(shown));
        files.find_map(|file| fs::read_to_string(file).ok())
    }
}
