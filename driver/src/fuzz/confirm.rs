//! What AddressSanitizer has found in P̂ₖ, looked for in the original program.
//!
//! In P̂ₖ the interfering thread has run whole before the thread under test, and memory behind raw pointers has no copies: what
//! that thread gives back is gone even where no interleaving has it gone. So a finding counts only if an execution of the
//! original program, watched by AddressSanitizer under the scheduler, shows the same.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::rounds::Fuzzer;
use super::sanitized::{Sanitized, Told, Words};
use super::target::{OPTIONS, options};
use super::tools::{Tools, build_sanitized};
use crate::check::Subject;
use crate::error::Error;
use crate::explore;
use crate::model::document::Bug;
use crate::model::schedule::{Action, Confirmation};
use crate::program::{Harness, Program};
use crate::worker::{Heard, Process, Session, Watch, bury, failed};
use seqz_explore::catalogue;
use seqz_runtime::vocabulary::Scheduled;
use seqz_runtime::worker::message::{ExploreReply, ExploreRequest, Reply};

/// So many schedules are drawn at most.
const DRAWN: u64 = 10_000;
/// So long at most, which is for programs that take their time: where others have the machine, all are to be drawn.
const DRAWN_FOR: Duration = Duration::from_secs(60);
/// An execution may show something else that ends it: so many workers draw schedules, each from a seed of its own.
const WORKERS: u64 = 4;

/// AddressSanitizer's options: the process ends before the program does, which is no leak; and stacks of who allocated and
/// freed memory are read from tables, since frames on the stack of a coroutine need not be linked.
const QUIETLY: &str = "detect_leaks=0:fast_unwind_on_malloc=0";

/// The original program with AddressSanitizer, which is built where it is needed.
pub(super) struct Confirming<'a> {
    program: &'a Program,
    subject: Subject<'a>,
    tools: &'a Tools,
    /// The worker, and where its source is.
    built: OnceCell<(PathBuf, PathBuf)>,
}

impl<'a> Confirming<'a> {
    pub(super) const fn new(program: &'a Program, subject: Subject<'a>, tools: &'a Tools) -> Self {
        Self {
            program,
            subject,
            tools,
            built: OnceCell::new(),
        }
    }
}

impl Fuzzer<'_> {
    /// Looks for what has been found in schedules of the original program, drawn at random. Where one shows it, the bug has that
    /// one's words and schedule.
    pub(super) fn confirm(
        &self,
        harness: &Harness,
        bug: &mut Bug,
        sanitized: &Sanitized,
        told: &Told,
    ) -> Result<bool, Error> {
        let Confirming {
            program,
            subject,
            tools,
            built,
        } = &self.confirming;
        let target_dir = &self.options.target_dir;
        if built.get().is_none() {
            let _ = built.set(build_sanitized(
                program,
                subject.generated,
                tools,
                target_dir,
                self.stop,
            )?);
        }
        let Some((worker, source)) = built.get() else {
            return Ok(false);
        };
        let inputs = bug.inputs.iter();
        let inputs = inputs.map(|input| (input.name.clone(), input.value.clone()));
        let Some(random) = catalogue::named("random") else {
            return Ok(false);
        };
        let drawn = explore::Options {
            inputs: inputs.collect(),
            max_executions: DRAWN,
            ignore_detached_panics: self.options.ignore_detached_panics,
            ..explore::Options::new(Path::new(&self.options.path), random, target_dir.clone())
        };
        let until = Instant::now() + DRAWN_FOR;
        for seed in 0..WORKERS {
            let drawn = explore::Options {
                seed: self.options.seed.wrapping_add(seed),
                ..drawn.clone()
            };
            let lone = subject.generated.lone();
            let Some(mut request) = explore::requests(harness, &drawn, lone).next() else {
                return Ok(false);
            };
            // From the first execution on, it is said what is done.
            request.careful = Some((0, 0));
            let Some((schedule, said)) = self.dies(worker, request, until)? else {
                return Ok(false);
            };
            let mut words = Words::default();
            said.lines().for_each(|line| words.hear(line));
            let Some(again) = words.read() else { continue };
            // The scheduler pauses after events, so that what is no event can come late. In the schedule, that says nothing.
            let mut schedule = self.original.schedule(&schedule);
            schedule.retain(|event| event.action != Action::Local);
            let again_told = again.told(source, |place| self.original.site(place));
            if sanitized.is(told, &again, &again_told) {
                again_told.say(bug);
                bug.confirmation = Confirmation::Confirmed { schedule };
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The schedule of the execution that ends the worker, and what the worker says then; nothing if none does.
    fn dies(
        &self,
        worker: &Path,
        request: ExploreRequest,
        until: Instant,
    ) -> Result<Option<(Vec<Scheduled>, String)>, Error> {
        let variables = [(OPTIONS, format!("{QUIETLY}:{}", options()))];
        let mut process = Process::start_with(worker, self.dir, &variables)
            .map_err(|e| failed("cannot start the worker", &e))?;
        // It may wait for ever in what is not followed.
        process.watch_for_blocking();
        let mut session = match Session::begin(process, request) {
            Ok(session) => session,
            Err(process) => return Ok(Some((Vec::new(), bury(*process)?.stderr))),
        };
        let watch = Watch {
            stop: self.stop,
            deadline: Some(until),
            hang_after: self.options.hang_after,
        };
        let (mut at, mut schedule) = (0, Vec::new());
        loop {
            match session.listen(&watch)? {
                Heard::Closed => {
                    let death = bury(session.into_process())?;
                    return Ok(Some((schedule, death.stderr)));
                }
                Heard::Cut(_) | Heard::Hung => return Ok(None),
                Heard::Reply(Reply::Own(ExploreReply::Running {
                    execution,
                    done,
                    next,
                    ..
                })) => {
                    if at != execution {
                        schedule.clear();
                        at = execution;
                    }
                    // The event that was about to be done has been done, and the reply has a better account of it.
                    schedule.pop();
                    schedule.extend(done);
                    schedule.push(next);
                }
                Heard::Reply(Reply::Own(ExploreReply::Done) | Reply::Stopped(_)) => {
                    return Ok(None);
                }
                Heard::Reply(_) => {}
            }
        }
    }
}
