//! The manifests that lead cargo to copies of packages: that of a copy, and the changes to that of the program.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, Package};
use toml::{Table, Value};

/// The directories of packages that cargo knows by their paths, and of the copies that stand for them.
pub(super) type Paths = BTreeMap<PathBuf, PathBuf>;

/// The parts of a published manifest that a copy does not have: of other targets, and of the workspace.
const LEFT_OUT: &[&str] = &[
    "badges",
    "bench",
    "bin",
    "dev-dependencies",
    "dev_dependencies",
    "example",
    "lints",
    "patch",
    "profile",
    "replace",
    "test",
    "workspace",
];

/// Returns the manifest of a copy of a published package, but for the runtime.
pub(super) fn of_published(mut table: Table) -> Table {
    table.retain(|key, _| !LEFT_OUT.contains(&key));
    if let Some(Value::Table(targets)) = table.get_mut("target") {
        for (_, target) in targets.iter_mut() {
            if let Value::Table(target) = target {
                target.retain(|key, _| !LEFT_OUT.contains(&key));
            }
        }
    }
    if let Some(Value::Table(library)) = table.get_mut("lib") {
        library.retain(|key, _| !matches!(key, "crate-type" | "crate_type"));
    }
    if let Some(Value::Table(package)) = table.get_mut("package") {
        only_the_library(package);
    }
    keep_known_features(&mut table);
    table
}

/// Takes out what features say of packages that only tests and benches depend on.
fn keep_known_features(table: &mut Table) {
    let targets = table.get("target").and_then(Value::as_table);
    let targets = targets.into_iter().flatten();
    let tables = targets
        .filter_map(|(_, target)| target.as_table())
        .chain([&*table]);
    let mut known: BTreeSet<String> = BTreeSet::new();
    for table in tables {
        for (kind, all) in table {
            if kind.ends_with("dependencies") {
                known.extend(
                    all.as_table()
                        .into_iter()
                        .flatten()
                        .map(|(name, _)| name.clone()),
                );
            }
        }
    }
    let Some(Value::Table(features)) = table.get_mut("features") else {
        return;
    };
    for (_, feature) in features.iter_mut() {
        let Value::Array(all) = feature else { continue };
        all.retain(|said| {
            let said = said.as_str().unwrap_or_default();
            let package = match said.split_once('/') {
                Some((package, _)) => package.trim_end_matches('?'),
                None => match said.strip_prefix("dep:") {
                    Some(package) => package,
                    None => return true,
                },
            };
            known.contains(package)
        });
    }
}

fn only_the_library(package: &mut Table) {
    package.remove("workspace");
    package.remove("default-run");
    package.insert("publish".into(), false.into());
    for auto in ["autobins", "autoexamples", "autotests", "autobenches"] {
        package.insert(auto.into(), false.into());
    }
}

/// Returns the manifest of a copy of a package that cargo knows by its path or from a repository, but for the runtime.
pub(super) fn of_metadata(package: &Package, root: &Path, script: Option<&Path>) -> Table {
    let dir = package.manifest_path.parent();
    let dir = dir.map(|dir| dir.as_std_path()).unwrap_or(Path::new(""));
    let below = |path: &Path| path.strip_prefix(dir).unwrap_or(path).display().to_string();
    let mut head = Table::new();
    let text = |text: &str| Value::String(text.to_owned());
    head.insert("name".into(), text(&package.name));
    head.insert("version".into(), text(&package.version.to_string()));
    head.insert("edition".into(), text(package.edition.as_str()));
    let list = |all: &[String]| Value::Array(all.iter().map(|it| text(it)).collect());
    head.insert("authors".into(), list(&package.authors));
    for (key, value) in [
        ("description", &package.description),
        ("homepage", &package.homepage),
        ("repository", &package.repository),
        ("license", &package.license),
        ("links", &package.links),
    ] {
        if let Some(value) = value {
            head.insert(key.into(), text(value));
        }
    }
    if let Some(version) = &package.rust_version {
        head.insert("rust-version".into(), text(&version.to_string()));
    }
    let script = script.map_or(Value::Boolean(false), |script| text(&below(script)));
    head.insert("build".into(), script);
    only_the_library(&mut head);
    let mut library = Table::from_iter([("path".to_owned(), text(&below(root)))]);
    let target = package
        .targets
        .iter()
        .find(|it| it.src_path.as_std_path() == root);
    if let Some(target) = target {
        library.insert("name".into(), text(&target.name.replace('-', "_")));
    }
    let mut table = Table::from_iter([
        ("package".to_owned(), Value::Table(head)),
        ("lib".to_owned(), Value::Table(library)),
    ]);
    let features = package.features.iter();
    let features: Table = features
        .map(|(name, on)| (name.clone(), list(on)))
        .collect();
    table.insert("features".into(), Value::Table(features));
    for dependency in &package.dependencies {
        let section = match dependency.kind {
            DependencyKind::Normal => "dependencies",
            DependencyKind::Build => "build-dependencies",
            _ => continue,
        };
        let mut of = &mut table;
        if let Some(target) = &dependency.target {
            of = below_key(below_key(of, "target"), &target.to_string());
        }
        let name = dependency.rename.as_ref().unwrap_or(&dependency.name);
        below_key(of, section).insert(name.clone(), Value::Table(of_dependency(dependency)));
    }
    table
}

