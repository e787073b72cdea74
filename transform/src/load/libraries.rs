//! Libraries that a program depends on, as cargo knows them.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use super::modules::{Reader, normal};
use super::{Crate, Implemented, Package, Part};
use crate::cfg::{self, Cfg};
use crate::error::Error;

/// The library of a package that a program depends on.
#[derive(Clone, Debug)]
pub struct LibrarySource {
    /// The package's name.
    pub name: String,
    /// The name of the library for rustc.
    pub crate_name: String,
    /// The directory of the package's manifest.
    pub dir: PathBuf,
    /// The path of the library's root file.
    pub root: PathBuf,
    /// The edition, as a manifest writes it.
    pub edition: String,
    /// The features that are on.
    pub features: BTreeSet<String>,
    /// The names by which the code knows other crates.
    pub dependencies: BTreeSet<String>,
    /// The path of the root file of the package's build script, if there is one.
    pub build_script: Option<PathBuf>,
    /// What the crates implement that depend on the library.
    pub implemented: Implemented,
    /// The name of the package's directory in messages.
    pub shown: PathBuf,
}

impl Crate {
    /// Loads a library with all module files, as a build of the program compiles it: without its tests.
    pub(crate) fn of_dependency(source: &LibrarySource) -> Result<Self, Error> {
        let package = Package::of_dependency(source);
        let cfg = Cfg {
            features: source.features.clone(),
            closed: source.build_script.is_none() && !cfg::set_by_flags(&source.dir),
        };
        let mut reader = Reader::new(&package, &cfg);
        reader.read_all(&Part::Library)?;
        let mut parts = reader.finish();
        let dir = normal(&source.dir);
        let show = |path: &mut PathBuf| {
            if let Ok(below) = normal(path).strip_prefix(&dir) {
                *path = source.shown.join(below);
            }
        };
        for file in &mut parts.files {
            let path = file.source.path.canonicalize();
            file.source.path = path.unwrap_or_else(|_| file.source.path.clone());
            show(&mut file.source.path);
            if let Some(call) = &mut file.source.expanded {
                show(&mut call.file);
            }
        }
        Ok(Crate {
            package,
            cfg,
            files: parts.files,
            only: None,
            modules: parts.modules,
            parts: parts.parts,
            roots: Vec::new(),
            paths: HashMap::new(),
            implemented: source.implemented.clone(),
        })
    }
}

impl LibrarySource {
    /// Returns the path of a file of the library, given the path that messages show.
    #[must_use]
    pub fn file(&self, shown: &Path) -> Option<PathBuf> {
        let below = shown.strip_prefix(&self.shown).ok()?;
        Some(self.dir.join(below))
    }
}
