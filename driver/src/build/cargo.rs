//! Runs cargo, offline, and reads what it says.

use std::env;
use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use cargo_metadata::Message;
use cargo_metadata::diagnostic::{Diagnostic as Rustc, DiagnosticLevel};

use crate::compiled::Compiled;
use crate::error::Error;
use crate::program::Features;
use crate::said::said;

/// How a build ended.
pub(super) enum Outcome {
    /// The program compiles; the path of its binary.
    Built(PathBuf),
    /// The program doesn't compile.
    Failed(Failure),
}

/// Why there is no binary.
pub(super) struct Failure {
    /// rustc's errors in the package that was to be built, in order.
    pub(super) errors: Vec<Rustc>,
    /// rustc's errors in other packages, in order.
    pub(super) elsewhere: Vec<Elsewhere>,
    /// All that cargo wrote to standard error.
    pub(super) output: String,
}

/// An error in another package than the one that was to be built.
pub(super) struct Elsewhere {
    /// The name of the package's library.
    pub(super) library: String,
    /// The path of the root file of the package's library.
    pub(super) root: PathBuf,
    /// rustc's error.
    pub(super) error: Rustc,
}

impl Elsewhere {
    /// Returns the error in the form in which rustc prints it.
    pub(super) fn rendered(&self) -> &str {
        let rendered = self.error.rendered.as_deref();
        rendered.unwrap_or(&self.error.message)
    }
}

/// A function that is called with the name of each package that cargo begins to compile.
pub(super) type Compiles<'a> = &'a (dyn Fn(&str) + Sync);

/// Runs `cargo build` of the generated crate in `dir`. Its runtime is the source in `runtime`, or the compiled
/// libraries of that source. `sources` is the file that says where packages come from. `stop` breaks the build off.
pub(super) fn build(
    dir: &Path,
    runtime: &Path,
    compiled: Option<&Compiled>,
    target_dir: &Path,
    sources: Option<&Path>,
    stop: &AtomicBool,
    compiles: Compiles<'_>,
) -> Result<Outcome, Error> {
    let mut command = cargo();
    if let Some(sources) = sources {
        command.arg("--config").arg(sources);
    }
    if let Some(compiled) = compiled {
        compiled.configure(&mut command, runtime, dir);
    }
    command
        .args([
            "build",
            "--release",
            "--offline",
            "--message-format=json",
            "--keep-going",
            "--bins",
        ])
        .arg("--target-dir")
        .arg(target_dir)
        .current_dir(dir);
    run(command, dir, stop, compiles)
}

/// Runs `cargo check` of the user's crate as it is. `stop` breaks that off.
pub(super) fn check(
    manifest: &Path,
    features: &Features,
    target_dir: &Path,
    stop: &AtomicBool,
) -> Result<Outcome, Error> {
    let manifest = manifest
        .canonicalize()
        .unwrap_or_else(|_| manifest.to_owned());
    let mut command = cargo();
    command
        .args([
            "check",
            "--tests",
            "--offline",
            "--message-format=json",
            "--manifest-path",
        ])
        .arg(&manifest)
        .args(features.arguments())
        .arg("--target-dir")
        .arg(target_dir);
    let dir = manifest.parent().unwrap_or(&manifest);
    run(command, dir, stop, &|_| ())
}

fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // Set by a cargo that runs seqz (`cargo run`, `cargo test`), and meant for that package alone.
    for (name, _) in env::vars_os() {
        if let Some(name) = name.to_str()
            && (name.starts_with("CARGO_PKG_")
                || name.starts_with("CARGO_MANIFEST_")
                || name.starts_with("CARGO_BIN_"))
        {
            command.env_remove(name);
        }
    }
    command
}

