//! The search of one harness: a worker does it, and is watched over while it does.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::gather::Gathered;
use super::original::{Original, inputs};
use super::progress::{Position, Progress};
use super::solver::RemoteSolver;
use crate::error::Error;
use crate::findings::Store;
use crate::report::document::{Bug, Cut, Kind, Reason, Role, Status};
use crate::worker::message::{Check, Choice, Reply, Request};
use crate::worker::{Death, Process, Received};

/// How often a quiet worker's driver looks up.
const TICK: Duration = Duration::from_millis(50);

/// What doesn't change from harness to harness.
pub(super) struct Search<'a> {
    pub(super) worker: &'a Path,
    pub(super) original: Original<'a>,
    pub(super) stop: &'a AtomicBool,
    pub(super) deadline: Option<Instant>,
    pub(super) hang_after: Duration,
    pub(super) progress: &'a Progress,
    pub(super) store: Option<Store>,
    pub(super) solver: Box<dyn RemoteSolver>,
    /// A worker that is ready for the next harness.
    pub(super) idle: Option<Process>,
}

/// How a conversation with a worker ended.
enum End {
    /// The worker has said all.
    Done,
    /// The user or the clock ended it.
    Cut(Cut),
    /// The worker is dead.
    Died(Death),
    /// The worker had no sign of life for too long.
    Hung,
}

