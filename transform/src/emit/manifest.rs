//! The generated crate's `Cargo.toml`.

use toml::{Table, Value};

use crate::error::Error;
use crate::load::Package;

/// Both profiles: fast, and with the checks that find bugs.
const PROFILE: &str = "\
opt-level = 3
debug = \"line-tables-only\"
debug-assertions = true
overflow-checks = true
panic = \"unwind\"
";

/// The checks are for the user's code, not for the runtime, which is compiled once for many programs and may take longer.
const RUNTIME: &str = "codegen-units = 1\ndebug-assertions = false\noverflow-checks = false\n";

pub(super) fn text(package: &Package, name: &str) -> Result<String, Error> {
    let mut text = format!(
        "# Written by seqz: the sequential program of `{}`.\n\n\
         [package]\nname = {name:?}\nversion = \"0.0.0\"\nedition = {:?}\npublish = false\n\n\
         [workspace]\n\n\
         # The user's code was warned about where it was written.\n\
         [lints.rust]\nwarnings = \"allow\"\n\n",
        package.name, package.edition,
    );
    for profile in ["dev", "release"] {
        text.push_str(&format!(
            "[profile.{profile}]\n{PROFILE}\n[profile.{profile}.package.seqz-runtime]\n{RUNTIME}\n"
        ));
    }
    let mut dependencies = package.dependencies.clone();
    dependencies.retain(|name, _| !matches!(name, "seqz" | "seqz-runtime" | "seqz_runtime"));
    let runtime = Table::from_iter([("path".to_string(), Value::from("runtime"))]);
    dependencies.insert("seqz-runtime".into(), Value::Table(runtime));
    let mut rest = Table::from_iter([("dependencies".to_string(), Value::Table(dependencies))]);
    if !package.features.is_empty() {
        rest.insert("features".into(), Value::Table(package.features.clone()));
    }
    text.push_str(&shown(package, &rest)?);
    text.push_str(&patch(package)?);
    Ok(text)
}

/// The `[patch]` for whatever manifest is built; empty if there is none.
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