fn run(
    mut command: Command,
    dir: &Path,
    stop: &AtomicBool,
    compiles: Compiles<'_>,
) -> Result<Outcome, Error> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| Error::Build {
            message: format!("cannot run `{}`: {e}", command.get_program().display()),
            output: "seqz builds the transformed program with cargo and rustc".into(),
        })?;
    let mut failure = Failure {
        errors: Vec::new(),
        elsewhere: Vec::new(),
        output: String::new(),
    };
    let mut binary = None;
    let (stdout, stderr) = (child.stdout.take().map(said), child.stderr.take().map(said));
    let (stdout, stderr) = match (stdout.transpose(), stderr.transpose()) {
        (Ok(stdout), Ok(stderr)) => (stdout, stderr),
        (Err(e), _) | (_, Err(e)) => {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
            return Err(Error::Build {
                message: format!("cannot hear cargo: {e}"),
                output: String::new(),
            });
        }
    };
    let ((stdout, first), (stderr, second)) = (stdout.unzip(), stderr.unzip());
    let status = thread::scope(|scope| {
        // What cargo starts may outlive it, as the server of a compiler's cache does, and keep its pipes open.
        let ends = scope.spawn(|| {
            let status = wait(&mut child, stop);
            drop((first, second));
            status
        });
        // Both pipes have to be emptied at once, or cargo stops at the full one.
        let heard = stderr.map(|stderr| scope.spawn(|| listen(stderr, compiles)));
        if let Some(stdout) = stdout {
            for message in Message::parse_stream(BufReader::new(stdout)).flatten() {
                match message {
                    Message::CompilerArtifact(artifact) => {
                        binary = artifact
                            .executable
                            .map(cargo_metadata::camino::Utf8PathBuf::into_std_path_buf)
                            .or(binary.take());
                    }
                    Message::CompilerMessage(message) if is_error(&message.message) => {
                        if Path::new(&message.target.src_path).starts_with(dir) {
                            failure.errors.push(message.message);
                        } else {
                            failure.elsewhere.push(Elsewhere {
                                library: message.target.name,
                                root: message.target.src_path.into_std_path_buf(),
                                error: message.message,
                            });
                        }
                    }
                    _ => {}
                }
            }
        }
        failure.output = heard
            .and_then(|heard| heard.join().ok())
            .unwrap_or_default();
        ends.join()
    });
    let status = status.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    let status = status.map_err(|e| Error::Build {
        message: format!("cannot wait for cargo: {e}"),
        output: String::new(),
    })?;
    // What was broken off says nothing about the program.
    if stop.load(Ordering::Relaxed) {
        return Err(Error::broken_off());
    }
    match binary {
        Some(binary) if status.success() => Ok(Outcome::Built(binary)),
        // A check makes no binary.
        None if status.success() => Ok(Outcome::Built(PathBuf::new())),
        _ => Ok(Outcome::Failed(failure)),
    }
}

/// How often it is asked whether cargo is to be stopped.
const GLANCE: Duration = Duration::from_millis(20);

/// Waits for the end of cargo, which `stop` brings about: the Ctrl-C of a terminal reaches cargo too, but a signal that is
/// sent to seqz alone does not.
fn wait(child: &mut Child, stop: &AtomicBool) -> std::io::Result<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if stop.load(Ordering::Relaxed) {
            // It may have ended by itself.
            let _ = child.kill();
            return child.wait();
        }
        thread::sleep(GLANCE);
    }
}

/// All that cargo says on standard error.
fn listen(stderr: impl Read, compiles: Compiles<'_>) -> String {
    let mut stderr = BufReader::new(stderr);
    let mut text = String::new();
    let mut line = Vec::new();
    // A line that can't be read is missing from a message; it does no other harm.
    while stderr.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
        let said = String::from_utf8_lossy(&line);
        let mut words = said.split_whitespace();
        if words.next() == Some("Compiling")
            && let Some(package) = words.next()
        {
            compiles(package);
        }
        text.push_str(&said);
        line.clear();
    }
    text
}

fn is_error(message: &Rustc) -> bool {
    // rustc's last error, "aborting due to …", only counts the other errors.
    matches!(message.level, DiagnosticLevel::Error | DiagnosticLevel::Ice)
        && !(message.spans.is_empty() && message.message.starts_with("aborting due to"))
}
