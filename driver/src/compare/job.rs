//! One run: a `seqz` of its own, within limits.

use std::fs;
use std::io::Read;
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::document::{Ended, Run, Subject};
use super::method::Method;
use super::{Settings, heard};
use crate::error::Error;
use crate::said::{Lives, all, said};
use crate::worker::ends_with_us;

/// The time between two looks at whether a run has ended.
const LOOK: Duration = Duration::from_millis(5);
/// The time between two looks at the memory of a run.
const WEIGH: Duration = Duration::from_millis(200);
/// The time that a run may take beyond its limit, to start, to replay its findings, and to report.
///
/// A run keeps its limit itself, and counts no time against the method in which it waits for another process's lock on
/// cargo's files or for a build. This is for a run that does not end at all.
const GRACE: Duration = Duration::from_secs(600);
/// The time that a run has to end after it was told to end. What it has found by then is lost where it is not reported, and on
/// a machine with much else to do that takes long.
const PATIENCE: Duration = Duration::from_secs(30);

/// A run that is to be made.
#[derive(Clone, Debug)]
pub struct Job {
    /// The harness.
    pub subject: Subject,
    /// With which method.
    pub method: Method,
    /// The stamp of the source.
    pub stamp: String,
}

/// The result of a run.
#[derive(Debug)]
pub enum Outcome {
    /// The run has ended.
    Ended(Box<Run>),
    /// The user broke the run off: it counts as not made.
    Interrupted,
}

impl Job {
    /// Returns the command line of the run.
    fn command(&self, settings: &Settings) -> Command {
        let limits = &settings.limits;
        let mut command = Command::new(&settings.seqz);
        ends_with_us(&mut command)
            .arg(self.method.command())
            .arg(&self.subject.path)
            .args(["--harness", &self.subject.harness, "--format", "json"])
            // What a project has its commands do is no part of a method.
            .arg("--no-config")
            .args(["--time", &limits.seconds.to_string()])
            .args(["--seed", &limits.seed.to_string()])
            .args(settings.features.arguments())
            .args(self.method.arguments());
        // A fuzzer chooses the inputs itself.
        let inputs = self.subject.inputs.iter();
        for (name, values) in inputs.filter(|_| self.method != Method::Fuzz) {
            command.args(["--input", &format!("{name}={values}")]);
        }
        if limits.ignore_detached_panics {
            command.arg("--ignore-detached-panics");
        }
        if let Some(executions) = limits.executions {
            command.args(["--max-executions", &executions.to_string()]);
        }
        match self.method {
            Method::Check(_) => {
                // Strategies are methods of their own here, so `check` must not go on with an exploration.
                command.args(["--no-explore", "--k-max", &limits.k_max.to_string()]);
            }
            Method::Fuzz => {
                // A corpus from an earlier run would make this run's counts too small.
                command.args(["--k", &limits.k_max.to_string(), "--fresh-corpus"]);
            }
            // The papers' methods let nothing happen without a reason, and go on after the first failure.
            Method::Explore { .. } => {
                command.args(["--spurious", "0", "--keep-going"]);
            }
        }
        if let Some(dir) = &settings.target_dir {
            command.arg("--target-dir").arg(dir);
        }
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        die_with_us(&mut command);
        command
    }

    /// Makes the run.
    ///
    /// # Errors
    /// When it can't be started.
    pub(super) fn run(&self, settings: &Settings, stop: &AtomicBool) -> Result<Outcome, Error> {
        let failed = |e: std::io::Error| Error::Worker(format!("cannot run seqz: {e}"));
        let mut child = self.command(settings).spawn().map_err(failed)?;
        let said = child.stdout.take().map(read).transpose();
        let complained = child.stderr.take().map(read).transpose();
        let (said, complained) = match (said, complained) {
            (Ok(said), Ok(complained)) => (said, complained),
            (Err(e), _) | (_, Err(e)) => {
                end(&mut child);
                return Err(failed(e));
            }
        };
        let ((said, first), (complained, second)) = (said.unzip(), complained.unzip());
        let began = Instant::now();
        let until = began + Duration::from_secs_f64(settings.limits.seconds) + GRACE;
        let mut weighed = began;
        let mut told: Option<(Ended, Instant)> = None;
        let mut pause = Duration::from_millis(1);
        while child.try_wait().map_err(failed)?.is_none() {
            if stop.load(Ordering::Relaxed) {
                end(&mut child);
                return Ok(Outcome::Interrupted);
            }
            let now = Instant::now();
            if let Some((_, since)) = told
                && now - since > PATIENCE
            {
                end(&mut child);
                break;
            }
            if now > until && told.is_none() {
                told = Some((Ended::Timeout, now));
                interrupt(&child);
            }
            if now - weighed > WEIGH {
                weighed = now;
                if told.is_none() && largest(child.id()) > settings.limits.memory {
                    // What the run has found by then is reported, as after Ctrl-C.
                    told = Some((Ended::Memory, now));
                    interrupt(&child);
                }
            }
            thread::sleep(pause);
            pause = (pause * 2).min(LOOK);
        }
        let status = child.wait().map_err(failed)?;
        drop((first, second));
        let text = |reader: Option<JoinHandle<Vec<u8>>>| {
            reader
                .and_then(|reader| reader.join().ok())
                .unwrap_or_default()
        };
        let (said, complained) = (text(said), text(complained));
        // Ctrl-C reaches all processes of the terminal, so the run ends by itself.
        if stop.load(Ordering::Relaxed) {
            return Ok(Outcome::Interrupted);
        }
        let method = self.method.to_string();
        let run = match self.method {
            Method::Check(_) | Method::Fuzz => serde_json::from_slice(&said)
                .ok()
                .and_then(|report| heard::check(method, report)),
            Method::Explore { .. } => serde_json::from_slice(&said)
                .ok()
                .and_then(|report| heard::explore(method, report)),
        };
        let mut run = run.unwrap_or_else(|| {
            let complained = String::from_utf8_lossy(&complained);
            let first = complained.lines().find(|line| !line.trim().is_empty());
            let first = first.map_or_else(|| format!("it ended with {status}"), str::to_owned);
            Run {
                // By exit code 2 the program is at fault: this method can't run the program.
                ended: if status.code() == Some(2) {
                    Ended::Unsupported
                } else {
                    Ended::Failed
                },
                seconds: began.elapsed().as_secs_f64(),
                ..Run::failed(self, first.trim_start_matches("error: ").to_owned())
            }
        });
        if let Some((why, _)) = told {
            run.ended = why;
            run.why = None;
        }
        Ok(Outcome::Ended(Box::new(run)))
    }
}

