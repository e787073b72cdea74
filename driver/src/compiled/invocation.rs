//! A call of rustc, as cargo makes it to compile a library: which of its arguments decide what the library is, and
//! which only name places. `build.rs` includes this file, too.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::digest::Digest;

/// A call that compiles a library.
pub(crate) struct Invocation {
    /// The name of the crate that is compiled.
    pub(crate) crate_name: String,
    /// The path of the crate's root file.
    pub(crate) source: PathBuf,
    /// The directory that the library is written to.
    out_dir: PathBuf,
    /// The suffix of the names of the library's files.
    suffix: String,
    /// Whether cargo wants to be told of each file as soon as the file is there.
    pub(crate) notifies: bool,
    /// The target that is compiled for, if cargo names one.
    target: Option<String>,
    /// The arguments that decide what the library is, without the linked crates.
    flags: Vec<String>,
    /// The linked crates: the name of each crate and its file.
    externs: Vec<(String, PathBuf)>,
}

/// The kinds of files that cargo asks for.
const EMIT: &str = "dep-info,metadata,link";

impl Invocation {
    /// Takes rustc's arguments apart. `None` where they do not compile a library in the way in which cargo compiles it
    /// for a release; an argument that is not understood counts as such a case.
    pub(crate) fn parse(arguments: &[OsString]) -> Option<Self> {
        let mut arguments = arguments
            .iter()
            .map(|it| it.to_str())
            .collect::<Option<Vec<_>>>()?;
        let mut it = Self {
            crate_name: String::new(),
            source: PathBuf::new(),
            out_dir: PathBuf::new(),
            suffix: String::new(),
            notifies: false,
            target: None,
            flags: Vec::new(),
            externs: Vec::new(),
        };
        let mut emits = false;
        let mut is_library = false;
        let mut left = arguments.drain(..);
        while let Some(argument) = left.next() {
            if !argument.starts_with('-') {
                // cargo never gives a second source file.
                if !it.source.as_os_str().is_empty() {
                    return None;
                }
                it.source = argument.into();
                continue;
            }
            // `-C x`, `-Cx`, `--codegen x`, `--codegen=x`
            let (name, value) = match argument.split_once('=') {
                Some((name, value)) if argument.starts_with("--") => (name, value),
                _ if TAKES_NO_VALUE.contains(&argument) => (argument, ""),
                _ if argument.starts_with("--") || argument.len() == 2 => (argument, left.next()?),
                _ => argument.split_at_checked(2)?,
            };
            match (name, value) {
                ("--crate-name", name) => it.crate_name = name.to_owned(),
                ("--out-dir", dir) => it.out_dir = dir.into(),
                ("--emit", what) => emits = what == EMIT,
                ("--crate-type", what) => is_library = what == "lib",
                ("--error-format", _) | ("--diagnostic-width", _) | ("--color", _) => {}
                ("--json", what) => it.notifies = what.split(',').any(|it| it == "artifacts"),
                ("--extern", what) => {
                    let (name, path) = what.split_once('=')?;
                    it.externs.push((name.to_owned(), path.into()));
                }
                ("-L", what) if what.starts_with("dependency=") => {}
                ("-C" | "--codegen", what) => {
                    let (key, value) = what.split_once('=').unwrap_or((what, ""));
                    match key {
                        "incremental" => return None,
                        "extra-filename" => it.suffix = value.to_owned(),
                        // `metadata` depends on the path of the package. The store names a library by its contents
                        // instead.
                        "metadata" => {}
                        // A library is not linked.
                        "linker" | "linker-flavor" | "link-arg" | "link-args" => {}
                        _ => it.flags.push(format!("-C {what}")),
                    }
                }
                (name, value) => {
                    if name == "--target" {
                        it.target = Some(value.to_owned());
                    }
                    it.flags.push(format!("{name} {value}"));
                }
            }
        }
        let whole = emits
            && is_library
            && !it.crate_name.is_empty()
            && !it.out_dir.as_os_str().is_empty()
            && !it.source.as_os_str().is_empty();
        whole.then_some(it)
    }

