//! Edits of the manifests that [`seqz_transform`] writes, where the driver builds a generated crate in a place of its own.

use std::path::Path;

use toml::{Table, Value};

/// The key of the runtime among a generated crate's dependencies.
const RUNTIME: &str = "seqz-runtime";

/// Returns a generated manifest with its tables edited.
///
/// # Panics
///
/// If the manifest is no TOML: seqz has written it.
pub(crate) fn edited(manifest: &str, edit: impl FnOnce(&mut Table)) -> String {
    let mut table = read(manifest);
    edit(&mut table);
    match toml::to_string(&table) {
        Ok(text) => text,
        Err(error) => panic!("a manifest that seqz has written can't be written again: {error}"),
    }
}

/// Gives the package another name.
pub(crate) fn rename(manifest: &mut Table, name: &str) {
    if let Some(Value::Table(package)) = manifest.get_mut("package") {
        package.insert("name".into(), name.into());
    }
}

/// Returns the runtime's entry among the dependencies.
pub(crate) fn runtime(manifest: &mut Table) -> Option<&mut Table> {
    dependency(manifest, RUNTIME)
}

/// Gives the packages the profiles that the runtime has, so that what the runtime is linked with is compiled once, too,
/// whatever the program's profile is.
pub(crate) fn as_the_runtime(manifest: &mut Table, packages: &[&str]) {
    let Some(Value::Table(profiles)) = manifest.get_mut("profile") else {
        return;
    };
    for (_, profile) in profiles.iter_mut() {
        let Some(Value::Table(known)) = profile.get_mut("package") else {
            continue;
        };
        if let Some(of_runtime) = known.get(RUNTIME).cloned() {
            known.extend(
                packages
                    .iter()
                    .map(|name| ((*name).to_owned(), of_runtime.clone())),
            );
        }
    }
}

/// Returns the entry of a dependency.
pub(crate) fn dependency<'a>(manifest: &'a mut Table, name: &str) -> Option<&'a mut Table> {
    let dependencies = manifest.get_mut("dependencies")?.as_table_mut()?;
    dependencies.get_mut(name)?.as_table_mut()
}

/// Depends on a package that has another name now. Its library keeps its name: no `package` is said, by which the key
/// would be the library's name.
pub(crate) fn rename_dependency(manifest: &mut Table, from: &str, to: &str) {
    if let Some(Value::Table(dependencies)) = manifest.get_mut("dependencies")
        && let Some(entry) = dependencies.remove(from)
    {
        dependencies.insert(to.to_owned(), entry);
    }
}

/// Sets the path of a dependency or of the runtime.
pub(crate) fn set_path(entry: &mut Table, path: &Path) {
    entry.insert("path".into(), path.display().to_string().into());
}

/// Whether the crate depends on another crate than the runtime by its path.
pub(crate) fn has_path_dependencies(manifest: &str) -> bool {
    fn in_table(table: &Table) -> bool {
        table.iter().any(|(name, value)| match value {
            Value::Table(inner) if name != RUNTIME => {
                inner.get("path").is_some_and(Value::is_str) || in_table(inner)
            }
            _ => false,
        })
    }
    let mut manifest = read(manifest);
    // Sections of paths that are no dependencies.
    for section in ["lib", "package", "profile"] {
        manifest.remove(section);
    }
    in_table(&manifest)
}

fn read(manifest: &str) -> Table {
    match manifest.parse() {
        Ok(table) => table,
        Err(error) => panic!("seqz has written a manifest that is no TOML: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str =
        "[package]\nname = \"a\"\n\n[dependencies.seqz-runtime]\npath = \"runtime\"\n";

    #[test]
    fn the_runtime_is_no_path_dependency() {
        assert!(!has_path_dependencies(MANIFEST));
        for section in [
            "dependencies.b",
            "target.'cfg(unix)'.dependencies.b",
            "patch.crates-io.b",
        ] {
            let text = format!("{MANIFEST}\n[{section}]\npath = \"../b\"\n");
            assert!(has_path_dependencies(&text), "{section}");
            let text = format!("{MANIFEST}\n[{section}]\nversion = \"1\"\n");
            assert!(!has_path_dependencies(&text), "{section}");
        }
    }

    #[test]
    fn other_packages_are_compiled_like_the_runtime() {
        let text =
            "[profile.dev]\nopt-level = 3\n[profile.dev.package.seqz-runtime]\ncodegen-units = 1\n";
        let table = read(&edited(text, |manifest| as_the_runtime(manifest, &["b"])));
        let dev = &table["profile"]["dev"];
        assert_eq!(dev["package"]["b"], dev["package"][RUNTIME]);
        assert!(dev["package"]["b"]["codegen-units"].is_integer());
    }

    #[test]
    fn a_renamed_dependency_is_no_alias() {
        let text = edited("[dependencies.a]\npath = \"..\"\n", |manifest| {
            rename_dependency(manifest, "a", "b");
        });
        assert_eq!(text, "[dependencies.b]\npath = \"..\"\n");
    }

    #[test]
    fn a_package_gets_another_name_and_place() {
        let text = edited(MANIFEST, |manifest| {
            rename(manifest, "b");
            set_path(runtime(manifest).unwrap(), Path::new("/x \"y\""));
        });
        assert_eq!(
            text,
            "[dependencies.seqz-runtime]\npath = '/x \"y\"'\n\n[package]\nname = \"b\"\n"
        );
    }
}