fn of_dependency(dependency: &cargo_metadata::Dependency) -> Table {
    let text = |text: &str| Value::String(text.to_owned());
    let mut table = Table::new();
    if dependency.rename.is_some() {
        table.insert("package".into(), text(&dependency.name));
    }
    let source = dependency
        .source
        .as_ref()
        .map(|source| source.repr.as_str());
    let git = source.and_then(|source| source.strip_prefix("git+"));
    if let Some(path) = &dependency.path {
        table.insert("path".into(), text(path.as_str()));
    } else if let Some(git) = git {
        let url = git.split('#').next().unwrap_or(git);
        let (url, query) = url.split_once('?').unwrap_or((url, ""));
        table.insert("git".into(), text(url));
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        for (key, value) in pairs.filter(|(key, _)| matches!(*key, "branch" | "tag" | "rev")) {
            table.insert(key.into(), text(value));
        }
    } else if let Some(index) = &dependency.registry {
        table.insert("registry-index".into(), text(index));
    }
    table.insert("version".into(), text(&dependency.req.to_string()));
    table.insert("optional".into(), dependency.optional.into());
    table.insert(
        "default-features".into(),
        dependency.uses_default_features.into(),
    );
    let features = dependency.features.iter().map(|it| text(it)).collect();
    table.insert("features".into(), Value::Array(features));
    table
}

/// Returns the table with this key, which is made if it isn't there.
pub(super) fn below_key<'t>(table: &'t mut Table, key: &str) -> &'t mut Table {
    let entry = table
        .entry(key.to_owned())
        .or_insert_with(|| Value::Table(Table::new()));
    if !entry.is_table() {
        *entry = Value::Table(Table::new());
    }
    match entry {
        Value::Table(table) => table,
        _ => unreachable!("it has just been made a table"),
    }
}

/// Leads all paths in a manifest that are those of copied packages to the copies.
pub(super) fn lead(table: &mut Table, paths: &Paths) {
    if let Some(Value::String(path)) = table.get_mut("path")
        && let Ok(dir) = Path::new(path).canonicalize()
        && let Some(copy) = paths.get(&dir)
    {
        *path = copy.display().to_string();
    }
    for (_, value) in table.iter_mut() {
        if let Value::Table(table) = value {
            lead(table, paths);
        }
    }
}

/// The lints that rustc denies by itself: where cargo builds a dependency as it is, none of them counts. The first is also
/// set off by what seqz writes: what is told of an access names a place twice.
const DENIED: &[&str] = &[
    "dangerous_implicit_autorefs",
    "ambiguous_associated_items",
    "arithmetic_overflow",
    "binary_asm_labels",
    "bindings_with_variant_name",
    "conflicting_repr_hints",
    "dependency_on_unit_never_type_fallback",
    "deref_nullptr",
    "elided_lifetimes_in_associated_constant",
    "enum_intrinsics_non_enums",
    "ill_formed_attribute_input",
    "incomplete_include",
    "invalid_atomic_ordering",
    "invalid_from_utf8_unchecked",
    "invalid_macro_export_arguments",
    "invalid_null_arguments",
    "invalid_reference_casting",
    "invalid_type_param_default",
    "legacy_derive_helpers",
    "let_underscore_lock",
    "long_running_const_eval",
    "macro_expanded_macro_exports_accessed_by_absolute_paths",
    "mutable_transmutes",
    "named_asm_labels",
    "never_type_fallback_flowing_into_unsafe",
    "no_mangle_const_items",
    "out_of_scope_macro_calls",
    "overflowing_literals",
    "patterns_in_fns_without_body",
    "proc_macro_derive_resolution_fallback",
    "pub_use_of_private_extern_crate",
    "repr_transparent_non_zst_fields",
    "semicolon_in_expressions_from_macros",
    "soft_unstable",
    "text_direction_codepoint_in_comment",
    "text_direction_codepoint_in_literal",
    "unconditional_panic",
    "undropped_manually_drops",
    "unknown_crate_types",
    "useless_deprecated",
];

/// Adds the runtime to the dependencies of a copy.
pub(super) fn add_runtime(table: &mut Table, runtime: &Path) {
    let path = Value::String(runtime.display().to_string());
    let runtime = Table::from_iter([("path".to_owned(), path)]);
    below_key(table, "dependencies").insert("seqz-runtime".into(), Value::Table(runtime));
    let lints = below_key(below_key(table, "lints"), "rust");
    for lint in DENIED {
        lints.insert((*lint).to_owned(), "allow".into());
    }
}

/// Returns the key of `[patch]` under which a package of this source is replaced; `None` for a source that can't be.
pub(super) fn patch_key(source: &str) -> Option<String> {
    const CRATES_IO: [&str; 2] = [
        "registry+https://github.com/rust-lang/crates.io-index",
        "sparse+https://index.crates.io/",
    ];
    if CRATES_IO.contains(&source) {
        return Some("crates-io".into());
    }
    let url = match source.split_once('+') {
        Some(("registry" | "git", url)) => url,
        Some(("sparse", _)) => source,
        _ => return None,
    };
    let end = url.find(['?', '#']).unwrap_or(url.len());
    Some(url[..end].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_of_what_is_left_out_are_left_out() {
        let table = "[package]\nname = \"x\"\n[dependencies.a]\nversion = \"1\"\n[target.'cfg(unix)'.dependencies.b]\n\
                     version = \"1\"\n[dev-dependencies.c]\nversion = \"1\"\n[features]\n\
                     all = [\"a/x\", \"b?/y\", \"c/z\", \"dep:a\", \"dep:c\", \"other\"]\nother = []\n";
        let of = of_published(table.parse().unwrap());
        let all = of["features"]["all"].as_array().unwrap();
        let all: Vec<&str> = all.iter().filter_map(Value::as_str).collect();
        assert_eq!(all, ["a/x", "b?/y", "dep:a", "other"]);
    }
}
