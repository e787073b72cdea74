//! Running the fuzz target for a while.

use std::ffi::OsString;
use std::fs;
use std::io::{BufRead as _, BufReader, Read};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use seqz_runtime::fuzz;

use super::layout::file;
use super::sanitized::{Sanitized, Words};
use crate::check::search::shell_word;
use crate::error::Error;
use crate::model::document::Role;
use crate::said::{output, said};
use crate::worker::{ends_with_us, failed};

/// What the fuzz target is instrumented with to detect errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sanitizer {
    /// No instrumentation: code without `unsafe` can do no harm to memory.
    None,
    /// AddressSanitizer.
    Address,
}

impl Sanitizer {
    /// Returns the name for cargo-fuzz.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Address => "address",
        }
    }
}

/// The settings of one run of the target.
pub(super) struct Slice<'a> {
    pub(super) target: &'a Path,
    /// The directory in which the target runs: that of the package, as for tests.
    pub(super) dir: Option<&'a Path>,
    pub(super) harness: &'a str,
    pub(super) role: Role,
    pub(super) k: u32,
    /// The keys of the bugs that are known.
    pub(super) known: &'a [String],
    pub(super) corpus: &'a Path,
    /// The directory for the byte strings on which the target fails.
    pub(super) artifacts: &'a Path,
    /// The number of bytes that matter.
    pub(super) longest: u32,
    /// Whether the harness has inputs.
    pub(super) inputs: bool,
    /// Whether libFuzzer keeps what gets nearer to making a comparison succeed, too (its value profile).
    pub(super) profile: bool,
    pub(super) time: Duration,
    pub(super) executions: Option<u64>,
    pub(super) hang_after: Duration,
    /// Whether panics of threads that no thread joins are left out of the bugs.
    pub(super) ignore_detached_panics: bool,
    pub(super) memory: u32,
    pub(super) seed: u64,
    pub(super) more: &'a [String],
    pub(super) stop: &'a AtomicBool,
}

/// How a run of the target ended.
pub(super) enum End {
    /// The time or the executions of the run were used up.
    Done,
    /// The user ended the run.
    Interrupted,
    /// The run met a bug that was not known, with this key, on the bytes in the file.
    Met {
        key: String,
        /// The bytes of the failing execution alone.
        bytes: Option<Vec<u8>>,
        artifact: PathBuf,
    },
    /// The execution of the bytes in the file ended the process.
    Fatal {
        what: Fatal,
        /// The message of AddressSanitizer, if AddressSanitizer ended the process.
        sanitized: Option<Sanitized>,
        artifact: PathBuf,
    },
    /// The process ended without a reason in its output.
    Broken { status: ExitStatus, said: String },
}

/// The cause of the process's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fatal {
    /// A signal, an abort, or a call of `exit`.
    Crash,
    /// An execution that took too long.
    Hang,
    /// The process took too much memory.
    Memory,
}

/// The counts of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) executions: u64,
    pub(super) infeasible: u64,
    pub(super) failing: u64,
}

/// Returns the number of executions that one call of a target may make, by whether its harness has inputs.
pub(super) fn rounds(inputs: bool) -> u32 {
    if inputs { 1 } else { fuzz::ROUNDS as u32 }
}

/// The number of last lines of the target's output that are kept.
const KEPT: usize = 64;
/// The time that the target may take beyond its limit.
const GRACE: Duration = Duration::from_secs(20);