/// Reads what the run says, in a thread of its own.
fn read(from: impl Read + AsFd + Send + 'static) -> std::io::Result<(JoinHandle<Vec<u8>>, Lives)> {
    let (from, lives) = said(from)?;
    Ok((thread::spawn(move || all(from)), lives))
}

/// Returns this process and all processes below it, each with its resident memory in bytes.
fn family(of: u32) -> Vec<(u32, u64)> {
    let mut all: Vec<(u32, u32, u64)> = Vec::new();
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    for entry in entries.flatten() {
        let Some(process) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        let Ok(status) = fs::read_to_string(entry.path().join("status")) else {
            continue;
        };
        let field = |name: &str| -> Option<u64> {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse().ok()
        };
        // A process that has ended has no memory.
        let kilobytes = field("VmRSS:").unwrap_or(0);
        if let Some(parent) = field("PPid:").and_then(|parent| u32::try_from(parent).ok()) {
            all.push((process, parent, kilobytes * 1024));
        }
    }
    let mut family: Vec<(u32, u64)> = all
        .iter()
        .filter(|(process, ..)| *process == of)
        .map(|&(process, _, memory)| (process, memory))
        .collect();
    let mut at = 0;
    while let Some(&(parent, _)) = family.get(at) {
        let children = all.iter().filter(|(_, other, _)| *other == parent);
        family.extend(children.map(|&(process, _, memory)| (process, memory)));
        at += 1;
    }
    family
}

/// Returns the memory of the largest process of a run, in bytes.
fn largest(run: u32) -> u64 {
    let family = family(run);
    family.iter().map(|(_, memory)| *memory).max().unwrap_or(0)
}

/// Ends a run and its workers; these are not in the run's process group.
fn end(child: &mut Child) {
    let family = family(child.id());
    // `kill` fails only when the child has ended already.
    let _ = child.kill();
    let _ = child.wait();
    for (process, _) in family.into_iter().skip(1) {
        signal(process, libc::SIGKILL);
    }
}

/// Sends the process the signal of Ctrl-C.
fn interrupt(child: &Child) {
    signal(child.id(), libc::SIGINT);
}

fn signal(process: u32, signal: i32) {
    if let Ok(process) = libc::pid_t::try_from(process) {
        // SAFETY: `kill` has no preconditions; a process that is gone gives an error, which does not matter.
        unsafe { libc::kill(process, signal) };
    }
}

/// Has the system end the run when this process is killed.
#[cfg(target_os = "linux")]
fn die_with_us(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;
    // SAFETY: prctl is async-signal-safe, and touches no memory of this process.
    unsafe {
        command.pre_exec(|| {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            Ok(())
        });
    }
}

#[cfg(not(target_os = "linux"))]
const fn die_with_us(_command: &mut Command) {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_all_that_was_started() {
        let mut child = Command::new("sh")
            .args(["-c", "sleep 30 & sleep 30; true"])
            .spawn()
            .unwrap();
        let until = Instant::now() + Duration::from_secs(10);
        while family(child.id()).len() < 3 && Instant::now() < until {
            thread::sleep(Duration::from_millis(10));
        }
        let all = family(child.id());
        assert_eq!(all.len(), 3, "{all:?}");
        assert!(largest(child.id()) > 0);
        end(&mut child);
        let gone = |&(process, _): &(u32, u64)| {
            let stat = fs::read_to_string(format!("/proc/{process}/stat"));
            // The process that adopts an orphan may not have waited for the orphan yet.
            stat.map_or(true, |stat| stat.contains(") Z"))
        };
        while !all.iter().all(gone) && Instant::now() < until {
            thread::sleep(Duration::from_millis(10));
        }
        assert!(all.iter().all(gone));
    }
}
