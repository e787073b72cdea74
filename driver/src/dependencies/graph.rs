//! The packages that a program is linked to, as cargo resolves them.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io;
use std::path::Path;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, PackageId, TargetKind};
use seqz_transform::sharing::Source;

use crate::rustc;

/// All packages that cargo resolves.
pub(super) struct Graph {
    pub(super) packages: Vec<Package>,
    /// The direct dependencies of the program: the name by which the program knows each crate, and the index of the
    /// package.
    direct: Vec<(String, usize)>,
    /// The configuration values that rustc gives for the target.
    pub(super) target: BTreeSet<String>,
}

/// A package.
pub(super) struct Package {
    pub(super) name: String,
    /// Text that tells the package from others and from its other versions; `None` where its source may change.
    pub(super) identity: Option<String>,
    pub(super) source: Source,
    pub(super) features: Vec<String>,
    /// The indices of the packages that are linked with this one; empty for a procedural macro.
    pub(super) depends_on: Vec<usize>,
    /// What cargo says of the package.
    pub(super) said: cargo_metadata::Package,
}

impl Package {
    /// Returns the target that other packages link; `None` for a procedural macro, and where there is none.
    pub(super) fn library(&self) -> Option<&cargo_metadata::Target> {
        let root = &self.source.root;
        let mut targets = self.said.targets.iter();
        targets.find(|it| !self.source.proc_macro && it.src_path.as_std_path() == root)
    }
}

impl Graph {
    /// Loads the packages that a crate with this manifest is linked to, with cargo's configuration of where packages come
    /// from.
    pub(super) fn load(
        manifest: &str,
        lock: Option<&Path>,
        sources: Option<&str>,
    ) -> Result<Self, String> {
        let said = |error: io::Error| error.to_string();
        let dir = tempfile::Builder::new()
            .prefix("seqz")
            .tempdir()
            .map_err(said)?;
        let path = dir.path().join("Cargo.toml");
        fs::write(&path, manifest).map_err(said)?;
        fs::create_dir(dir.path().join("src")).map_err(said)?;
        fs::write(dir.path().join("src/lib.rs"), "").map_err(said)?;
        if let Some(lock) = lock {
            fs::copy(lock, dir.path().join("Cargo.lock")).map_err(said)?;
        }
        let host = host()?;
        let mut options = vec!["--offline".to_owned(), "--filter-platform".into(), host];
        if let Some(sources) = sources {
            let file = dir.path().join("sources.toml");
            fs::write(&file, sources).map_err(said)?;
            options.extend(["--config".to_owned(), file.display().to_string()]);
        }
        let metadata = MetadataCommand::new()
            .manifest_path(&path)
            .other_options(options)
            .exec()
            .map_err(|error| said_by_cargo(&error.to_string()))?;
        Self::of(&metadata)
    }

    fn of(metadata: &Metadata) -> Result<Self, String> {
        let none = || "cargo says nothing of its dependencies".to_owned();
        let resolve = metadata.resolve.as_ref().ok_or_else(none)?;
        let root = resolve.root.as_ref().ok_or_else(none)?;
        let numbers: HashMap<&PackageId, usize> = metadata
            .packages
            .iter()
            .enumerate()
            .map(|(number, package)| (&package.id, number))
            .collect();
        let mut packages: Vec<Package> = metadata.packages.iter().map(package).collect();
        let mut direct = Vec::new();
        for node in &resolve.nodes {
            let Some(&number) = numbers.get(&node.id) else {
                continue;
            };
            packages[number].features = node.features.iter().map(ToString::to_string).collect();
            let linked = node.deps.iter().filter(|dep| {
                let mut kinds = dep.dep_kinds.iter();
                dep.dep_kinds.is_empty() || kinds.any(|it| it.kind == DependencyKind::Normal)
            });
            for dep in linked {
                let Some(&on) = numbers.get(&dep.pkg) else {
                    continue;
                };
                if node.id == *root {
                    direct.push((dep.name.clone(), on));
                } else if !packages[number].source.proc_macro {
                    packages[number].depends_on.push(on);
                }
            }
        }
        Ok(Self {
            packages,
            direct,
            target: target()?,
        })
    }

    /// Returns the direct dependencies of the program.
    pub(super) fn direct(&self) -> &[(String, usize)] {
        &self.direct
    }
}

fn package(package: &cargo_metadata::Package) -> Package {
    let is = |target: &cargo_metadata::Target, wanted: &[TargetKind]| {
        target.kind.iter().any(|kind| wanted.contains(kind))
    };
    let proc_macro = package
        .targets
        .iter()
        .find(|target| is(target, &[TargetKind::ProcMacro]));
    let kinds = [
        TargetKind::Lib,
        TargetKind::RLib,
        TargetKind::DyLib,
        TargetKind::StaticLib,
        TargetKind::CDyLib,
    ];
    let library = proc_macro.or_else(|| package.targets.iter().find(|target| is(target, &kinds)));
    let build = package
        .targets
        .iter()
        .find(|target| is(target, &[TargetKind::CustomBuild]));
    let dir = package.manifest_path.parent();
    Package {
        name: package.name.to_string(),
        identity: package.source.as_ref().map(|_| package.id.repr.clone()),
        source: Source {
            dir: dir
                .map(|dir| dir.as_std_path().to_owned())
                .unwrap_or_default(),
            root: library
                .map(|target| target.src_path.as_std_path().to_owned())
                .unwrap_or_default(),
            proc_macro: proc_macro.is_some(),
            build_script: build.map(|target| target.src_path.as_std_path().to_owned()),
        },
        features: Vec::new(),
        depends_on: Vec::new(),
        said: package.clone(),
    }
}

fn rustc(arguments: &[&str]) -> Result<String, String> {
    rustc::says(arguments).map_err(|silent| silent.message)
}

/// Returns the name of the target that rustc compiles for.
pub(super) fn host() -> Result<String, String> {
    let said = rustc(&["-vV"])?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned)
        .ok_or_else(|| "rustc doesn't tell its host".to_owned())
}

fn target() -> Result<BTreeSet<String>, String> {
    Ok(rustc(&["--print", "cfg"])?
        .lines()
        .map(str::to_owned)
        .collect())
}

/// What cargo itself says, without what is said of the way in which it was asked.
fn said_by_cargo(text: &str) -> String {
    let start = text.find("error: ").unwrap_or(0);
    text[start..].trim().to_owned()
}

/// The first line of what cargo says.
pub(super) fn first_line(text: &str) -> &str {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let line = lines.find(|line| line.contains("error")).unwrap_or(text);
    line.trim().trim_start_matches("error: ")
}
