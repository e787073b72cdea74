//! Runs the built `seqz`, and makes what it prints the same on every machine.

#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test binary uses a part of it, and none is a library"
)]

pub mod programs;

use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::thread;

use serde_json::Value;

/// The binary under test.
pub const SEQZ: &str = env!("CARGO_BIN_EXE_seqz");

/// What a run of `seqz` came to.
pub struct Run {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    /// Both streams and the exit code, as a snapshot wants them.
    pub fn shown(&self) -> String {
        let part = |name: &str, text: &str| {
            if text.is_empty() {
                String::new()
            } else {
                format!("--- {name}\n{}\n", text.trim_end())
            }
        };
        let code = self
            .code
            .map_or_else(|| "none".to_owned(), |code| code.to_string());
        format!(
            "exit code {code}\n{}{}",
            part("stdout", &self.stdout),
            part("stderr", &self.stderr)
        )
    }

    /// Standard output as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e} in:\n{}", self.shown()))
    }
}

/// One target directory for all tests of all binaries, so that the runtime is built once.
pub fn target_dir() -> PathBuf {
    static SETTLED: OnceLock<PathBuf> = OnceLock::new();
    let settle = || {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("seqz-target");
        let config = dir.join(".cargo/config.toml");
        if !fs::read_to_string(&config).is_ok_and(|text| text == HOW_TO_BUILD) {
            fs::create_dir_all(dir.join(".cargo")).expect("a directory");
            fs::write(config, HOW_TO_BUILD).expect("a file");
        }
        dir
    };
    SETTLED.get_or_init(settle).clone()
}

/// Programs are tiny: building them well costs more than running them badly. The runtime and the strategies are built once,
/// and run millions of executions. All that the runtime stands on is named: where the profile of any of it is another one, in a test
/// that sets what others don't, the runtime is compiled once more.
const HOW_TO_BUILD: &str = "\
[profile.release]
opt-level = 0
debug = 0

[profile.release.package.seqz-runtime]
opt-level = 1
debug = 0
codegen-units = 4

[profile.release.package.seqz-vocabulary]
opt-level = 1
debug = 0

[profile.release.package.seqz-feasibility]
opt-level = 1
debug = 0

[profile.release.package.seqz-explore]
opt-level = 1
debug = 0

[profile.release.package.corosensei]
opt-level = 1
debug = 0

[profile.release.package.cfg-if]
opt-level = 1
debug = 0

[profile.release.package.scopeguard]
opt-level = 1
debug = 0
";

/// A command with an environment of its own, in `dir`.
pub fn command(dir: &Path) -> Command {
    let mut command = Command::new(SEQZ);
    command
        .current_dir(dir)
        .env("SEQZ_TARGET_DIR", target_dir())
        // What is compiled here is of no use to the one whose machine it is.
        .env("XDG_CACHE_HOME", target_dir().join("cache"))
        .env("COLUMNS", "100")
        .env("NO_COLOR", "1")
        // As in `HOW_TO_BUILD`, for tests that build elsewhere.
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
        .env("CARGO_PROFILE_RELEASE_DEBUG", "0")
        .env("CARGO_INCREMENTAL", "0")
        .stdin(Stdio::null());
    command
}

/// Runs `seqz` in `dir`.
pub fn seqz(dir: &Path, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Run {
    run(command(dir).args(args))
}

/// Runs a command made with [`command`].
pub fn run(command: &mut Command) -> Run {
    let output: Output = command.output().expect("seqz runs");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
    // A busy machine has more lines of progress than an idle one.
    let stderr = text(&output.stderr)
        .split_inclusive('\n')
        .filter(|line| !line.starts_with(seqz::check::progress::MARK))
        .collect();
    Run {
        code: output.status.code(),
        stdout: text(&output.stdout),
        stderr,
    }
}

/// A directory with these files.
pub fn program(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    for (path, text) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, text).expect("a file");
    }
    dir
}

/// A crate with this library, in a place of its own for each test and text: what was built of it stays for the next run.
pub struct Package(PathBuf);

impl Package {
    pub fn path(&self) -> &Path {
        &self.0
    }
}

/// Writes a crate with this library.
pub fn package(lib: &str) -> Package {
    let mut hasher = DefaultHasher::new();
    lib.hash(&mut hasher);
    let test = thread::current()
        .name()
        .unwrap_or("main")
        .replace("::", "-");
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("packages")
        .join(test);
    let dir = dir.join(format!("{:016x}", hasher.finish()));
    fs::create_dir_all(dir.join("src")).expect("a directory");
    fs::write(dir.join("Cargo.toml"), MANIFEST).expect("a file");
    fs::write(dir.join("src/lib.rs"), lib).expect("a file");
    Package(dir)
}

/// The target directory may lie in a workspace, to which the crate doesn't belong.
pub const MANIFEST: &str =
    "[package]\nname = \"sample\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n";

/// Snapshot settings under which directories and times don't show.
pub fn settings(dir: &Path) -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let dir = dir.canonicalize().expect("a path");
    for path in [dir.as_path(), &target_dir()] {
        let name = if path == dir { "[DIR]" } else { "[TARGET]" };
        settings.add_filter(&regex_of(&path.display().to_string()), name);
    }
    settings.add_filter(r" \(and \d+\.\d+ s of building\)", "");
    settings.add_filter(r"\d+\.\d+ s\b( *\([^)]*/s\))?", "[TIME]");
    settings.add_filter(r"sample-[0-9a-f]{8,}", "sample-[HASH]");
    settings.add_filter(r"/[0-9a-f]{32}\b", "/[WORKER]");
    settings.add_filter(r"(sample-\[HASH\])/\d+\.json", "$1/[N].json");
    settings
}

fn regex_of(text: &str) -> String {
    text.chars()
        .flat_map(|c| {
            (!c.is_alphanumeric())
                .then_some('\\')
                .into_iter()
                .chain([c])
        })
        .collect()
}

/// The file of findings that was written last, where the JSON of a search that ran in `dir` says that they are.
pub fn newest_finding(dir: &Path, report: &Value) -> PathBuf {
    let findings = report["findings"].as_str().expect("a finding");
    let files = fs::read_dir(dir.join(findings)).expect("a directory");
    let written = files
        .map(|file| file.expect("a file").path())
        .filter_map(|file| {
            let stem = file.file_stem()?.to_str()?;
            let number: u32 = stem.parse().ok()?;
            let modified = fs::metadata(&file).ok()?.modified().ok()?;
            Some((modified, number, file))
        });
    written.max().expect("a finding").2
}
