//! A crate's own folder, as it was published, in a copy that can be written.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use toml::Table;

use super::list::Pinned;

/// What cargo says where it can't reach the registry.
const OFFLINE: &[&str] = &[
    "Could not resolve host",
    "Couldn't connect",
    "Could not connect",
    "spurious network error",
    "network failure",
    "failed to download",
    "download of config.json failed",
];

/// The file of the test that is added.
pub(super) const ADDED: &str = "tests/added_threads.rs";

/// Has cargo fetch a crate and what it needs, and returns the copy of its folder.
pub(super) fn copy(pinned: &Pinned, folder: &Path) -> io::Result<PathBuf> {
    let copy = folder.join("sources").join(&pinned.name);
    let published = fetch(pinned, &folder.join("scratch"))?;
    if copy.exists() {
        fs::remove_dir_all(&copy)?;
    }
    copy_tree(&published, &copy)?;
    // The crate is built by the rustc of this repository, whatever its authors have at hand.
    for toolchain in ["rust-toolchain", "rust-toolchain.toml"] {
        let file = copy.join(toolchain);
        if file.exists() {
            fs::remove_file(file)?;
        }
    }
    let manifest = copy.join("Cargo.toml");
    let mut text = fs::read_to_string(&manifest)?;
    for file in &pinned.without {
        fs::remove_file(copy.join(file))?;
        text = without_target(&text, file)?;
    }
    // The copy is below the workspace of seqz, and no part of it.
    if !text.lines().any(|line| line.trim() == "[workspace]") {
        text.push_str("\n[workspace]\n");
    }
    if let Some(test) = &pinned.test {
        fs::create_dir_all(copy.join("tests"))?;
        fs::write(copy.join(ADDED), test)?;
        text.push_str(&format!(
            "\n[[test]]\nname = \"added_threads\"\npath = \"{ADDED}\"\n"
        ));
    }
    fs::write(manifest, text)?;
    cargo(&copy, &["fetch", "--quiet"])?;
    Ok(copy)
}

/// Returns a manifest without the test target of this file.
fn without_target(manifest: &str, file: &str) -> io::Result<String> {
    let mut table: Table = manifest.parse().map_err(io::Error::other)?;
    if let Some(targets) = table.get_mut("test").and_then(|it| it.as_array_mut()) {
        targets.retain(|it| it.get("path").and_then(|it| it.as_str()) != Some(file));
    }
    toml::to_string(&table).map_err(io::Error::other)
}

/// Returns where cargo has a crate's source, once it is as the list says.
fn fetch(pinned: &Pinned, scratch: &Path) -> io::Result<PathBuf> {
    let Pinned { name, version, .. } = pinned;
    fs::create_dir_all(scratch.join("src"))?;
    fs::write(scratch.join("src/lib.rs"), "")?;
    fs::write(
        scratch.join("Cargo.toml"),
        format!(
            "[package]\nname = \"seqz-scratch\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
             [dependencies]\n{name} = \"={version}\"\n"
        ),
    )?;
    let lock = scratch.join("Cargo.lock");
    if lock.exists() {
        fs::remove_file(&lock)?;
    }
    let said = cargo(scratch, &["metadata", "--format-version", "1"])?;
    let metadata: Value = serde_json::from_slice(&said).map_err(io::Error::other)?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let mut found = packages.filter(|it| it["name"] == **name && it["version"] == **version);
    let path = found
        .next()
        .and_then(|it| Path::new(it["manifest_path"].as_str()?).parent());
    let path = path.ok_or_else(|| io::Error::other(format!("cargo has no {name} {version}")))?;
    // Cargo has held what it fetched against the sum in the lock file.
    if !fs::read_to_string(lock)?.contains(&pinned.checksum) {
        let wrong = format!("{name} {version} is not what the list says: another checksum");
        return Err(io::Error::other(wrong));
    }
    Ok(path.to_owned())
}

fn cargo(dir: &Path, arguments: &[&str]) -> io::Result<Vec<u8>> {
    let output = Command::new("cargo")
        .args(arguments)
        .current_dir(dir)
        .output()?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let unreached = OFFLINE.iter().any(|words| said.contains(words));
    let kind = if unreached {
        io::ErrorKind::NotConnected
    } else {
        io::ErrorKind::Other
    };
    Err(io::Error::new(kind, format!("{}: {said}", dir.display())))
}

fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let Some(name) = path.file_name() else {
            continue;
        };
        let target = to.join(name);
        if path.is_dir() {
            copy_tree(&path, &target)?;
        } else {
            // Not `fs::copy`: what cargo keeps may be marked as not to be written.
            fs::write(target, fs::read(&path)?)?;
        }
    }
    Ok(())
}
