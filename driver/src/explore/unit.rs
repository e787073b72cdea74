//! One worker's part of an exploration: its request, and how the worker is replaced when it dies.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use seqz_explore::mcm;
use seqz_runtime::vocabulary::Scheduled;
use seqz_runtime::worker::message::{ExploreReply, ExploreRequest, Reply};

use super::solver::Answering;
use crate::error::Error;
use crate::model::document::Cut;
use crate::solvers::Solver;
use crate::worker::{Death, Heard, Process, Session, Standstill, Watch, bury, failed};

/// How often a worker that was killed from outside is replaced before its execution is suspected.
const REPLACED: u32 = 3;

/// A unit is begun again only if the time left is at least this multiple of the time that it had.
const WORTH: u32 = 2;

/// The units of an exploration that are still to be done.
pub(super) struct Queue {
    /// The units that have not been begun.
    next: VecDeque<usize>,
    /// The units whose part of the time was over while other units had not begun, with what ended each unit and the
    /// time that it had.
    again: VecDeque<(usize, Ended, Duration)>,
}

impl Queue {
    /// A queue of this number of units, none of which has been begun.
    pub(super) fn new(units: usize) -> Self {
        Self {
            next: (0..units).collect(),
            again: VecDeque::new(),
        }
    }
}

/// A worker's part.
pub(super) struct Unit {
    /// The index of the harness.
    pub(super) task: usize,
    pub(super) request: ExploreRequest,
    /// Whether the harness reaches something that may block its worker for ever.
    pub(super) not_followed: bool,
    /// Set when this part, or another part of the harness, has found a failure after which no more schedules are to be
    /// drawn.
    pub(super) left: Arc<AtomicBool>,
}

/// What is reported of a unit.
pub(super) enum Said {
    /// The unit's worker has been started.
    Started,
    /// The unit's worker sent this reply.
    Reply(Reply<ExploreReply>),
    /// The unit's worker died in the way described, and another worker begins from the start.
    StartOver(String),
    /// The unit's part of the time was over, other units have left some of theirs, and another worker begins from the
    /// start.
    Again,
    /// The unit is over.
    Ended(Ended),
}

/// How a unit ended.
pub(super) enum Ended {
    /// The worker has said all that it has to say.
    Done,
    /// Another part of the harness has found a failure.
    Left,
    /// The user or the clock ended the unit.
    Cut(Cut),
    /// The clock ended the unit after this time, and no execution had come to its end.
    WithoutAny(Duration, Standstill),
    /// The program ends its process in this execution.
    Fatal(Box<Fatal>),
    /// In this execution a thread that unwinds has to wait for another one, which can't be followed.
    Unwinding,
    /// The worker makes no progress in something that is not followed.
    Blocked(Standstill),
    /// The driver can't talk to the worker, or the worker ends before anything runs.
    Failed(String),
    /// A fault of seqz: nothing that was found counts.
    Broken(String),
}

/// An execution that ends the process.
pub(super) struct Fatal {
    /// How the worker died; `None`: the execution does not end.
    pub(super) death: Option<Death>,
    pub(super) running: Running,
}

/// What is known of the execution that runs.
#[derive(Default)]
pub(super) struct Running {
    pub(super) inputs: Vec<(String, String)>,
    pub(super) execution: u64,
    /// The sequence that the program's random numbers are drawn from.
    pub(super) random: u64,
    /// The events so far; the last event has begun and may not have ended.
    pub(super) schedule: Vec<Scheduled>,
}

/// The position of the search when the driver last heard of it: the number of choices of inputs that are done, and the
/// number of executions with the next choice.
type Position = (u32, u64);

/// How a conversation with a worker ended.
enum End {
    Done,
    Left,
    Cut(Cut),
    /// The clock ended the conversation after this time, and no execution had come to its end.
    WithoutAny(Duration, Standstill),
    Died(Death),
    Hung,
    /// The worker gave no sign of life for too long, and the cause may lie in something that is not followed.
    Blocked(Standstill),
    Broken(String),
}

/// What is the same for all units, but for the time that is left.
#[derive(Clone, Copy)]
pub(super) struct Runner<'a> {
    pub(super) worker: &'a Path,
    /// The directory in which tests of the program run: that of their package, as under cargo.
    pub(super) dir: Option<&'a Path>,
    pub(super) watch: Watch<'a>,
    /// The number of units that run at once.
    pub(super) at_once: usize,
    pub(super) solver: Solver<dyn mcm::Solver>,
}

