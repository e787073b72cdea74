//! The generated crate's `Cargo.toml`.

use toml::{Table, Value};

use super::profile;
use crate::counting::Counting;
use crate::error::Error;
use crate::load::Package;

pub(super) fn text(
    package: &Package,
    name: &str,
    has_script: bool,
    counting: Counting,
) -> Result<String, Error> {
    let script = if has_script { "\"build.rs\"" } else { "false" };
    let mut text = format!(
        "# Written by seqz: the sequential program of `{}`.\n\n\
         [package]\nname = {name:?}\nversion = \"0.0.0\"\nedition = {:?}\nbuild = {script}\npublish = false\n\n\
         # Named as the user's crate is, and so are its types.\n\
         [lib]\nname = {:?}\n\n\
         [workspace]\nresolver = {:?}\n\n\
         # The user's code was warned about where it was written.\n\
         [lints.rust]\nwarnings = \"allow\"\n\n",
        package.name, package.edition, package.crate_name, package.resolver,
    );
    text.push_str(&profile::sections(
        package.debug_assertions,
        package.overflow_checks,
    ));
    let mut rest = package.dependencies.sections.clone();
    let mut dependencies = match rest.remove("dependencies") {
        Some(Value::Table(dependencies)) => dependencies,
        _ => Table::new(),
    };
    dependencies.retain(|name, _| !matches!(name, "seqz" | "seqz-runtime" | "seqz_runtime"));
    let mut runtime = Table::from_iter([("path".to_string(), Value::from("runtime"))]);
    if counting.coerces {
        let features = vec![Value::from("coercions")];
        runtime.insert("features".to_string(), Value::Array(features));
    }
    dependencies.insert("seqz-runtime".into(), Value::Table(runtime));
    rest.insert("dependencies".into(), Value::Table(dependencies));
    let features = &package.dependencies.features;
    if !features.is_empty() {
        rest.insert("features".into(), Value::Table(features.clone()));
    }
    text.push_str(&shown(package, &rest)?);
    text.push_str(&patch(package)?);
    Ok(text)
}

/// Returns a manifest of an empty crate that depends on what the package depends on; `None` if the package has no
/// dependencies.
pub(crate) fn of_dependencies(package: &Package) -> Result<Option<String>, Error> {
    if package.dependencies.names().next().is_none() {
        return Ok(None);
    }
    let mut rest = package.dependencies.sections.clone();
    if let Some(Value::Table(dependencies)) = rest.get_mut("dependencies") {
        dependencies.retain(|name, _| !matches!(name, "seqz" | "seqz-runtime" | "seqz_runtime"));
    }
    let features = &package.dependencies.features;
    if !features.is_empty() {
        rest.insert("features".into(), Value::Table(features.clone()));
    }
    let head = format!(
        "[package]\nname = \"seqz-dependencies-of-{}\"\nversion = \"0.0.0\"\nedition = {:?}\nbuild = false\n\n\
         [workspace]\nresolver = {:?}\n\n",
        package.name, package.edition, package.resolver,
    );
    Ok(Some(head + &shown(package, &rest)? + &patch(package)?))
}

/// Returns the `[patch]` sections for the manifest that is built; empty if there are none.
pub(super) fn patch(package: &Package) -> Result<String, Error> {
    if package.patch.is_empty() {
        return Ok(String::new());
    }
    let patch = Value::Table(package.patch.clone());
    let text = shown(package, &Table::from_iter([("patch".to_string(), patch)]))?;
    Ok(format!("\n{text}"))
}

fn shown(package: &Package, table: &Table) -> Result<String, Error> {
    toml::to_string(table).map_err(|error| Error::Manifest {
        path: package.root.clone(),
        message: error.to_string(),
    })
}
