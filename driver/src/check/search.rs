//! The search of one harness: a worker searches, and the driver watches over the worker.

use std::path::Path;
use std::time::{Duration, Instant};

use super::Keep;
use super::gather::{Gathered, Identity};
use super::progress::{Position, Progress};
use crate::error::Error;
use crate::findings::{Found, Store};
use crate::model::document::{Bug, Cut, Kind, Met, Reason, Role, Status, Thread};
use crate::model::schedule::Confirmation;
use crate::model::unfollowed;
use crate::model::verdict;
use crate::model::words;
use crate::original::{Original, inputs};
use crate::solvers::RemoteSolver;
use crate::worker::message::{
    Answer, CheckReply, CheckRequest, Executing, Reply, SolverKind, Stopped,
};
use crate::worker::{Death, Heard, Process, Session, Standstill, Watch, bury, failed};
use seqz_runtime::log::Log;
use seqz_runtime::{ReadId, WriteId};

/// What is the same for all harnesses of a search.
pub(super) struct Search<'a> {
    pub(super) worker: &'a Path,
    /// The directory in which tests of the program run: that of their package, as under cargo.
    pub(super) dir: Option<&'a Path>,
    pub(super) original: Original<'a>,
    pub(super) watch: Watch<'a>,
    pub(super) seed: u64,
    pub(super) progress: &'a Progress,
    pub(super) store: Option<Store>,
    pub(super) solver: Box<dyn RemoteSolver>,
    pub(super) keep: Keep<'a>,
}

/// The inputs, `rds` and `wrts` of one execution.
struct Choice {
    role: Role,
    pairs: Vec<(ReadId, WriteId)>,
    inputs: Vec<(String, String)>,
}

/// What comes after a reply.
enum Next {
    /// The next reply.
    Listen,
    /// An answer to the worker.
    Answer(Answer),
    /// The worker says no more.
    End,
}

/// How a conversation with a worker ended.
enum End {
    /// The worker has said all that it has to say.
    Done,
    /// The user or the clock ended the conversation.
    Cut(Cut),
    /// The worker is dead.
    Died(Death),
    /// The worker gave no sign of life for too long.
    Hung,
    /// The worker gave no sign of life for too long, and the cause may lie in something that is not followed.
    Blocked(Standstill),
    /// The clock ended the conversation after this time, and no execution had come to its end.
    WithoutAny(Duration, Standstill),
}

/// The threads that the search has under test, as far as is known.
fn roles(check: &CheckRequest, gathered: &Gathered) -> Vec<Role> {
    let mut roles: Vec<Role> = check.roles.iter().map(|role| (*role).into()).collect();
    if check.others {
        let known = roles.len();
        let threads = gathered.report.threads.len();
        roles.extend((0_u8..).map(Role).take(threads).skip(known));
    }
    roles
}

