//! The dependencies of a package, in a form that means the same in a manifest in another directory.
//!
//! The generated crate is not a test, so its dependencies and those of the package's tests become one table.

use std::collections::BTreeSet;
use std::path::Path;

use toml::{Table, Value};

use super::workspace::{Workspace, absolute};

/// The feature of the generated crate that turns on the optional dependencies that the package's tests depend on anyway.
const OF_TESTS: &str = "seqz-dev-dependencies";

/// A package's dependencies and features.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dependencies {
    /// `dependencies`, with those of tests, `build-dependencies`, and `target` with these sections below it.
    pub(crate) sections: Table,
    /// The features, with the features that the dependencies of tests turn on.
    pub(crate) features: Table,
    /// Features of the package itself that its tests ask for.
    own: BTreeSet<String>,
    /// Optional dependencies that the package's tests depend on.
    of_tests: BTreeSet<String>,
    /// The number of the features that the manifest says are on by default; in `features` they come first.
    pub(super) declared_default: usize,
}

impl Dependencies {
    /// Reads the dependencies of the package with this manifest, which is in `dir`.
    pub(super) fn read(
        dir: &Path,
        manifest: &Table,
        workspace: &Workspace,
    ) -> Result<Self, String> {
        let mut all = Dependencies {
            features: table(manifest, "features").cloned().unwrap_or_default(),
            ..Dependencies::default()
        };
        let default = all.features.get("default").and_then(Value::as_array);
        all.declared_default = default.map_or(0, Vec::len);
        all.sections = all.read_sections(dir, manifest, workspace)?;
        let mut targets = Table::new();
        for (target, manifest) in table(manifest, "target").into_iter().flatten() {
            if let Value::Table(manifest) = manifest {
                let sections = all.read_sections(dir, manifest, workspace)?;
                if !sections.is_empty() {
                    targets.insert(target.clone(), Value::Table(sections));
                }
            }
        }
        if !targets.is_empty() {
            all.sections.insert("target".into(), Value::Table(targets));
        }
        all.complete_features();
        Ok(all)
    }

    fn read_sections(
        &mut self,
        dir: &Path,
        manifest: &Table,
        workspace: &Workspace,
    ) -> Result<Table, String> {
        let section = |key: &str| -> Result<Table, String> {
            // cargo still reads the old spelling.
            let own = table(manifest, key).or_else(|| table(manifest, &key.replace('-', "_")));
            let own = own.into_iter().flatten();
            own.map(|(name, dependency)| {
                Ok((name.clone(), resolve(dir, workspace, name, dependency)?))
            })
            .collect()
        };
        let mut normal = section("dependencies")?;
        for (name, of_tests) in section("dev-dependencies")? {
            if let Some(features) = of_itself(dir, &of_tests) {
                self.own.extend(features);
            } else if let Some(known) = normal.get_mut(&name) {
                if known.get("optional") == Some(&Value::Boolean(true)) {
                    self.of_tests.insert(name.clone());
                }
                *known = merged(known, &of_tests);
            } else {
                normal.insert(name, of_tests);
            }
        }
        let mut sections = Table::new();
        for (key, all) in [
            ("dependencies", normal),
            ("build-dependencies", section("build-dependencies")?),
        ] {
            if !all.is_empty() {
                sections.insert(key.into(), Value::Table(all));
            }
        }
        Ok(sections)
    }

    /// Turns on the features with which cargo builds the package's tests.
    fn complete_features(&mut self) {
        if self.own.is_empty() && self.of_tests.is_empty() {
            return;
        }
        let named: BTreeSet<String> = values(&self.features)
            .filter_map(|value| value.strip_prefix("dep:").map(str::to_string))
            .collect();
        let mut default: Vec<Value> = self.own.iter().cloned().map(Value::String).collect();
        if !self.of_tests.is_empty() {
            let list = |name: &String| Value::String(format!("dep:{name}"));
            let all = self.of_tests.iter().map(list).collect();
            // An optional dependency is a feature, too, unless it is named with `dep:`, as here.
            for name in self.of_tests.difference(&named) {
                if !self.features.contains_key(name) {
                    let itself = Value::Array(vec![list(name)]);
                    self.features.insert(name.clone(), itself);
                }
            }
            self.features.insert(OF_TESTS.into(), Value::Array(all));
            default.push(Value::String(OF_TESTS.into()));
        }
        match self.features.get_mut("default") {
            Some(Value::Array(known)) => known.extend(default),
            _ => drop(
                self.features
                    .insert("default".into(), Value::Array(default)),
            ),
        }
    }

    /// Makes dependencies of which only the names in the code are known.
    pub(super) fn named(names: &BTreeSet<String>) -> Self {
        let all = names
            .iter()
            .map(|name| (name.clone(), Value::String("*".into())));
        let all = Value::Table(all.collect());
        Dependencies {
            sections: Table::from_iter([("dependencies".to_string(), all)]),
            ..Dependencies::default()
        }
    }

    /// Whether there are no dependencies.
    pub(crate) fn is_empty(&self) -> bool {
        self.sections.is_empty()
    }