impl Search<'_> {
    /// Searches one harness and adds what is found to `gathered`.
    ///
    /// # Errors
    /// When the worker can't be started or doesn't speak as it should.
    pub(super) fn run(
        &mut self,
        check: &Check,
        gathered: &mut Gathered,
    ) -> Result<Option<Cut>, Error> {
        let mut check = check.clone();
        loop {
            let mut running = None;
            match self.converse(&check, gathered, &mut running)? {
                End::Done => return Ok(None),
                End::Cut(cut) => {
                    gathered.cut(match cut {
                        Cut::Interrupted => Reason::Interrupted,
                        Cut::TimeLimit => Reason::TimeLimit,
                    });
                    return Ok(Some(cut));
                }
                End::Died(_) | End::Hung if !check.announce => {
                    // Which execution was it? Everything is done again in the same order, with each one announced.
                    gathered.start_over();
                    check.announce = true;
                }
                end => {
                    let Some(choice) = running else {
                        let how = match end {
                            End::Died(death) => death.describe(),
                            _ => "it does not answer".to_owned(),
                        };
                        gathered.report.status = Status::Failed {
                            reason: format!("the program died before anything was run: {how}"),
                        };
                        return Ok(None);
                    };
                    let role = Role::from(choice.role);
                    let bug = self.fatal(&end, &choice);
                    self.found(bug, gathered);
                    gathered.died(role);
                    // The other thread under test may still have something to say.
                    check.roles.retain(|other| {
                        Role::from(*other) != role
                            && !gathered.finished((*other).into(), check.k_max)
                    });
                    if check.roles.is_empty() {
                        return Ok(None);
                    }
                    check.announce = false;
                }
            }
        }
    }

    fn converse(
        &mut self,
        check: &Check,
        gathered: &mut Gathered,
        running: &mut Option<Choice>,
    ) -> Result<End, Error> {
        let mut process = match self.idle.take() {
            Some(process) => process,
            None => {
                Process::start(self.worker).map_err(|e| failed("cannot start the worker", &e))?
            }
        };
        if send(&mut process, &Request::Check(check.clone())).is_err() {
            return bury(process);
        }
        let mut last_sign = Instant::now();
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Ok(End::Cut(Cut::Interrupted));
            }
            if self
                .deadline
                .is_some_and(|deadline| Instant::now() >= deadline)
            {
                return Ok(End::Cut(Cut::TimeLimit));
            }
            let frame = match process
                .connection
                .receive(TICK)
                .map_err(|e| failed("the worker can't be heard", &e))?
            {
                Received::Frame(frame) => frame,
                Received::Closed => return bury(process),
                Received::Nothing if last_sign.elapsed() > self.hang_after => return Ok(End::Hung),
                Received::Nothing => continue,
            };
            last_sign = Instant::now();
            let reply: Reply = postcard::from_bytes(&frame).map_err(|e| {
                Error::Worker(format!(
                    "the worker said something that can't be understood: {e}"
                ))
            })?;
            match reply {
                Reply::Done => {
                    self.idle = Some(process);
                    return Ok(End::Done);
                }
                Reply::CheckLog(log) => {
                    let verdict = self.solver.check(&log);
                    if send(&mut process, &Request::Verdict(verdict)).is_err() {
                        return bury(process);
                    }
                }
                Reply::Running(choice) => *running = Some(choice),
                reply => self.heard(reply, gathered),
            }
        }
    }

    fn heard(&mut self, reply: Reply, gathered: &mut Gathered) {
        match reply {
            Reply::Started { threads } => {
                gathered.report.threads = threads
                    .iter()
                    .map(|thread| self.original.thread(thread))
                    .collect();
            }
            Reply::Progress(level) => {
                gathered.progress(level);
                self.progress.at(
                    &gathered.report.name,
                    Position {
                        under_test: level.role.into(),
                        k: level.k,
                        executions: level.executions,
                        bugs: gathered.report.bugs.len(),
                    },
                );
            }
            Reply::Level(level, reasons) => gathered.level(level, &reasons),
            Reply::Finding(finding) => {
                let bug = self.original.bug(&finding);
                self.found(bug, gathered);
            }
            Reply::Note(note) => gathered.note(note),
            Reply::Unsupported { message, place } => {
                gathered.report.status = Status::Unsupported {
                    reason: message,
                    help: None,
                    site: place.and_then(|place| self.original.site(&place)),
                };
            }
            Reply::NoInterference => {
                gathered.report.status = Status::NoInterference {
                    reason: "no two threads ever run side by side: there is one order of everything, and it was run".into(),
                };
            }
            Reply::Nondeterministic { choice } => {
                let thread = Role::from(choice.role).other().name();
                gathered.report.status = Status::Nondeterministic {
                    reason: format!(
                        "the {thread} thread, run by itself, did something else than before with the same inputs"
                    ),
                    site: None,
                };
            }
            Reply::Failed(reason) => gathered.report.status = Status::Failed { reason },
            Reply::Running(_) | Reply::CheckLog(_) | Reply::Done => {}
        }
    }

    fn found(&mut self, bug: Bug, gathered: &mut Gathered) {
        if !gathered.bug(bug.clone()) {
            return;
        }
        let Some(store) = &mut self.store else { return };
        let report = &gathered.report;
        if let Err(error) = store.save(&report.name, &report.site, &report.threads, &bug) {
            // A full disk: the search is worth more than the file.
            gathered.note(format!(
                "findings are not written to files any more: {error}"
            ));
            self.store = None;
        }
    }

    /// The bug that ended a worker.
    fn fatal(&self, end: &End, choice: &Choice) -> Bug {
        let (kind, message) = match end {
            End::Died(death) if death.exited() => (Kind::Exit, death.describe()),
            End::Died(death) => (Kind::Crash, death.describe()),
            _ => (
                Kind::Hang,
                format!(
                    "one execution went on for more than {:.1} s",
                    self.hang_after.as_secs_f64()
                ),
            ),
        };
        Bug {
            kind,
            message,
            site: None,
            other_site: None,
            k: choice.pairs.len() as u32,
            under_test: choice.role.into(),
            inputs: inputs(choice),
            non_local_reads: choice
                .pairs
                .iter()
                .map(|&(read, write)| crate::report::document::NonLocalRead {
                    read,
                    write,
                    variable: None,
                    value: None,
                    read_step: None,
                    write_step: None,
                    read_site: None,
                    write_site: None,
                })
                .collect(),
            trace: Vec::new(),
            count: 1,
            also_found: Vec::new(),
        }
    }
}

fn send(process: &mut Process, request: &Request) -> io::Result<()> {
    let frame = postcard::to_stdvec(request).map_err(io::Error::other)?;
    process.connection.send(&frame)
}

fn bury(process: Process) -> Result<End, Error> {
    let death = process
        .end(true)
        .map_err(|e| failed("the worker's end can't be told", &e))?;
    Ok(End::Died(death))
}

fn failed(what: &str, error: &io::Error) -> Error {
    Error::Worker(format!("{what}: {error}"))
}
