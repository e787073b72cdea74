//! The process of a worker: its start, its messages and its end.

use std::io::{self, Read};
use std::os::unix::net::UnixListener;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use seqz_runtime::vocabulary::ended::UNWINDS;

use super::socket::Connection;
use super::{ends_with_us, memory, orphan, stuck};
use crate::model::standstill::Standstill;
use crate::said::{Lives, said};

/// The code with which a process ends whose main thread panics.
const PANICKED: i32 = 101;
/// Where the runtime's sources are, as its panics say: see [`crate::compiled`].
const OWN_SOURCE: &str = "/seqz/runtime/";

/// The time that a worker has for its first sign of life.
const START: Duration = Duration::from_secs(30);
/// The time that a worker has to end by itself once it is told to, or has closed its end of the connection.
const END: Duration = Duration::from_secs(2);
/// The time for which a worker must have waited without a limit before it is taken for blocked for ever.
const BLOCKED: Duration = Duration::from_secs(1);
/// The number of bytes that are kept of a worker's standard error, from its end.
const KEPT: usize = 64 * 1024;

/// A running worker.
#[derive(Debug)]
pub struct Process {
    child: Child,
    /// The connection to the worker.
    pub connection: Connection,
    stderr: Option<JoinHandle<Vec<u8>>>,
    /// Dropped when the worker has been waited for; what it has said by then is read, and no more.
    lives: Option<Lives>,
    /// Whether the worker may be blocked for ever by something that seqz does not follow.
    may_block: bool,
    /// The time from which on the worker was always seen to wait without a limit.
    waits_since: Option<Instant>,
}

/// The end of a worker.
#[derive(Clone, Debug)]
pub struct Death {
    /// The exit status that the system reports.
    pub status: ExitStatus,
    /// The last part of the worker's standard error.
    pub stderr: String,
}

/// The error for a worker that was killed before it was ready.
const KILLED: io::ErrorKind = io::ErrorKind::ConnectionAborted;

/// How often a worker that was killed before it was ready is started again.
const RESTARTED: u32 = 3;

impl Process {
    /// Starts the worker, in `dir` if given, and waits until the worker connects.
    ///
    /// # Errors
    /// When the worker can't be started, or ends or is silent instead of connecting.
    pub fn start(worker: &Path, dir: Option<&Path>) -> io::Result<Self> {
        Self::start_with(worker, dir, &[])
    }

    /// The same, with these variables in its environment.
    ///
    /// # Errors
    /// As [`Process::start`].
    pub fn start_with(
        worker: &Path,
        dir: Option<&Path>,
        variables: &[(&str, String)],
    ) -> io::Result<Self> {
        let mut killed = 0;
        loop {
            match Self::try_to_start(worker, dir, variables) {
                // The worker was killed from outside, for want of memory perhaps: nothing that it has done itself.
                Err(error) if error.kind() == KILLED && killed < RESTARTED => killed += 1,
                started => return started,
            }
        }
    }

    fn try_to_start(
        worker: &Path,
        dir: Option<&Path>,
        variables: &[(&str, String)],
    ) -> io::Result<Self> {
        // The directory goes as soon as the worker has connected, so that a seqz that is killed leaves none.
        let socket = socket_dir()?;
        let path = socket.path().join("worker");
        let listener = UnixListener::bind(&path)?;
        listener.set_nonblocking(true)?;
        let mut command = Command::new(worker);
        if let Some(dir) = dir {
            command.current_dir(dir);
        }
        let mut child = ends_with_us(&mut command)
            .env("SEQZ_SOCKET", &path)
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .env_remove("RUST_BACKTRACE")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            // Ctrl-C is for seqz to handle: seqz has findings to print.
            .process_group(0)
            .spawn()?;
        let stderr = match child.stderr.take().map(said).transpose() {
            Ok(stderr) => stderr,
            Err(e) => return Err(abandon(child, e)),
        };
        let (stderr, lives) = stderr.unzip();
        let stderr = stderr.map(|stderr| thread::spawn(move || tail(stderr)));
        let until = Instant::now() + START;
        let stream = loop {
            match listener.accept() {
                Ok((stream, _)) => break stream,
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                Err(e) => return Err(abandon(child, e)),
            }
            if let Some(status) = child.try_wait()? {
                drop(lives);
                let said = stderr
                    .and_then(|reader| reader.join().ok())
                    .unwrap_or_default();
                let said = String::from_utf8_lossy(&said).trim().to_owned();
                let kind = if status.signal() == Some(9) {
                    KILLED
                } else {
                    io::ErrorKind::Other
                };
                let why = format!("it ended before it was ready ({status}): {said}");
                return Err(io::Error::new(kind, why));
            }
            if Instant::now() > until {
                return Err(abandon(child, io::Error::other("it does not connect")));
            }
            thread::sleep(Duration::from_millis(1));
        };
        stream.set_nonblocking(false)?;
        Ok(Self {
            child,
            connection: Connection::new(stream),
            stderr,
            lives,
            may_block: false,
            waits_since: None,
        })
    }