    /// Returns the dependencies of the code itself, with the names that they have in the code.
    fn of_code(&self) -> impl Iterator<Item = (&String, &Value)> {
        let targets = table(&self.sections, "target").into_iter().flatten();
        let targets = targets.filter_map(|(_, sections)| sections.as_table());
        std::iter::once(&self.sections)
            .chain(targets)
            .filter_map(|sections| table(sections, "dependencies"))
            .flatten()
    }

    /// Returns the names of optional dependencies.
    pub(super) fn optional(&self) -> impl Iterator<Item = &String> {
        let all = self.of_code();
        all.filter(|(_, of)| of.get("optional") == Some(&Value::Boolean(true)))
            .map(|(name, _)| name)
    }

    /// Returns the names that crates have in the code.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> {
        self.of_code().map(|(name, _)| name.replace('-', "_"))
    }

    /// Whether a package is among the dependencies.
    pub(crate) fn has(&self, package: &str) -> bool {
        self.of_code().any(|(name, dependency)| {
            let renamed = dependency.get("package").and_then(Value::as_str);
            renamed.unwrap_or(name) == package
        })
    }

    /// Returns the features that are on by default.
    pub(crate) fn features_on(&self) -> BTreeSet<String> {
        let mut on = BTreeSet::new();
        let mut open = vec!["default"];
        while let Some(entry) = open.pop() {
            let feature = match entry.split_once('/') {
                // A feature of a dependency turns on the dependency as well; with `?` it doesn't.
                Some((dependency, _)) if dependency.ends_with('?') => continue,
                Some((dependency, _)) => dependency,
                None => entry,
            };
            if feature.starts_with("dep:") || !on.insert(feature.to_string()) {
                continue;
            }
            let more = self.features.get(feature).and_then(Value::as_array);
            open.extend(more.into_iter().flatten().filter_map(Value::as_str));
        }
        on
    }
}

/// Whether a feature is one that seqz has added for the package's tests.
pub(super) fn is_of_tests(feature: &str) -> bool {
    feature == OF_TESTS
}

fn table<'t>(table: &'t Table, key: &str) -> Option<&'t Table> {
    table.get(key).and_then(Value::as_table)
}

/// Returns all that features turn on.
fn values(features: &Table) -> impl Iterator<Item = &str> {
    let lists = features.values().filter_map(Value::as_array);
    lists.flatten().filter_map(Value::as_str)
}

/// Returns the features that a package asks of itself, if the dependency is the package itself.
fn of_itself(dir: &Path, dependency: &Value) -> Option<Vec<String>> {
    let path = Path::new(dependency.get("path")?.as_str()?);
    let same = path.canonicalize().ok()? == dir.canonicalize().ok()?;
    let features = dependency.get("features").and_then(Value::as_array);
    let features = features.into_iter().flatten().filter_map(Value::as_str);
    same.then(|| features.map(str::to_string).collect())
}

/// Merges a dependency of the code with the tests' dependency on the same package.
fn merged(of_code: &Value, of_tests: &Value) -> Value {
    let whole = |value: &Value| match value {
        Value::Table(table) => table.clone(),
        version => Table::from_iter([("version".to_string(), version.clone())]),
    };
    let (mut both, more) = (whole(of_code), whole(of_tests));
    let defaults = |table: &Table| {
        let given = table
            .get("default-features")
            .or_else(|| table.get("default_features"));
        given.and_then(Value::as_bool).unwrap_or(true)
    };
    if !defaults(&both) && defaults(&more) {
        both.remove("default_features");
        both.insert("default-features".into(), Value::Boolean(true));
    }
    for (key, value) in more {
        match (both.get_mut(&key), value) {
            (Some(Value::Array(list)), Value::Array(more)) => list.extend(more),
            (Some(_), _) => {}
            (None, value) => drop(both.insert(key, value)),
        }
    }
    Value::Table(both)
}

/// Makes a dependency mean the same in a manifest in another directory.
fn resolve(
    dir: &Path,
    workspace: &Workspace,
    name: &str,
    dependency: &Value,
) -> Result<Value, String> {
    let Value::Table(own) = dependency else {
        return Ok(dependency.clone());
    };
    let mut own = own.clone();
    let mut base = dir;
    if own.remove("workspace") == Some(Value::Boolean(true)) {
        let missing = || format!("the workspace has no dependency `{name}` to inherit");
        let (root, shared) = workspace.dependency(name).ok_or_else(missing)?;
        let mut merged = match shared {
            Value::Table(table) => table.clone(),
            version => Table::from_iter([("version".to_string(), version.clone())]),
        };
        base = root;
        for (key, value) in own {
            match (merged.get_mut(&key), value) {
                (Some(Value::Array(list)), Value::Array(more)) => list.extend(more),
                (_, value) => drop(merged.insert(key, value)),
            }
        }
        own = merged;
    }
    if let Some(Value::String(path)) = own.get_mut("path") {
        absolute(base, path);
    }
    Ok(Value::Table(own))
}
