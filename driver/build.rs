//! Lists the runtime's source files, so that `embed.rs` can carry them inside the binary.
//!
//! An installed `seqz` has no checkout beside it, yet every transformed program links the runtime: its source travels
//! with the binary and is written out next to the program.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io, process};

fn main() {
    if let Err(error) = generate() {
        eprintln!("cannot embed the runtime's source: {error}");
        process::exit(1);
    }
}

fn generate() -> io::Result<()> {
    let manifest = PathBuf::from(required("CARGO_MANIFEST_DIR")?);
    let runtime = manifest.join("../runtime");
    let source = runtime.join("src");
    // A directory is watched as a whole: files that come and go count too.
    println!("cargo::rerun-if-changed={}", source.display());

    let mut files = Vec::new();
    collect(&source, Path::new("src"), &mut files)?;
    // The order of a directory listing differs between file systems; the binary must not.
    files.sort();

    let mut out = String::from("&[\n");
    for (relative, absolute) in &files {
        println!("cargo::rerun-if-changed={absolute}");
        writeln!(out, "    ({relative:?}, include_str!({absolute:?})),")
            .map_err(io::Error::other)?;
    }
    out.push_str("]\n");
    fs::write(
        Path::new(&required("OUT_DIR")?).join("runtime_files.rs"),
        out,
    )
}

fn collect(dir: &Path, relative: &Path, files: &mut Vec<(String, String)>) -> io::Result<()> {
    let entries = fs::read_dir(dir)
        .map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", dir.display())))?;
    for entry in entries {
        let entry = entry?;
        let path = entry.path();
        let relative = relative.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            collect(&path, &relative, files)?;
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push((text(&relative)?, text(&path.canonicalize()?)?));
        }
    }
    Ok(())
}

fn text(path: &Path) -> io::Result<String> {
    path.to_str()
        .map(str::to_owned)
        .ok_or_else(|| io::Error::other(format!("{} is not UTF-8", path.display())))
}

fn required(name: &str) -> io::Result<String> {
    env::var(name).map_err(|e| io::Error::other(format!("{name}: {e}")))
}