    /// Returns the path of the library's file of this kind, `rlib` or `rmeta`.
    pub(crate) fn library(&self, kind: &str) -> PathBuf {
        let name = format!("lib{}{}.{kind}", self.crate_name, self.suffix);
        self.out_dir.join(name)
    }

    /// Returns the path of the list of source files.
    pub(crate) fn dep_info(&self) -> PathBuf {
        self.out_dir
            .join(format!("{}{}.d", self.crate_name, self.suffix))
    }

    /// Returns a digest that tells the library from all others that are made of `sources`.
    pub(crate) fn digest(&self, sources: &str, compiler: &Compiler) -> io::Result<String> {
        let mut digest = Digest::new();
        for part in [sources, &compiler.0, &self.crate_name] {
            digest.add(part.as_bytes());
        }
        // Whether unstable features may be used.
        let bootstrap = std::env::var("RUSTC_BOOTSTRAP").unwrap_or_default();
        let allowed = bootstrap
            .split(',')
            .any(|it| it == "1" || it == self.crate_name);
        digest.add(&[u8::from(allowed)]);
        for flag in &self.flags {
            digest.add(flag.as_bytes());
        }
        for (name, path) in &self.externs {
            digest.add(name.as_bytes());
            digest.add(&fs::read(path)?);
        }
        Ok(digest.finish())
    }

    /// Returns the target that is compiled for, if cargo names one.
    pub(crate) fn target(&self) -> Option<&str> {
        self.target.as_deref()
    }
}

/// The flags without a value that cargo gives, or may be told to give.
const TAKES_NO_VALUE: [&str; 6] = ["-O", "-g", "--test", "--verbose", "-v", "--no-deps"];

/// A compiler: its version and commit, and the `std` that comes with it.
pub(crate) struct Compiler(String);

impl Compiler {
    /// Asks `rustc`, started in `dir`, for its version. `None` where two different compilers might give the same
    /// answer.
    pub(crate) fn ask(rustc: &OsStr, dir: &Path, target: Option<&str>) -> Option<Self> {
        let said = |arguments: &[&str]| {
            let mut command = Command::new(rustc);
            let output = command.args(arguments).current_dir(dir).output().ok()?;
            let text = String::from_utf8(output.stdout).ok()?;
            output.status.success().then_some(text)
        };
        let mut version = said(&["-vV"])?;
        if version.contains("commit-hash: unknown") {
            return None;
        }
        let mut place = vec!["--print", "target-libdir"];
        place.extend(target.iter().flat_map(|target| ["--target", target]));
        let libraries = said(&place)?;
        // Compilers of one commit may have been built separately; then their standard libraries have other names or
        // sizes.
        let mut std = Vec::new();
        for entry in fs::read_dir(Path::new(libraries.trim())).ok()? {
            let entry = entry.ok()?;
            let name = entry.file_name().into_string().ok()?;
            if name.starts_with("libstd-") || name.starts_with("libcore-") {
                std.push(format!("{name} {}\n", entry.metadata().ok()?.len()));
            }
        }
        if std.is_empty() {
            return None;
        }
        std.sort();
        version.extend(std);
        Some(Self(version))
    }

