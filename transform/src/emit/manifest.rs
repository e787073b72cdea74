//! The generated crate's `Cargo.toml`.

use toml::{Table, Value};

use super::profile;
use crate::counting::Counting;
use crate::error::Error;
use crate::load::Package;

/// Returns the manifest of the generated crate.
///
/// The library is named as the user's crate is, and so are its types. The user's code was warned about where it was
/// written.
pub(super) fn text(
    package: &Package,
    name: &str,
    has_script: bool,
    counting: Counting,
) -> Result<String, Error> {
    let mut head = head(name, &package.edition);
    let script = if has_script {
        "build.rs".into()
    } else {
        Value::from(false)
    };
    head.insert("build".into(), script);
    let mut rest = depending(package);
    if let Some(Value::Table(dependencies)) = rest.get_mut("dependencies") {
        let mut runtime = Table::from_iter([("path".to_owned(), Value::from("runtime"))]);
        if counting.coerces() {
            runtime.insert("features".into(), vec![Value::from("coercions")].into());
        }
        dependencies.insert("seqz-runtime".into(), runtime.into());
    }
    let library = package.crate_name.as_str();
    rest.insert(
        "lib".into(),
        Table::from_iter([("name".to_owned(), library.into())]).into(),
    );
    rest.insert(
        "lints".into(),
        // What is told of an access names a place twice, and is no reference that the program makes. Macros that this
        // crate exports are, for the modules that were crates of their own, those of this crate.
        Value::Table(toml::toml! {
            rust.warnings = "allow"
            rust.dangerous_implicit_autorefs = "allow"
            rust.macro_expanded_macro_exports_accessed_by_absolute_paths = "allow"
        }),
    );
    let profiles = profile::sections(package.debug_assertions, package.overflow_checks);
    rest.extend(
        profiles
            .parse::<Table>()
            .map_err(|error| unwritten(package, &error))?,
    );
    let about = format!("the sequential program of `{}`.", package.name);
    written(&about, head, rest).map_err(|error| unwritten(package, &error))
}

/// Returns a manifest of an empty crate that depends on what the package depends on; `None` if the package has no
/// dependencies.
pub(crate) fn of_dependencies(package: &Package) -> Result<Option<String>, Error> {
    if package.dependencies.names().next().is_none() {
        return Ok(None);
    }
    let name = format!("seqz-dependencies-of-{}", package.name);
    let mut head = head(&name, &package.edition);
    head.insert("build".into(), false.into());
    let about = format!("the dependencies of `{}`.", package.name);
    match written(&about, head, depending(package)) {
        Ok(text) => Ok(Some(text)),
        Err(error) => Err(unwritten(package, &error)),
    }
}

/// Returns the manifest of a tester's crate, which stands in a directory of the generated crate: a workspace of its own,
/// which depends on the generated crate by `section`.
pub(super) fn beside(
    about: &str,
    name: &str,
    mut rest: Table,
    (section, generated): (&str, &str),
    patch: &Table,
) -> Result<String, toml::ser::Error> {
    if let Some(Value::Table(dependencies)) = rest.get_mut(section) {
        let above = Table::from_iter([("path".to_owned(), Value::from(".."))]);
        dependencies.insert(generated.to_owned(), above.into());
    }
    rest.insert("workspace".into(), Table::new().into());
    if !patch.is_empty() {
        rest.insert("patch".into(), patch.clone().into());
    }
    let mut head = head(name, "2024");
    if let Some(Value::Table(package)) = rest.remove("package") {
        head.extend(package);
    }
    written(about, head, rest)
}

/// Gives the runtime, and what it always stands on, these settings in a profile that the manifest has.
pub(super) fn profile_of_runtime(manifest: &mut Table, profile: &str, settings: &Table) {
    let profile = manifest
        .get_mut("profile")
        .and_then(|it| it.get_mut(profile));
    if let Some(Value::Table(profile)) = profile {
        let packages = profile::RUNTIME_PACKAGES
            .map(|package| (package.to_owned(), Value::from(settings.clone())));
        profile.insert("package".into(), Table::from_iter(packages).into());
    }
}

/// Returns the section `[package]`.
fn head(name: &str, edition: &str) -> Table {
    Table::from_iter([
        ("name".to_owned(), Value::from(name)),
        ("version".to_owned(), "0.0.0".into()),
        ("edition".to_owned(), edition.into()),
        ("publish".to_owned(), false.into()),
    ])
}

/// Returns the sections of a package by which a crate depends on what the package depends on, without seqz itself.
fn depending(package: &Package) -> Table {
    let mut sections = package.dependencies.sections.clone();
    let dependencies = sections
        .entry("dependencies")
        .or_insert_with(|| Table::new().into());
    if let Value::Table(dependencies) = dependencies {
        dependencies.retain(|name, _| !matches!(name, "seqz" | "seqz-runtime" | "seqz_runtime"));
    }
    let features = &package.dependencies.features;
    if !features.is_empty() {
        sections.insert("features".into(), features.clone().into());
    }
    if !package.patch.is_empty() {
        sections.insert("patch".into(), package.patch.clone().into());
    }
    let resolver = Table::from_iter([("resolver".to_owned(), package.resolver.as_str().into())]);
    sections.insert("workspace".into(), resolver.into());
    sections
}

/// Returns a manifest as it is written to its file: what it is, `[package]`, and the other sections.
fn written(about: &str, package: Table, rest: Table) -> Result<String, toml::ser::Error> {
    let about = about.replace('\n', "\n# ");
    let package = Table::from_iter([("package".to_owned(), package.into())]);
    let (package, rest) = (toml::to_string(&package)?, toml::to_string(&rest)?);
    Ok(format!("# Written by seqz: {about}\n\n{package}\n{rest}"))
}

/// A manifest that can't be written as TOML.
pub(super) fn unwritten(package: &Package, error: &dyn std::fmt::Display) -> Error {
    Error::Manifest {
        path: package.root.clone(),
        message: error.to_string(),
    }
}