impl Search<'_> {
    /// Searches one harness and adds what is found to `gathered`.
    ///
    /// # Errors
    /// When the worker can't be started or doesn't speak as it should.
    pub(super) fn run(
        &mut self,
        check: &CheckRequest,
        gathered: &mut Gathered,
    ) -> Result<Option<Cut>, Error> {
        let cut = self.go_through(check, gathered)?;
        self.tell_held(gathered);
        Ok(cut)
    }

    /// Has the threads of this name, and no others, put under test in turn. Returns why that can't be, where no such thread
    /// runs beside others.
    ///
    /// The source doesn't tell which threads run side by side, nor in which order they begin: one execution does.
    ///
    /// # Errors
    /// When the worker can't be started or doesn't speak as it should.
    pub(super) fn give_role(
        &mut self,
        name: &str,
        check: &mut CheckRequest,
        gathered: &Gathered,
    ) -> Result<Option<String>, Error> {
        let mut one = Gathered::new(
            gathered.report.clone(),
            gathered.spawns.clone(),
            gathered.idle_functions.clone(),
        );
        let store = self.store.take();
        let first = CheckRequest {
            k_max: 0,
            max_executions: 1,
            part: (0, 1),
            ..check.clone()
        };
        let ended = self.converse(&first, &mut one, &mut None);
        self.store = store;
        ended?;
        let threads = &one.report.threads;
        // Where no two threads run side by side, the search says so.
        if threads.is_empty() {
            return Ok(None);
        }
        let name_of = |thread: &Thread| {
            let main = thread.spawned.is_none().then(|| "main".to_owned());
            thread.name.clone().or(main)
        };
        let all = || (0..).map(Role).zip(threads.iter().map(name_of));
        // Several threads may have one name.
        let meant = all().filter(|(_, own)| own.as_deref() == Some(name));
        let meant: Vec<_> = meant.map(|(role, _)| role.into()).collect();
        if meant.is_empty() {
            let known = all().map(|(role, own)| own.unwrap_or_else(|| role.name().to_owned()));
            return Ok(Some(format!(
                "no thread `{name}` runs beside others here that could be under test: there are {}",
                known.collect::<Vec<_>>().join(", ")
            )));
        }
        check.roles = meant;
        Ok(None)
    }

    /// Searches one harness, without adding the bugs that are told only at the end of the search.
    fn go_through(
        &mut self,
        check: &CheckRequest,
        gathered: &mut Gathered,
    ) -> Result<Option<Cut>, Error> {
        let mut check = check.clone();
        let mut died = None;
        loop {
            gathered.start_over(&roles(&check, gathered));
            let mut running = None;
            let end = self.converse(&check, gathered, &mut running)?;
            let roles = roles(&check, gathered);
            match end {
                End::Done => {
                    if let Some(how) = died {
                        gathered.note(format!(
                            "the program died once, and not when it was run again: {how}"
                        ));
                    }
                    let report = &mut gathered.report;
                    if let Some(reason) = verdict::no_interference(report) {
                        report.status = Status::NoInterference {
                            reason: reason.into(),
                        };
                    }
                    return Ok(None);
                }
                End::Cut(cut) => {
                    let reason = match cut {
                        Cut::Interrupted => Reason::Interrupted,
                        Cut::TimeLimit => Reason::TimeLimit,
                    };
                    gathered.cut(&roles, check.k_max, reason);
                    return Ok(Some(cut));
                }
                End::WithoutAny(after, at) => {
                    let report = &mut gathered.report;
                    // Executions may have come to their end before the program died.
                    if died.is_none() && !check.careful && report.bugs.is_empty() {
                        report.status = Status::none_ended(after, &at, &report.not_followed);
                    } else {
                        gathered.cut(&roles, check.k_max, Reason::TimeLimit);
                    }
                    return Ok(Some(Cut::TimeLimit));
                }
                // What was found may be a bug, but the execution can't show whether it is.
                End::Died(death) if death.unwound() => {
                    gathered.cut(&roles, check.k_max, Reason::Unwinding);
                    return Ok(None);
                }
                end @ (End::Died(_) | End::Hung) if !check.careful => {
                    if let End::Died(death) = end {
                        died = Some(death.describe());
                    }
                    // To find the execution that ended the worker, the search is repeated in the same order, and each
                    // execution is announced.
                    check.careful = true;
                }
                End::Blocked(at) => {
                    let report = &mut gathered.report;
                    report.status = Status::blocked(&at, &report.not_followed);
                    return Ok(None);
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
                    let role = choice.role;
                    let mut bug = self.fatal(&end, &choice, &check.harness);
                    gathered.died(role, choice.pairs.len() as u32, check.k_max);
                    bug.met = gathered.met(role);
                    self.found(bug, gathered);
                    // The other threads under test may still have something to say.
                    check.roles = roles.iter().map(|&role| role.into()).collect();
                    check.others = false;
                    check.roles.retain(|other| {
                        Role::from(*other) != role
                            && !gathered.finished((*other).into(), check.k_max)
                    });
                    if check.roles.is_empty() {
                        return Ok(None);
                    }
                    check.careful = false;
                    died = None;
                }
            }
        }
    }

    fn converse(
        &mut self,
        check: &CheckRequest,
        gathered: &mut Gathered,
        running: &mut Option<Choice>,
    ) -> Result<End, Error> {
        let mut process = Process::start(self.worker, self.dir)
            .map_err(|e| failed("cannot start the worker", &e))?;
        let may_block = !gathered.report.not_followed.is_empty();
        if may_block {
            process.watch_for_blocking();
        }
        let mut session = match Session::begin(process, check.clone()) {
            Ok(session) => session,
            Err(process) => return bury(*process).map(End::Died),
        };
        let started = Instant::now();
        // Whether the worker has begun and no execution has come to its end yet.
        let mut none_ended = false;
        loop {
            let reply = match session.listen(&self.watch)? {
                Heard::Reply(reply) => reply,
                Heard::Cut(Cut::TimeLimit) if none_ended => {
                    return Ok(End::WithoutAny(
                        started.elapsed(),
                        session.into_process().end_stuck(),
                    ));
                }
                Heard::Cut(cut) => return Ok(End::Cut(cut)),
                Heard::Closed => return bury(session.into_process()).map(End::Died),
                Heard::Hung if may_block => {
                    return Ok(End::Blocked(session.into_process().end_stuck()));
                }
                Heard::Hung => return Ok(End::Hung),
            };
            let next = match reply {
                Reply::Own(reply) => {
                    match &reply {
                        CheckReply::Started { .. } => none_ended = true,
                        CheckReply::Progress { .. }
                        | CheckReply::Level { .. }
                        | CheckReply::Finding(_) => none_ended = false,
                        _ => {}
                    }
                    self.heard(reply, check.solver, gathered, running)?
                }
                Reply::LeftBehind(what) => {
                    let idle = &gathered.idle_functions;
                    unfollowed::add(&mut gathered.report.not_followed, what, idle);
                    Next::Listen
                }
                Reply::Asked(what) => {
                    let report = &mut gathered.report;
                    unfollowed::add_asked(&mut report.not_followed, &mut report.reads, &what);
                    Next::Listen
                }
                Reply::Stopped(why) => {
                    self.stopped(why, gathered)?;
                    Next::End
                }
            };
            let roles = roles(check, gathered);
            self.keep.now_and_then(gathered, &roles, check.k_max)?;
            match next {
                Next::Listen => {}
                Next::Answer(answer) => {
                    if session.answer(&answer).is_err() {
                        return bury(session.into_process()).map(End::Died);
                    }
                }
                Next::End => return Ok(End::Done),
            }
        }
    }

    fn decide(
        &mut self,
        log: &Log<'_>,
        by_grid: bool,
        solver: SolverKind,
        gathered: &mut Gathered,
    ) -> Result<Answer, Error> {
        let answer = self.solver.check(log);
        match &answer {
            Answer::Unknown(why) => {
                gathered.note(format!("the solver could not decide a log: {why}"))
            }
            _ if solver != SolverKind::Both || (answer == Answer::Feasible) == by_grid => {}
            _ => {
                return Err(Error::Worker(format!(
                    "the progress grid and Z3 differ; the grid says {}, Z3 {answer:?}, of this log: {log:?}",
                    if by_grid { "Feasible" } else { "Infeasible" }
                )));
            }
        }
        Ok(answer)
    }

    /// Takes in a reply of the worker.
    fn heard(
        &mut self,
        reply: CheckReply,
        solver: SolverKind,
        gathered: &mut Gathered,
        running: &mut Option<Choice>,
    ) -> Result<Next, Error> {
        match reply {
            CheckReply::Started { sampled, inputs } => {
                gathered.sampled = sampled;
                if sampled {
                    gathered.note(words::sample_of_inputs(inputs, self.seed));
                }
            }
            CheckReply::Threads(threads) => {
                let known = &gathered.spawns;
                let threads = threads.iter();
                gathered.report.threads = threads
                    .map(|thread| self.original.thread(thread, known))
                    .collect();
                self.tell_threads(gathered);
            }
            CheckReply::Doubtful { what, place } => {
                let site = place.and_then(|place| self.original.site(&place));
                let what = self.original.message(&what);
                unfollowed::add_doubtful(&mut gathered.report.not_followed, what, site);
            }
            CheckReply::Progress { role, k, level } => {
                let position = Position {
                    under_test: role.into(),
                    k,
                    executions: level.executions,
                    bugs: gathered.report.bugs.len(),
                };
                self.progress.at(&gathered.report.name, position);
                gathered.progress(role.into(), k, level);
            }
            CheckReply::Level { role, k, level } => gathered.level(role.into(), k, &level),
            CheckReply::Finding(finding) => {
                let mut bug = self.original.bug(&finding);
                gathered.place(&mut bug);
                bug.met.seconds = gathered.started.elapsed().as_secs_f64();
                // A finding that the original program refutes is a fault of seqz, whatever else is told.
                if finding.follows.is_empty() || bug.confirmation.refutes() {
                    self.found(bug, gathered);
                } else {
                    let follows = finding.follows.iter();
                    let follows = follows.filter_map(|place| self.original.site(place));
                    gathered.hold(bug, follows.collect());
                }
            }
            CheckReply::Times(times) => {
                self.tell_held(gathered);
                gathered.times(&times);
            }
            CheckReply::Executing(Executing {
                role,
                pairs,
                inputs,
            }) => {
                *running = Some(Choice {
                    role: role.into(),
                    pairs,
                    inputs,
                });
            }
            CheckReply::Check {
                under_test,
                interfering,
                by_grid,
            } => {
                let log = Log {
                    under_test: &under_test,
                    interfering: &interfering,
                };
                let answer = self.decide(&log, by_grid, solver, gathered)?;
                return Ok(Next::Answer(answer));
            }
            CheckReply::Done => return Ok(Next::End),
        }
        Ok(Next::Listen)
    }

    /// Takes in why the worker could not go on.
    fn stopped(&self, why: Stopped, gathered: &mut Gathered) -> Result<(), Error> {
        gathered.report.status = match why {
            Stopped::Unsupported { message, place } => Status::Unsupported {
                reason: self.original.message(&message),
                help: Some(
                    "`seqz explore` runs the program as it is, with any number of threads".into(),
                ),
                site: place.and_then(|place| self.original.site(&place)),
            },
            Stopped::Nondeterministic { inputs: values } => {
                Status::nondeterministic(&values, "the same choices", &gathered.report.not_followed)
            }
            Stopped::BadInput { param, message } => return Err(Error::bad_input(&param, &message)),
            Stopped::Refused(why) => return Err(Error::refused(&why)),
        };
        Ok(())
    }

    fn found(&mut self, bug: Bug, gathered: &mut Gathered) {
        if gathered.bug(bug.clone()) {
            self.save(bug, gathered);
        }
    }

    fn tell_held(&mut self, gathered: &mut Gathered) {
        for bug in gathered.tell_held() {
            self.save(bug, gathered);
        }
    }

    /// Writes the findings that were kept before their threads were known once more, with the threads.
    fn tell_threads(&self, gathered: &Gathered) {
        let Some(store) = &self.store else { return };
        let report = &gathered.report;
        for bug in &report.bugs {
            let Some(file) = &bug.finding else { continue };
            let found = Found::Bug {
                threads: report.threads.clone(),
                bug: Box::new(Bug {
                    finding: None,
                    ..bug.clone()
                }),
            };
            // A file that can't be written again is there as it was.
            let _ = store.replace(Path::new(file), &report.name, &report.site, found);
        }
    }

    fn save(&mut self, bug: Bug, gathered: &mut Gathered) {
        let Some(store) = &mut self.store else { return };
        let report = &gathered.report;
        let identity = Identity::of(&bug);
        let found = Found::Bug {
            threads: report.threads.clone(),
            bug: Box::new(bug),
        };
        let saved = store.save(&report.name, &report.site, found);
        if let Ok(file) = &saved {
            gathered.written(&identity, file);
        }
        if let Err(error) = saved {
            // A full disk: the search is worth more than the file.
            gathered.note(format!(
                "findings are not written to files any more: {error}"
            ));
            self.store = None;
        }
    }

    /// The bug of the execution that ended the worker.
    fn fatal(&self, end: &End, choice: &Choice, harness: &str) -> Bug {
        let (kind, message) = match end {
            End::Died(death) if death.exited() => (Kind::Exit, death.describe()),
            End::Died(death) => (Kind::Crash, death.describe()),
            _ => (
                Kind::Hang,
                format!(
                    "one execution went on for more than {:.1} s",
                    self.watch.hang_after.as_secs_f64()
                ),
            ),
        };
        Bug {
            kind,
            message,
            site: None,
            other_site: None,
            other_pending: false,
            other_thread: None,
            k: choice.pairs.len() as u32,
            under_test: choice.role,
            inputs: inputs(&choice.inputs),
            non_local_reads: choice
                .pairs
                .iter()
                .map(|&(read, write)| crate::model::document::NonLocalRead {
                    read: read.0,
                    write: write.0,
                    variable: None,
                    value: None,
                    read_step: None,
                    write_step: None,
                    read_site: None,
                    write_site: None,
                })
                .collect(),
            trace: Vec::new(),
            confirmation: Confirmation::NotTried,
            run_alone: Some(self.run_alone(harness, choice)),
            count: 1,
            also_found: Vec::new(),
            finding: None,
            met: Met::default(),
        }
    }
}

impl Search<'_> {
    /// The command that has the worker, which is a program by itself, run this one execution.
    fn run_alone(&self, harness: &str, choice: &Choice) -> String {
        let list = |ids: Vec<u32>| ids.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        let mut words = vec![
            self.worker.display().to_string(),
            "--harness".into(),
            harness.into(),
        ];
        words.extend(["--under-test".into(), choice.role.name().into()]);
        if !choice.pairs.is_empty() {
            words.extend([
                "--rds".into(),
                list(choice.pairs.iter().map(|(read, _)| read.0).collect()),
            ]);
            words.extend([
                "--wrts".into(),
                list(choice.pairs.iter().map(|(_, write)| write.0).collect()),
            ]);
        }
        for (name, value) in &choice.inputs {
            words.extend(["--input".into(), format!("{name}={value}")]);
        }
        let quoted: Vec<_> = words.iter().map(|word| shell_word(word)).collect();
        quoted.join(" ")
    }
}

/// A word, quoted as a shell needs it.
pub(crate) fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_=/.,:+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