    /// Returns the memory that the worker takes, in bytes; 0 where the system doesn't tell it.
    #[must_use]
    pub fn resident(&self) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let text = text.unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
        kilobytes.unwrap_or(0) * 1024
    }

    /// Returns how much the worker has worked so far, and whether it waits; `None` where the system doesn't tell it.
    pub(super) fn work(&self) -> Option<Work> {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).ok()?;
        Work::told(&text)
    }

    /// From now on, watches whether the worker is blocked, as it reaches what is not followed.
    pub fn watch_for_blocking(&mut self) {
        self.may_block = true;
    }

    /// Whether the worker has been waiting without a limit for some time.
    pub(super) fn is_blocked(&mut self) -> bool {
        if !self.may_block || !stuck::waits(self.child.id()) {
            self.waits_since = None;
            return false;
        }
        let since = *self.waits_since.get_or_insert_with(Instant::now);
        since.elapsed() > BLOCKED
    }

    /// Ends a worker that makes no progress, and asks the worker where it stands still.
    #[must_use]
    pub fn end_stuck(self) -> Standstill {
        let waits = stuck::waits(self.child.id());
        stuck::ask(self.child.id());
        let death = self.end(true);
        let said = death.map(|death| death.stderr).unwrap_or_default();
        Standstill {
            waits,
            functions: stuck::frames(&said).map(str::to_owned).collect(),
        }
    }

    /// Ends the worker, if it hasn't ended, and returns how it ended.
    ///
    /// # Errors
    /// When the system can't tell.
    pub fn end(mut self, patient: bool) -> io::Result<Death> {
        let until = Instant::now() + END;
        let status = loop {
            if memory::has_ended(self.child.id()) {
                orphan::end_group(self.child.id());
                if let Some(status) = self.child.try_wait()? {
                    break status;
                }
            }
            if !patient || Instant::now() > until {
                self.child.kill()?;
                memory::at_the_end(self.child.id());
                orphan::end_group(self.child.id());
                break self.child.wait()?;
            }
            thread::sleep(Duration::from_millis(1));
        };
        self.lives = None;
        let stderr = self
            .stderr
            .take()
            .and_then(|reader| reader.join().ok())
            .unwrap_or_default();
        Ok(Death {
            status,
            stderr: String::from_utf8_lossy(&stderr).into_owned(),
        })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // All of these fail only when the worker has ended already.
        let _ = self.child.kill();
        memory::at_the_end(self.child.id());
        orphan::end_group(self.child.id());
        let _ = self.child.wait();
    }
}

fn abandon(mut child: Child, error: io::Error) -> io::Error {
    let _ = child.kill();
    let _ = child.wait();
    error
}

/// Returns a directory whose path leaves room for a socket's name: the system allows about a hundred bytes.
fn socket_dir() -> io::Result<TempDir> {
    let dir = tempfile::Builder::new().prefix("seqz").tempdir()?;
    if dir.path().as_os_str().len() < 80 {
        return Ok(dir);
    }
    tempfile::Builder::new().prefix("seqz").tempdir_in("/tmp")
}

/// Reads to the end and keeps the last part.
fn tail(mut from: impl Read) -> Vec<u8> {
    let mut kept = Vec::new();
    let mut chunk = [0; 4096];
    while let Ok(n @ 1..) = from.read(&mut chunk) {
        kept.extend_from_slice(&chunk[..n]);
        if kept.len() > 2 * KEPT {
            kept.drain(..kept.len() - KEPT);
        }
    }
    kept
}

impl Death {
    /// Describes the end in words: "it was ended by a segmentation fault (SIGSEGV)".
    #[must_use]
    pub fn describe(&self) -> String {
        if self.stderr.contains("has overflowed its stack") {
            return "a thread has overflowed its stack".into();
        }
        match (self.status.signal(), self.status.code()) {
            (Some(signal), _) => {
                let (what, name) = match signal {
                    4 => ("an illegal instruction", "SIGILL"),
                    6 => ("an abort", "SIGABRT"),
                    7 => ("a bus error", "SIGBUS"),
                    8 => ("an arithmetic exception", "SIGFPE"),
                    9 => ("a kill from outside, for want of memory perhaps", "SIGKILL"),
                    11 => ("a segmentation fault", "SIGSEGV"),
                    15 => ("a request to end", "SIGTERM"),
                    _ => return format!("the process was ended by signal {signal}"),
                };
                format!("the process was ended by {what} ({name})")
            }
            (None, Some(code)) => format!("the process called exit({code})"),
            (None, None) => format!("the process ended ({})", self.status),
        }
    }

