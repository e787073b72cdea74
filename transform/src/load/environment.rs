//! The environment variables by which cargo tells a package about itself, when the package is built and when its tests
//! run.

use std::path::Path;

use toml::{Table, Value};

use super::workspace::Workspace;

/// Returns the variables of the package with this manifest.
pub(super) fn variables(
    path: &Path,
    manifest: &Table,
    workspace: &Workspace,
) -> Vec<(String, String)> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let dir = path.parent().unwrap_or(Path::new("/"));
    let field = |key: &str| workspace.field(manifest, key);
    let text = |key: &str| {
        field(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_string()
    };
    let version = match text("version") {
        none if none.is_empty() => "0.0.0".to_string(),
        version => version,
    };
    let release = version.split('+').next().unwrap_or_default();
    let (numbers, pre) = release.split_once('-').unwrap_or((release, ""));
    let mut numbers = numbers.split('.');
    let mut number = || numbers.next().unwrap_or("0").to_string();
    let authors = field("authors").and_then(Value::as_array);
    let authors: Vec<&str> = authors
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    [
        ("MANIFEST_DIR", dir.display().to_string()),
        ("MANIFEST_PATH", path.display().to_string()),
        ("PKG_AUTHORS", authors.join(":")),
        ("PKG_DESCRIPTION", text("description")),
        ("PKG_HOMEPAGE", text("homepage")),
        ("PKG_LICENSE", text("license")),
        ("PKG_LICENSE_FILE", text("license-file")),
        ("PKG_NAME", text("name")),
        ("PKG_README", readme(dir, field("readme"))),
        ("PKG_REPOSITORY", text("repository")),
        ("PKG_RUST_VERSION", text("rust-version")),
        ("PKG_VERSION", version.clone()),
        ("PKG_VERSION_MAJOR", number()),
        ("PKG_VERSION_MINOR", number()),
        ("PKG_VERSION_PATCH", number()),
        ("PKG_VERSION_PRE", pre.to_string()),
    ]
    .map(|(name, value)| (format!("CARGO_{name}"), value))
    .into()
}

/// Returns the path of the package's readme: the one in the manifest, or the one that cargo finds.
fn readme(dir: &Path, given: Option<&Value>) -> String {
    match given {
        Some(Value::String(path)) => path.clone(),
        Some(Value::Boolean(false)) => String::new(),
        _ => {
            let usual = ["README.md", "README.txt", "README"];
            let found = usual.into_iter().find(|name| dir.join(name).is_file());
            found.unwrap_or_default().to_string()
        }
    }
}
