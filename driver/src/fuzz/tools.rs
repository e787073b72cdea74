//! The tools that fuzzing needs, and the build of the fuzz target.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::AtomicBool;

use super::layout::{Layout, WRAPPER, file};
use super::target::Sanitizer;
use crate::build::{install, stamp};
use crate::embed;
use crate::error::Error;
use crate::lock;
use crate::program::{Generated, Program};
use crate::said::output;

/// A nightly toolchain and cargo-fuzz, both present.
#[derive(Debug)]
pub struct Tools {
    /// The command and arguments to run in the place of `cargo`.
    cargo: Vec<String>,
    /// The versions of both, for the stamp of what is built with them.
    versions: String,
}

impl Tools {
    /// Looks for both tools.
    ///
    /// # Errors
    /// When one is missing, with how to get it.
    pub fn find() -> Result<Self, Error> {
        let missing = |message: &str, help: &str| Error::Option {
            message: message.into(),
            help: help.into(),
        };
        let by_rustup: Vec<String> = ["rustup", "run", "nightly"].map(Into::into).into();
        let version = |words: &[String], what: &str| {
            let output = command(words).args([what, "--version"]).output().ok()?;
            let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            output.status.success().then_some(text)
        };
        // Without rustup, the `rustc` in the path may still be a nightly one.
        let (prefix, rustc) = match version(&by_rustup, "rustc") {
            Some(rustc) => (by_rustup, rustc),
            None => {
                let plain = vec!["env".to_owned()];
                let rustc = version(&plain, "rustc").filter(|text| text.contains("nightly"));
                let rustc = rustc.ok_or_else(|| {
                    missing(
                        "libFuzzer needs a nightly toolchain, and there is none",
                        "install one: `rustup toolchain install nightly --profile minimal`",
                    )
                })?;
                (plain, rustc)
            }
        };
        let cargo: Vec<String> = prefix.into_iter().chain(["cargo".into()]).collect();
        let fuzz = command(&cargo)
            .args(["fuzz", "--version"])
            .output()
            .ok()
            .filter(|output| output.status.success());
        let fuzz = fuzz.ok_or_else(|| {
            missing(
                "cargo-fuzz is not installed",
                "install it: `cargo install cargo-fuzz`",
            )
        })?;
        let fuzz = String::from_utf8_lossy(&fuzz.stdout).trim().to_owned();
        Ok(Self {
            cargo,
            versions: format!("{rustc}, {fuzz}"),
        })
    }
}

impl Tools {
    /// Returns the versions of both tools.
    #[must_use]
    pub fn versions(&self) -> &str {
        &self.versions
    }
}

fn command(words: &[String]) -> Command {
    let mut words = words.iter();
    let mut command = Command::new(words.next().map_or("cargo", String::as_str));
    command.args(words).stdin(Stdio::null());
    // A cargo that runs seqz sets these variables for another toolchain and another package.
    for (name, _) in env::vars_os() {
        if let Some(name) = name.to_str()
            && (name.starts_with("CARGO_PKG_")
                || name.starts_with("CARGO_MANIFEST_")
                || name.starts_with("CARGO_BIN_")
                || [
                    "CARGO",
                    "RUSTC",
                    "RUSTUP_TOOLCHAIN",
                    "RUSTFLAGS",
                    "CARGO_TARGET_DIR",
                ]
                .contains(&name))
        {
            command.env_remove(name);
        }
    }
    command
}

impl Tools {
    /// Returns the platform that cargo compiles for. Named to cargo, it keeps build scripts and procedural macros free of the
    /// sanitizer.
    fn host(&self) -> Option<String> {
        let (_, before) = self.cargo.split_last()?;
        let output = command(before).args(["rustc", "-vV"]).output().ok()?;
        let said = String::from_utf8(output.stdout).ok()?;
        let mut lines = said.lines();
        lines.find_map(|line| Some(line.strip_prefix("host: ")?.to_owned()))
    }
}

/// rustc's flags for a program that AddressSanitizer watches. The places of a stack come from tables of lines, which a
/// profile may leave out.
const SANITIZED: &str = "-Zsanitizer=address -Cdebuginfo=line-tables-only -Cstrip=none";

/// Returns options for cargo that have packages compiled without optimization. A worker that AddressSanitizer watches runs few
/// executions, and the checks that it puts into optimized code of the runtime take minutes to compile.
fn plainly() -> impl Iterator<Item = String> {
    embed::packages().flat_map(|package| {
        let option = format!("profile.release.package.{package}.opt-level=0");
        ["--config".to_owned(), option]
    })
}

