//! Paths that hold wherever a checkout lies: what is kept or sent to other users names no directory of this machine.

use std::io;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

/// Returns the relative path from the directory `from` to `to`.
///
/// # Errors
/// When one of the two is not there.
pub(crate) fn way(from: &Path, to: &Path) -> io::Result<PathBuf> {
    let (from, to) = (from.canonicalize()?, to.canonicalize()?);
    let shared = from
        .components()
        .zip(to.components())
        .take_while(|(one, other)| one == other)
        .count();
    let up = from.components().skip(shared).map(|_| Component::ParentDir);
    let down = to.components().skip(shared);
    let way: PathBuf = up.chain(down).collect();
    Ok(if way.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        way
    })
}

/// Makes each absolute path in a document that is below `base` relative to `base`. Other paths lose their directories:
/// the file name says what the file is, and the rest belongs to this machine.
pub(crate) fn shorten(document: &mut Value, base: &Path) {
    match document {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(text) if name == "file" || name == "path" => {
                        let path = Path::new(text.as_str());
                        if path.is_absolute() {
                            let short = path.strip_prefix(base).ok();
                            let short = short.filter(|short| !short.as_os_str().is_empty());
                            let name = path.file_name().map(Path::new);
                            *text = short
                                .or(name)
                                .unwrap_or(Path::new("."))
                                .display()
                                .to_string();
                        }
                    }
                    value => shorten(value, base),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| shorten(value, base)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_way_leads_from_one_directory_to_another() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        fs::create_dir_all(at("a/b/c")).unwrap();
        fs::create_dir_all(at("a/d")).unwrap();
        assert_eq!(way(&at("a/b/c"), &at("a/d")).unwrap(), Path::new("../../d"));
        assert_eq!(way(&at("a"), &at("a/b/c")).unwrap(), Path::new("b/c"));
        assert_eq!(way(&at("a"), &at("a")).unwrap(), Path::new("."));
    }

    #[test]
    fn paths_of_this_machine_are_shortened() {
        let mut document = serde_json::json!({
            "path": "/home/me/queue",
            "sites": [{ "file": "/home/me/queue/src/lib.rs", "text": "/home/me" }, { "file": "src/a.rs" }, { "file": "/else/b.rs" }],
        });
        shorten(&mut document, Path::new("/home/me/queue"));
        assert_eq!(
            document,
            serde_json::json!({
                "path": "queue",
                "sites": [{ "file": "src/lib.rs", "text": "/home/me" }, { "file": "src/a.rs" }, { "file": "b.rs" }],
            })
        );
    }
}