impl Runner<'_> {
    /// Does units from the queue until there are no more. Time that is left when all units have been begun goes to the
    /// units whose own part was not enough.
    pub(super) fn work(
        &self,
        queue: &Mutex<Queue>,
        units: &[Unit],
        sender: &Sender<(usize, Said)>,
    ) {
        let queue = || queue.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let (number, before, left) = {
                let mut queue = queue();
                if let Some(number) = queue.next.pop_front() {
                    (number, None, queue.next.len() + 1)
                } else if let Some((number, ended, had)) = queue.again.pop_front() {
                    (number, Some((ended, had)), queue.again.len() + 1)
                } else {
                    return;
                }
            };
            // The receiver is gone where the search has broken off.
            let mut say = |said| drop(sender.send((number, said)));
            let watch = self.watch.share(left, self.at_once);
            if let Some((ended, had)) = before {
                let worth = watch.left().is_some_and(|left| left >= WORTH * had);
                if !worth || units[number].left.load(Ordering::Relaxed) {
                    say(Said::Ended(ended));
                    continue;
                }
                say(Said::Again);
            }
            let begun = Instant::now();
            let runner = Runner { watch, ..*self };
            let ended = match self.watch.cut() {
                Some(cut) => Ended::Cut(cut),
                None if units[number].left.load(Ordering::Relaxed) => Ended::Left,
                // A failure to do one worker's part is no reason to lose what other workers find.
                None => runner
                    .run(&units[number], &mut say)
                    .unwrap_or_else(|error| Ended::Failed(error.to_string())),
            };
            let out_of_time = matches!(ended, Ended::Cut(Cut::TimeLimit) | Ended::WithoutAny(..));
            if out_of_time && self.watch.cut().is_none() {
                queue().again.push_back((number, ended, begun.elapsed()));
            } else {
                say(Said::Ended(ended));
            }
        }
    }

    fn run(&self, unit: &Unit, say: &mut impl FnMut(Said)) -> Result<Ended, Error> {
        let mut request = unit.request.clone();
        let mut killed = 0;
        loop {
            let mut position = (0, 0);
            let mut running = Running::default();
            let end = self.converse(unit, &request, say, &mut position, &mut running)?;
            let how = match &end {
                End::Done => return Ok(Ended::Done),
                End::Left => return Ok(Ended::Left),
                End::Cut(cut) => return Ok(Ended::Cut(*cut)),
                // Executions may have come to their end before a worker died.
                End::WithoutAny(..) if killed > 0 || request.careful.is_some() => {
                    return Ok(Ended::Cut(Cut::TimeLimit));
                }
                End::WithoutAny(after, at) => return Ok(Ended::WithoutAny(*after, at.clone())),
                End::Broken(why) => return Ok(Ended::Broken(why.clone())),
                End::Died(death) if death.unwound() => return Ok(Ended::Unwinding),
                End::Died(death) => death.describe(),
                End::Blocked(at) => return Ok(Ended::Blocked(at.clone())),
                End::Hung => "it did not answer".to_owned(),
            };
            let was_killed = matches!(&end, End::Died(death) if death.killed());
            killed += u32::from(was_killed);
            if was_killed && killed <= REPLACED {
                request.careful = None;
            } else if request.careful.is_none() {
                // To find the execution that ended the worker, the search is repeated and announces its events from the
                // last known position on. Several threads make executions in an order of their own, and a checkpoint
                // can't be gone through again.
                let anew = request.threads > 1 || request.checkpoint.is_some();
                request.careful = Some(if anew { (position.0, 0) } else { position });
                request.threads = 1;
            } else {
                let death = match end {
                    End::Died(death) => Some(death),
                    _ => None,
                };
                let own_panic = death.as_ref().and_then(Death::own_panic);
                return Ok(if let Some(panic) = own_panic {
                    Ended::Failed(format!("a fault of seqz: its search panicked: {panic}"))
                } else if running.schedule.is_empty() {
                    Ended::Failed(format!("the program died before anything was run: {how}"))
                } else {
                    Ended::Fatal(Box::new(Fatal { death, running }))
                });
            }
            say(Said::StartOver(how));
        }
    }

    fn converse(
        &self,
        unit: &Unit,
        request: &ExploreRequest,
        say: &mut impl FnMut(Said),
        position: &mut Position,
        running: &mut Running,
    ) -> Result<End, Error> {
        let mut process = Process::start(self.worker, self.dir)
            .map_err(|e| failed("cannot start the worker", &e))?;
        let may_block = unit.not_followed;
        // A worker that has found a failure is not left before it has told the rest of it.
        let mut has_failed = false;
        if may_block {
            process.watch_for_blocking();
        }
        say(Said::Started);
        let mut session = match Session::begin(process, request.clone()) {
            Ok(session) => session,
            Err(process) => return bury(*process).map(End::Died),
        };
        let started = Instant::now();
        // Whether the worker has begun and no execution has come to its end yet.
        let mut none_ended = false;
        let mut answering = Answering::new(self.solver);
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
            let last = matches!(reply, Reply::Stopped(_));
            if let Reply::Own(own) = &reply {
                match own {
                    ExploreReply::Started { .. } => none_ended = true,
                    ExploreReply::Exploring(counts) => {
                        // A worker also gives a sign of life while its strategy computes.
                        none_ended &= counts.executions == 0;
                        if !has_failed && unit.left.load(Ordering::Relaxed) {
                            say(Said::Reply(reply));
                            return Ok(End::Left);
                        }
                        position.1 = counts.executions;
                    }
                    ExploreReply::Failure(_) => (none_ended, has_failed) = (false, true),
                    ExploreReply::Explored { .. } => {
                        none_ended = false;
                        *position = (position.0 + 1, 0);
                    }
                    ExploreReply::Seen { .. }
                    | ExploreReply::Times(_)
                    | ExploreReply::Couplings(_)
                    | ExploreReply::HeldUp(_) => {}
                    ExploreReply::Running {
                        inputs,
                        execution,
                        random,
                        done,
                        next,
                    } => {
                        if (running.execution, running.random) != (*execution, *random)
                            || running.inputs != *inputs
                        {
                            running.schedule.clear();
                            (running.execution, running.random) = (*execution, *random);
                            running.inputs.clone_from(inputs);
                        }
                        // The event that was about to be done has been done, and the reply has a better account of it.
                        running.schedule.pop();
                        running.schedule.extend_from_slice(done);
                        running.schedule.push(next.clone());
                        continue;
                    }
                    ExploreReply::Solve { model, query, own } => {
                        let answer = match answering.answer(model, query, own) {
                            Ok(answer) => answer,
                            Err(error) => return Ok(End::Broken(error)),
                        };
                        if session.answer(&answer).is_err() {
                            return bury(session.into_process()).map(End::Died);
                        }
                        continue;
                    }
                    ExploreReply::Done => return Ok(End::Done),
                }
            }
            say(Said::Reply(reply));
            if last {
                return Ok(End::Done);
            }
        }
    }
}