impl Slice<'_> {
    pub(super) fn run(&self, mut tell: impl FnMut(Counts)) -> Result<(End, Counts), Error> {
        // A file that was found before would have the same name.
        let new = self.artifacts.join("new");
        match fs::remove_dir_all(&new) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                return Err(file("remove", &new, e));
            }
            _ => {}
        }
        fs::create_dir_all(&new).map_err(|e| file("create", &new, e))?;
        let counts_file = new.join("counts");
        let mut child = self
            .command(&new, &counts_file)
            .spawn()
            .map_err(|e| failed("cannot start the fuzz target", &e))?;
        let stderr = match child.stderr.take().map(said).transpose() {
            Ok(stderr) => stderr,
            Err(e) => {
                // It may have ended by itself.
                let _ = child.kill();
                let _ = child.wait();
                return Err(failed("the fuzz target can't be heard", &e));
            }
        };
        let (stderr, lives) = stderr.unzip();
        let stderr = stderr.map(|stderr| thread::spawn(move || listen(stderr)));
        let until = Instant::now() + self.time + self.hang_after + GRACE;
        let (status, interrupted) = loop {
            let ended = child
                .try_wait()
                .map_err(|e| failed("the fuzz target's end can't be told", &e))?;
            if let Some(status) = ended {
                break (status, false);
            }
            if self.stop.load(Ordering::Relaxed) || Instant::now() > until {
                let _ = child.kill();
                let status = child
                    .wait()
                    .map_err(|e| failed("the fuzz target's end can't be told", &e))?;
                break (status, self.stop.load(Ordering::Relaxed));
            }
            tell(counts(&counts_file));
            thread::sleep(Duration::from_millis(20));
        };
        drop(lives);
        let heard = stderr
            .and_then(|reader| reader.join().ok())
            .unwrap_or_default();
        let counts = counts(&counts_file);
        let artifact = match artifacts(&new).pop() {
            None => None,
            Some(path) => {
                let to = self.artifacts.join(path.file_name().unwrap_or_default());
                fs::rename(&path, &to).map_err(|e| file("write", &to, e))?;
                Some(to)
            }
        };
        let end = match (artifact, heard.key) {
            _ if interrupted => End::Interrupted,
            (Some(artifact), Some(key)) => End::Met {
                key,
                bytes: heard.bytes,
                artifact,
            },
            (Some(artifact), None) => End::Fatal {
                what: fatal(&artifact),
                sanitized: heard.words.read(),
                artifact,
            },
            (None, _) if status.success() => End::Done,
            (None, _) => End::Broken {
                status,
                said: heard.last.join("\n"),
            },
        };
        Ok((end, counts))
    }

    /// Returns the number of executions that one call of the target may make.
    pub(super) fn rounds(&self) -> u32 {
        rounds(self.inputs)
    }

    fn command(&self, artifacts: &Path, counts: &Path) -> Command {
        let mut command = Command::new(self.target);
        ends_with_us(&mut command);
        let seconds = |time: Duration| time.as_secs_f64().ceil().max(1.0);
        // This path has to hold for the target whatever its directory is.
        let mut prefix = OsString::from("-artifact_prefix=");
        prefix.push(artifacts.join(""));
        command
            // The target itself ends in time; this limit is for a target that can't.
            .arg(format!("-max_total_time={}", seconds(self.time) + 1.0))
            .arg(format!("-timeout={}", seconds(self.hang_after)))
            .arg(format!("-rss_limit_mb={}", self.memory))
            .arg(format!("-malloc_limit_mb={}", self.memory))
            .arg(format!("-max_len={}", self.rounds() * self.longest.max(1)))
            // Strings are short, and each byte has its place: strings of full length from the start.
            .arg("-len_control=0")
            .arg("-reload=0")
            .arg("-detect_leaks=0")
            .arg("-report_slow_units=1000000")
            // libFuzzer reads 0 as a seed to be drawn at random.
            .arg(format!("-seed={}", self.seed % 0x7FFF_FFFF + 1))
            .arg(prefix);
        if self.inputs {
            // The mutator changes what it wants to change at once; a change of a change loses what the corpus has.
            command.arg("-mutate_depth=1");
        }
        if self.profile {
            command.arg("-use_value_profile=1");
        }
        if self.ignore_detached_panics {
            command.env(fuzz::IGNORE_DETACHED_PANICS, "1");
        }
        if let Some(executions) = self.executions {
            command.env(fuzz::MOST, executions.to_string());
        }
        command.args(self.more).arg(self.corpus);
        if let Some(dir) = self.dir {
            command.current_dir(dir);
        }
        command
            .env(fuzz::HARNESS, self.harness)
            .env(fuzz::ROLE, self.role.name())
            .env(fuzz::K, self.k.to_string())
            .env(fuzz::KNOWN, self.known.join("\n"))
            .env(fuzz::COUNTS, counts)
            .env(fuzz::FOR, self.time.as_millis().to_string())
            .env(OPTIONS, options())
            .env_remove("RUST_BACKTRACE")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            // Ctrl-C is for seqz to handle: seqz has findings to print.
            .process_group(0);
        command
    }
}

/// The environment variable with AddressSanitizer's options.
pub(super) const OPTIONS: &str = "ASAN_OPTIONS";