    /// Returns a digest of the compiler together with the sources that are compiled.
    pub(crate) fn with(&self, sources: &str) -> String {
        let mut digest = Digest::new();
        digest.add(sources.as_bytes());
        digest.add(self.0.as_bytes());
        digest.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The arguments that cargo gives for a library that links no other library.
    const CALL: &[&str] = &[
        "--crate-name",
        "a_b",
        "--edition=2024",
        "/here/src/lib.rs",
        "--error-format=json",
        "--json=diagnostic-rendered-ansi,artifacts,future-incompat",
        "--crate-type",
        "lib",
        "--emit=dep-info,metadata,link",
        "-C",
        "opt-level=3",
        "-C",
        "embed-bitcode=no",
        "--cfg",
        "feature=\"x\"",
        "-C",
        "metadata=11",
        "-C",
        "extra-filename=-22",
        "--out-dir",
        "/here/deps",
        "-L",
        "dependency=/here/deps",
    ];

    fn parse(call: &[&str]) -> Option<Invocation> {
        let call: Vec<_> = call.iter().map(OsString::from).collect();
        Invocation::parse(&call)
    }

    fn digest(call: &[&str]) -> String {
        let compiler = Compiler("of the tests".to_owned());
        parse(call).unwrap().digest("sources", &compiler).unwrap()
    }

    #[test]
    fn files_go_where_rustc_puts_them() {
        let it = parse(CALL).unwrap();
        assert_eq!(it.library("rlib"), Path::new("/here/deps/liba_b-22.rlib"));
        assert_eq!(it.dep_info(), Path::new("/here/deps/a_b-22.d"));
        assert!(it.notifies);
        assert_eq!(it.source, Path::new("/here/src/lib.rs"));
    }

    #[test]
    fn where_things_are_does_not_tell_libraries_apart() {
        let elsewhere: Vec<_> = CALL
            .iter()
            .map(|it| {
                it.replace("/here", "/there")
                    .replace("=11", "=33")
                    .replace("-22", "-44")
            })
            .chain([
                "--diagnostic-width=80".into(),
                "-Clink-arg=-fuse-ld=mold".into(),
            ])
            .collect();
        let elsewhere: Vec<_> = elsewhere.iter().map(String::as_str).collect();
        assert_eq!(digest(CALL), digest(&elsewhere));
    }

    #[test]
    fn how_it_is_compiled_does() {
        for flags in [
            &["-C", "opt-level=2"][..],
            &["-Ctarget-cpu=native"],
            &["-Zsanitizer=address"],
            &["--cfg", "feature=\"coercions\""],
            &["--target", "x86_64-unknown-linux-musl"],
            &["-g"],
        ] {
            let call: Vec<_> = CALL.iter().chain(flags).copied().collect();
            assert_ne!(digest(CALL), digest(&call), "{flags:?}");
        }
        let same = digest(&[CALL, &["-C", "linker=cc"]].concat());
        assert_eq!(same, digest(CALL));
        let other = parse(CALL).unwrap();
        let compiler = Compiler("another".to_owned());
        assert_ne!(other.digest("sources", &compiler).unwrap(), digest(CALL));
    }

    #[test]
    fn what_a_library_links_tells_it_apart() {
        let dir = tempfile::tempdir().unwrap();
        let linked = |text: &str, name: &str| {
            let file = dir.path().join(name);
            fs::write(&file, text).unwrap();
            let link = format!("c={}", file.display());
            digest(&[CALL, &["--extern", &link]].concat())
        };
        assert_eq!(linked("one", "libc-1.rmeta"), linked("one", "libc-2.rmeta"));
        assert_ne!(linked("one", "libc-1.rmeta"), linked("two", "libc-1.rmeta"));
        let missing = [CALL, &["--extern", "c=/not/there.rmeta"]].concat();
        let compiler = Compiler(String::new());
        assert!(parse(&missing).unwrap().digest("", &compiler).is_err());
    }

    #[test]
    fn what_is_no_library_for_a_release_is_left_to_rustc() {
        let with = |from: &str, to: &str| {
            let call: Vec<_> = CALL
                .iter()
                .map(|it| if *it == from { to } else { it })
                .collect();
            parse(&call).is_some()
        };
        assert!(with("", ""));
        assert!(!with("lib", "bin"));
        assert!(!with(
            "--emit=dep-info,metadata,link",
            "--emit=dep-info,metadata"
        ));
        assert!(!with("opt-level=3", "incremental=/here/incremental"));
        assert!(parse(&["-vV"]).is_none());
        assert!(parse(&[CALL, &["second.rs"]].concat()).is_none());
        assert!(parse(&[CALL, &["--extern", "proc_macro"]].concat()).is_none());
    }
}
