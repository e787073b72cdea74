//! The wrapper that cargo runs in the place of rustc: it takes libraries of the runtime from a store, and compiles
//! those that aren't there. `build.rs` includes this file, too.
//!
//! cargo gives a program's flags, its profile and its target to every call of rustc. So the call itself says whether a
//! compiled library is the one that is asked for.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use super::invocation::{Compiler, Invocation};
use super::store::Store;

/// The environment variable with the directory of the runtime and its dependencies: only libraries of sources in it are
/// kept.
const SOURCE: &str = "SEQZ_COMPILES";
/// The environment variable with the digest of these sources.
const DIGEST: &str = "SEQZ_COMPILES_DIGEST";
/// The environment variable with the path of the store.
const STORE: &str = "SEQZ_COMPILES_INTO";
/// The environment variable with the wrapper that the user has told cargo to run in the place of rustc.
const OTHER: &str = "SEQZ_COMPILES_BY";

/// The directory of the runtime's sources in the libraries that are kept: other programs have the sources in other
/// places.
const PLACE: &str = "/seqz/runtime";

/// Tells cargo to run `wrapper`, which has to call [`serve`], in the place of rustc.
pub(crate) fn configure(
    cargo: &mut Command,
    wrapper: &Path,
    sources: &Path,
    digest: &str,
    store: &Path,
    other: Option<&OsStr>,
) {
    cargo
        .env("RUSTC_WRAPPER", wrapper)
        .env(SOURCE, sources)
        .env(DIGEST, digest)
        .env(STORE, store);
    match other {
        Some(other) => cargo.env(OTHER, other),
        None => cargo.env_remove(OTHER),
    };
}

/// Where cargo has started this process in the place of rustc: does what rustc would do and returns the exit code.
pub(crate) fn serve() -> Option<u8> {
    let sources = PathBuf::from(env::var_os(SOURCE)?);
    let (digest, store) = (env::var(DIGEST).ok()?, Store(env::var_os(STORE)?.into()));
    let mut arguments = env::args_os().skip(1);
    let rustc = arguments.next()?;
    let arguments: Vec<_> = arguments.collect();
    let ours = Invocation::parse(&arguments).filter(|it| it.source.starts_with(&sources));
    let named = ours.and_then(|it| {
        let compiler = Compiler::ask(&rustc, Path::new("."), it.target())?;
        let name = Store::name(&it, &digest, &compiler).ok()?;
        Some((it, name))
    });
    let Some((invocation, name)) = named else {
        return Some(code(run(&rustc, &arguments, None)));
    };
    if store.fetch(&name, &invocation).is_ok() {
        notify(&invocation);
        return Some(0);
    }
    let code = code(run(&rustc, &arguments, Some(&sources)));
    if code == 0 {
        let _ = store.keep(&name, &invocation);
    }
    Some(code)
}

/// Runs rustc with these arguments, by the user's own wrapper if there is one. Names of files in `kept` are recorded as
/// names in [`PLACE`].
fn run(rustc: &OsStr, arguments: &[OsString], kept: Option<&Path>) -> std::io::Result<ExitStatus> {
    let other = env::var_os(OTHER).filter(|it| !it.is_empty());
    let mut command = match other {
        Some(other) => {
            let mut command = Command::new(other);
            command.arg(rustc);
            command
        }
        None => Command::new(rustc),
    };
    command.args(arguments);
    if let Some(kept) = kept {
        let mut names = OsString::from("--remap-path-prefix=");
        names.push(kept);
        names.push("=");
        names.push(PLACE);
        command.arg(names);
    }
    command.status()
}

fn code(ended: std::io::Result<ExitStatus>) -> u8 {
    match ended {
        // rustc was ended by a signal: cargo has to see that something went wrong.
        Ok(status) => status
            .code()
            .map_or(101, |code| u8::try_from(code).unwrap_or(101)),
        Err(error) => {
            eprintln!("cannot run rustc: {error}");
            101
        }
    }
}

/// Writes to standard error what rustc would write, so that cargo starts the compilations that wait for the files.
fn notify(invocation: &Invocation) {
    if !invocation.notifies {
        return;
    }
    for (emit, path) in [
        ("dep-info", invocation.dep_info()),
        ("metadata", invocation.library("rmeta")),
        ("link", invocation.library("rlib")),
    ] {
        eprintln!(
            "{{\"$message_type\":\"artifact\",\"artifact\":\"{}\",\"emit\":\"{emit}\"}}",
            escaped(&path.display().to_string())
        );
    }
}

/// Escapes a text for a JSON string.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}