/// Builds the worker of a program with AddressSanitizer, to run the original program with it. Returns the worker and the
/// directory of its source.
///
/// # Errors
/// As [`build`].
pub(super) fn build_sanitized(
    program: &Program,
    generated: &Generated,
    tools: &Tools,
    target_dir: &Path,
    stop: &AtomicBool,
) -> Result<(PathBuf, PathBuf), Error> {
    let layout = Layout::new(program, target_dir)?;
    let Some(_lock) = lock::take(&layout.lock, stop, |_| ())? else {
        return Err(Error::broken_off());
    };
    let dir = layout.sanitized();
    let lock_file = program.lock_file();
    layout.write_sanitized(generated)?;
    if let Some(from) = &lock_file {
        let to = dir.join("Cargo.lock");
        fs::copy(from, &to).map_err(|e| file("write", &to, e))?;
    }
    let host = tools.host().ok_or_else(|| Error::Build {
        message: "rustc does not say which platform it compiles for".into(),
        output: String::new(),
    })?;
    let given = std::env::var("RUSTFLAGS").unwrap_or_default();
    let mut build = command(&tools.cargo);
    build
        .args([
            "build",
            "--release",
            "--offline",
            "--bins",
            "--target",
            &host,
        ])
        .args(plainly())
        .arg("--target-dir")
        .arg(&layout.build)
        .env("RUSTFLAGS", format!("{given} {SANITIZED}"))
        .env_remove("RUST_BACKTRACE")
        .current_dir(&dir)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let output = output(&mut build).map_err(|e| Error::Build {
        message: format!("cannot run cargo: {e}"),
        output: String::new(),
    })?;
    if !output.status.success() {
        return Err(Error::Build {
            message: "the original program can't be built with AddressSanitizer".into(),
            output: String::from_utf8_lossy(&output.stderr).trim().into(),
        });
    }
    let built = layout.build.join(host).join("release").join(&layout.name);
    let worker = dir.join("worker");
    install(&built, &worker)?;
    Ok((worker, dir))
}

/// Builds the fuzz target of a program, unless the target is there already.
///
/// `waiting` is told which other process holds the lock; `stop` breaks off the wait.
///
/// # Errors
/// When the target does not compile, or the tools can't be run.
pub fn build(
    program: &Program,
    generated: &Generated,
    tools: &Tools,
    sanitizer: Sanitizer,
    target_dir: &Path,
    stop: &AtomicBool,
    waiting: impl FnOnce(&str),
) -> Result<PathBuf, Error> {
    let layout = Layout::new(program, target_dir)?;
    fs::create_dir_all(&layout.program).map_err(|e| file("create", &layout.program, e))?;
    let Some(_lock) = lock::take(&layout.lock, stop, waiting)? else {
        return Err(Error::broken_off());
    };

    let files = layout.files(generated);
    let lock_file = program.lock_file();
    let stamp = format!(
        "{}{}, {}\n",
        stamp::of(&files, lock_file.as_deref())?,
        tools.versions,
        sanitizer.name()
    );
    let target = layout.program.join("target");
    let stamp_file = layout.program.join("stamp");
    let fresh = fs::read_to_string(&stamp_file).is_ok_and(|old| old == stamp);
    // The content of a path dependency is not in the stamp, so cargo has to look.
    if fresh && target.is_file() && !generated.may_change() {
        return Ok(target);
    }
    layout.write(&files)?;
    if let Some(from) = lock_file {
        for to in ["Cargo.lock", "fuzz/Cargo.lock"] {
            let to = layout.program.join(to);
            fs::copy(&from, &to).map_err(|e| file("write", &to, e))?;
        }
    }
    let mut build = command(&tools.cargo);
    build
        .args(["fuzz", "build", "p_hat", "--sanitizer", sanitizer.name()])
        .arg("--fuzz-dir")
        .arg(layout.program.join("fuzz"))
        .arg("--target-dir")
        .arg(&layout.build)
        .env("CARGO_NET_OFFLINE", "true")
        .env_remove("RUST_BACKTRACE")
        // The wrapper of the crate's configuration, whatever wrapper the user has set.
        .env("RUSTC_WRAPPER", layout.program.join(WRAPPER))
        .current_dir(&layout.program)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let output = output(&mut build).map_err(|e| Error::Build {
        message: format!("cannot run cargo-fuzz: {e}"),
        output: String::new(),
    })?;
    if !output.status.success() {
        return Err(explain(&output));
    }
    let built = newest(&layout.build).ok_or_else(|| Error::Build {
        message: "cargo-fuzz has built no target".into(),
        output: String::from_utf8_lossy(&output.stderr).into(),
    })?;
    match fs::remove_file(&stamp_file) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            return Err(file("remove", &stamp_file, e));
        }
        _ => {}
    }
    install(&built, &target)?;
    fs::write(&stamp_file, stamp).map_err(|e| file("write", &stamp_file, e))?;
    Ok(target)
}

/// Returns the newest build. cargo-fuzz builds for a named platform, whose name is in the path.
fn newest(build: &Path) -> Option<PathBuf> {
    let built = fs::read_dir(build).ok()?.flatten();
    let built = built.map(|entry| entry.path().join("release/p_hat"));
    built
        .filter_map(|path| Some((fs::metadata(&path).ok()?.modified().ok()?, path)))
        .max()
        .map(|(_, path)| path)
}

fn explain(output: &Output) -> Error {
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.trim();
    let message = if said.contains("ToolNotFound") || said.contains("failed to find tool") {
        "libFuzzer is written in C++, and there is no C++ compiler: install g++ or clang"
    } else if said.contains("offline") {
        "seqz builds offline: run `cargo fetch` in the program's directory once, so that its dependencies are there"
    } else {
        "the fuzz target can't be built"
    };
    Error::Build {
        message: message.into(),
        output: said.into(),
    }
}