/// Returns the user's options, and one for machines without LLVM's symbolizer: there binutils' program finds the places
/// of a stack.
pub(super) fn options() -> String {
    let given = std::env::var(OPTIONS).unwrap_or_default();
    format!("allow_addr2line=1:{given}")
}

/// One call of the target, with the bytes of a file.
pub(super) struct Alone<'a> {
    pub(super) target: &'a Path,
    pub(super) dir: Option<&'a Path>,
    pub(super) harness: &'a str,
    pub(super) role: Role,
    pub(super) k: u32,
    /// The keys of the bugs that are known, at which the call does not stop.
    pub(super) known: &'a [String],
    pub(super) ignore_detached_panics: bool,
    pub(super) hang_after: Duration,
    pub(super) artifact: &'a Path,
}

impl Alone<'_> {
    /// Returns the target's settings, as environment variables.
    fn settings(&self) -> Vec<(&'static str, String)> {
        let mut settings = vec![
            (fuzz::HARNESS, self.harness.to_owned()),
            (fuzz::ROLE, self.role.name().to_owned()),
            (fuzz::K, self.k.to_string()),
        ];
        if !self.known.is_empty() {
            settings.push((fuzz::KNOWN, self.known.join("\n")));
        }
        if self.ignore_detached_panics {
            settings.push((fuzz::IGNORE_DETACHED_PANICS, "1".to_owned()));
        }
        settings
    }

    /// Returns the call as a shell command.
    pub(super) fn in_words(&self) -> String {
        let settings = self.settings().into_iter();
        let settings = settings.map(|(name, value)| format!("{name}={}", shell_word(&value)));
        let paths = [self.target, self.artifact];
        let paths = paths.map(|path| shell_word(&path.display().to_string()));
        settings.chain(paths).collect::<Vec<_>>().join(" ")
    }

    /// Runs the call; returns what AddressSanitizer says.
    pub(super) fn run(&self) -> Result<Option<Sanitized>, Error> {
        let mut command = Command::new(self.target);
        command
            .arg(format!(
                "-timeout={}",
                self.hang_after.as_secs_f64().ceil().max(1.0)
            ))
            .arg("-detect_leaks=0")
            .arg(self.artifact)
            .envs(self.settings())
            .env(OPTIONS, options())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        if let Some(dir) = self.dir {
            command.current_dir(dir);
        }
        let output =
            output(&mut command).map_err(|e| failed("cannot start the fuzz target", &e))?;
        Ok(listen(&output.stderr[..]).words.read())
    }
}

/// What the target has written so far.
#[derive(Default)]
struct Said {
    key: Option<String>,
    bytes: Option<Vec<u8>>,
    words: Words,
    last: Vec<String>,
}

fn listen(stderr: impl Read) -> Said {
    let mut said = Said::default();
    let mut lines = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        match lines.read_until(b'\n', &mut line) {
            Ok(1..) => {}
            _ => return said,
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end();
        if let Some(key) = text.strip_prefix(fuzz::MET) {
            said.key = Some(key.to_owned());
        } else if let Some(bytes) = text.strip_prefix(fuzz::BY) {
            said.bytes = fuzz::from_hex(bytes);
        }
        said.words.hear(text);
        said.last.push(text.to_owned());
        if said.last.len() > KEPT {
            said.last.remove(0);
        }
    }
}

/// Returns the files of failures in a directory, by libFuzzer's names for them.
fn artifacts(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let failure = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        ["crash-", "timeout-", "oom-", "leak-"]
            .iter()
            .any(|start| name.starts_with(start))
    };
    entries.map(|entry| entry.path()).filter(failure).collect()
}

fn fatal(artifact: &Path) -> Fatal {
    let name = artifact.file_name().unwrap_or_default().to_string_lossy();
    if name.starts_with("timeout-") {
        Fatal::Hang
    } else if name.starts_with("oom-") {
        Fatal::Memory
    } else {
        Fatal::Crash
    }
}

/// Returns the counts that the target has written last.
fn counts(file: &Path) -> Counts {
    let text = fs::read_to_string(file).unwrap_or_default();
    let mut numbers = text
        .split_whitespace()
        .map(|number| number.parse().unwrap_or(0));
    let mut next = || numbers.next().unwrap_or(0);
    Counts {
        executions: next(),
        infeasible: next(),
        failing: next(),
    }
}