    /// Whether the worker was killed from outside: a program by itself does not end in this way.
    #[must_use]
    pub fn killed(&self) -> bool {
        self.status.signal() == Some(9)
    }

    /// Whether the worker accessed memory that it must not access, such as the end of a coroutine's stack.
    #[must_use]
    pub fn faulted(&self) -> bool {
        matches!(self.status.signal(), Some(7 | 11))
    }

    /// Whether the worker could not go on, since a thread that unwinds would have had to wait.
    #[must_use]
    pub fn unwound(&self) -> bool {
        self.stderr.lines().any(|line| line.starts_with(UNWINDS))
    }

    /// What the worker has said of a panic of its own, which is a fault of seqz. Panics of the program end no process.
    #[must_use]
    pub fn own_panic(&self) -> Option<String> {
        if self.status.code() != Some(PANICKED) {
            return None;
        }
        let mut lines = self.stderr.lines();
        let place = lines.find_map(|line| {
            let (_, place) = line.split_once(" panicked at ")?;
            place
                .contains(OWN_SOURCE)
                .then(|| place.trim_end_matches(':'))
        })?;
        Some(format!(
            "{} ({place})",
            lines.next().unwrap_or("it panicked")
        ))
    }

    /// Whether the program ended itself by `exit`.
    #[must_use]
    pub fn exited(&self) -> bool {
        self.status.code().is_some()
    }
}

/// How much a process has worked so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Work {
    /// The processor time of the process.
    pub(super) time: Duration,
    /// Whether the process waits for something other than a processor.
    pub(super) waits: bool,
}

impl Work {
    /// The number of ticks in a second, in what the system reports.
    const TICKS: u64 = 100;

    /// Reads the line of `/proc/PID/stat`.
    fn told(line: &str) -> Option<Self> {
        // The name, in parentheses, may contain any characters.
        let (_, rest) = line.rsplit_once(')')?;
        let mut fields = rest.split_whitespace();
        let waits = fields.next()? == "S";
        let mut times = fields.skip(10).take(2).map(str::parse::<u64>);
        let ticks = times.next()?.ok()? + times.next()?.ok()?;
        Some(Self {
            time: Duration::from_millis(ticks * 1000 / Self::TICKS),
            waits,
        })
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_a_process_has_done_is_told() {
        let line = "7 (a) name) S 1 7 7 0 -1 4194304 1 2 3 4 150 25 9 9 20 0 1 0 5";
        let expected = super::Work {
            time: std::time::Duration::from_millis(1750),
            waits: true,
        };
        assert_eq!(super::Work::told(line), Some(expected));
        assert_eq!(super::Work::told("7 (name"), None);
    }

    use super::*;

    #[test]
    fn keeps_the_end_of_what_is_said() {
        let long: Vec<u8> = (0..200_000u32).map(|i| (i % 251) as u8).collect();
        let kept = tail(long.as_slice());
        assert!(kept.len() <= 2 * KEPT);
        assert!(long.ends_with(&kept));
    }

    #[test]
    fn a_worker_that_ends_at_once_is_reported_with_what_it_said() {
        let error = Process::start(Path::new("/bin/false"), None).unwrap_err();
        assert!(
            error.to_string().contains("ended before it was ready"),
            "{error}"
        );
        assert!(Process::start(Path::new("/nonexistent/worker"), None).is_err());
    }

    #[test]
    fn deaths_have_words() {
        let death = |raw, stderr: &str| Death {
            status: ExitStatus::from_raw(raw),
            stderr: stderr.into(),
        };
        assert_eq!(
            death(11, "").describe(),
            "the process was ended by a segmentation fault (SIGSEGV)"
        );
        assert_eq!(
            death(6, "\nthread 'main' (3) has overflowed its stack\n").describe(),
            "a thread has overflowed its stack"
        );
        assert_eq!(death(3 << 8, "").describe(), "the process called exit(3)");
        assert!(death(3 << 8, "").exited());
        let panics = |place: &str| {
            format!("\nthread 'main' (3) panicked at {place}:59:22:\nindex out of bounds\n")
        };
        let own = panics("/seqz/runtime/vendor/seqz-explore/src/trace.rs");
        assert_eq!(
            death(101 << 8, &own).own_panic().as_deref(),
            Some("index out of bounds (/seqz/runtime/vendor/seqz-explore/src/trace.rs:59:22)")
        );
        // What a program says, and how it ends, is its own affair.
        assert_eq!(death(1 << 8, &own).own_panic(), None);
        assert_eq!(death(101 << 8, &panics("src/lib.rs")).own_panic(), None);
    }
}
