//! Values in the events of a compiled program: those of the program's own types, and what of them is observed.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use support::{MANIFEST, program, seqz, settings, target_dir};

/// The directory of the generated crate whose library has this text in it.
fn generated(text: &str) -> PathBuf {
    let programs = fs::read_dir(target_dir().join("programs")).unwrap();
    let mut all: Vec<PathBuf> = programs.map(|entry| entry.unwrap().path()).collect();
    all.sort_by_key(|dir| {
        fs::metadata(dir.join("src/lib.rs"))
            .and_then(|library| library.modified())
            .ok()
    });
    let found = all.into_iter().rev().find(|dir| {
        let library = fs::read_to_string(dir.join("src/lib.rs"));
        library.is_ok_and(|library| library.contains(text))
    });
    found.expect("the program has been built")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (path, to) = {
            let entry = entry.unwrap();
            (entry.path(), to.join(entry.file_name()))
        };
        if path.is_dir() {
            copy(&path, &to);
        } else {
            fs::copy(path, to).unwrap();
        }
    }
}

#[test]
fn values_of_a_compiled_program() {
    let lib = include_str!("values/program.rs");
    let dir = program(&[("Cargo.toml", MANIFEST), ("src/lib.rs", lib)]);
    // Builds it, with the runtime.
    let built = seqz(dir.path(), ["explore", "--max-executions", "1"]);
    assert!(built.code.is_some_and(|code| code < 2), "{}", built.shown());

    let crate_ = generated("reads of which less than the value is used");
    let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join("values");
    let _ = fs::remove_dir_all(&to);
    copy(&crate_, &to);
    fs::write(to.join("src/main.rs"), include_str!("values/main.rs")).unwrap();
    let manifest = fs::read_to_string(to.join("Cargo.toml")).unwrap();
    let strategies = target_dir().join("runtime/vendor/seqz-explore");
    let manifest = format!("{manifest}\n[dependencies.seqz-explore]\npath = {strategies:?}\n");
    let name = crate_.file_name().unwrap().to_str().unwrap();
    let manifest = manifest.replacen(name, "sample-values", 1);
    fs::write(to.join("Cargo.toml"), manifest).unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--release", "--offline"])
        .current_dir(&to)
        .env("CARGO_TARGET_DIR", target_dir().join("build"))
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
        .env("CARGO_PROFILE_RELEASE_DEBUG", "0")
        .env("CARGO_INCREMENTAL", "0")
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    settings(dir.path()).bind(|| {
        insta::assert_snapshot!("values", String::from_utf8_lossy(&output.stdout));
    });
}
