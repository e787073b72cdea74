//! The list of crates: `bench/crates.toml`.

use std::fs;
use std::io;
use std::path::PathBuf;

use toml::{Table, Value};

/// A crate of the list.
#[derive(Debug)]
pub(super) struct Pinned {
    pub(super) name: String,
    pub(super) version: String,
    /// The SHA-256 of what the registry has of it.
    pub(super) checksum: String,
    pub(super) features: Vec<String>,
    /// A test that is added: of crates whose own run no threads.
    pub(super) test: Option<String>,
    /// Files of tests that do not compile with this rustc.
    pub(super) without: Vec<String>,
    /// Whether the tests of seqz run it.
    pub(super) quick: bool,
    /// The tests that may truly fail, though `cargo test` does not show it.
    pub(super) may_fail: Vec<String>,
}

fn beside() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Reads the list.
pub(super) fn read() -> io::Result<Vec<Pinned>> {
    let text = fs::read_to_string(beside().join("crates.toml"))?;
    let table: Table = text.parse().map_err(io::Error::other)?;
    let all = table.get("crate").and_then(Value::as_array);
    all.into_iter().flatten().map(pinned).collect()
}

fn pinned(value: &Value) -> io::Result<Pinned> {
    let text = |key: &str| {
        let found = value.get(key).and_then(Value::as_str);
        found
            .map(str::to_owned)
            .ok_or_else(|| io::Error::other(format!("a crate of the list has no {key}")))
    };
    let texts = |key: &str| {
        let all = value.get(key).and_then(Value::as_array);
        let all = all.into_iter().flatten().filter_map(Value::as_str);
        all.map(str::to_owned).collect()
    };
    let name = text("name")?;
    let test = beside().join("crates").join(format!("{name}.rs"));
    Ok(Pinned {
        version: text("version")?,
        checksum: text("checksum")?,
        features: texts("features"),
        test: test
            .is_file()
            .then(|| fs::read_to_string(&test))
            .transpose()?,
        quick: value.get("quick").and_then(Value::as_bool).unwrap_or(false),
        may_fail: texts("may-fail"),
        without: texts("without"),
        name,
    })
}
