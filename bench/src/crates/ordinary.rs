//! What `cargo test` says of a crate.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::limited;
use super::list::Pinned;

/// How long building and testing may take.
const LIMIT: Duration = Duration::from_secs(900);

/// What became of a crate's tests, by the names that seqz has for them: whether each has passed.
#[derive(Default)]
pub(super) struct Ordinary {
    pub(super) passed: BTreeMap<String, bool>,
    /// Why nothing is known of the tests, or not of all.
    pub(super) wrong: Option<String>,
}

/// Returns what `cargo test` says of a crate, or has said of the same crate before: what is published does not change.
pub(super) fn of(pinned: &Pinned, copy: &Path, folder: &Path) -> io::Result<Ordinary> {
    let rustc = Command::new("rustc").arg("-V").output()?.stdout;
    let key = format!("{pinned:?} {}", String::from_utf8_lossy(&rustc).trim()).replace('\n', " ");
    let file = folder.join("ordinary").join(&pinned.name);
    if let Some(passed) = fs::read_to_string(&file)
        .ok()
        .and_then(|it| read(&it, &key))
    {
        return Ok(Ordinary {
            passed,
            wrong: None,
        });
    }
    let found = run(pinned, copy, folder)?;
    if found.wrong.is_none() {
        let results = found.passed.iter();
        let lines = results.map(|(name, passed)| format!("\n{passed} {name}"));
        fs::create_dir_all(folder.join("ordinary"))?;
        fs::write(file, format!("{key}{}", lines.collect::<String>()))?;
    }
    Ok(found)
}

/// Returns what was written of a crate's tests, if it was written with this key.
fn read(text: &str, key: &str) -> Option<BTreeMap<String, bool>> {
    let mut lines = text.lines();
    lines.next().filter(|it| *it == key)?;
    lines
        .map(|line| {
            let (passed, name) = line.split_once(' ')?;
            Some((name.to_owned(), passed.parse().ok()?))
        })
        .collect()
}

/// Builds and runs the tests of a crate.
fn run(pinned: &Pinned, copy: &Path, folder: &Path) -> io::Result<Ordinary> {
    let mut command = Command::new("cargo");
    command
        .args(["test", "--offline", "--tests", "--no-fail-fast"])
        .args(["--features", &pinned.features.join(",")])
        .env("CARGO_TARGET_DIR", folder.join("cargo"))
        .current_dir(copy);
    let said = limited::run(command, &folder.join("said").join(&pinned.name), LIMIT)?;
    let mut found = Ordinary::default();
    // Which binary runs is said beside what it says.
    let mut binaries = said.errors.lines().filter_map(binary);
    let mut module = String::new();
    for line in said.out.lines() {
        if line.starts_with("running ") {
            module = binaries.next().unwrap_or_default();
        }
        let Some((name, end)) = line
            .strip_prefix("test ")
            .and_then(|line| line.split_once(" ... "))
        else {
            continue;
        };
        let name = name.trim_end_matches(" - should panic");
        match end.trim() {
            "ok" => drop(found.passed.insert(format!("{module}{name}"), true)),
            "FAILED" => drop(found.passed.insert(format!("{module}{name}"), false)),
            _ => {}
        }
    }
    if said.status.is_none() {
        found.wrong = Some(format!("not done in {} s", LIMIT.as_secs()));
    } else if found.passed.is_empty() {
        let mut errors = said.errors.lines().filter(|it| it.starts_with("error"));
        found.wrong = errors.next().map(str::to_owned);
    }
    Ok(found)
}

/// Returns the module that seqz puts the tests of a binary into, from the line in which cargo names the binary.
fn binary(line: &str) -> Option<String> {
    let file = line.trim().strip_prefix("Running ")?;
    let file = file.strip_prefix("unittests ").unwrap_or(file);
    let file = file.split(" (").next()?.trim_end_matches(".rs");
    let file = file.trim_end_matches("/main");
    Some(match file.strip_prefix("tests/") {
        Some(name) => format!("tests_{}::", name.replace(['-', '/'], "_")),
        None => String::new(),
    })
}
