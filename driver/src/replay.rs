//! Runs the schedule of a finding again.

use std::path::Path;

use seqz_runtime::vocabulary::{self, Scheduled};
use seqz_runtime::worker::message::{self, ReplayRequest, Replayed, Reply, Stopped};

use crate::check::Subject;
use crate::error::Error;
use crate::findings::{Finding, Found};
use crate::model::document::{Bug, Kind, Met, Site, Thread};
use crate::model::exploration::{Failure, Waiting};
use crate::model::lone::Spurious;
use crate::model::schedule::{Confirmation, Event};
use crate::model::unfollowed;
use crate::original::Original;
use crate::program::Program;
use crate::worker::{Heard, Process, Session, Watch, bury, failed};

/// What a replay needs of a finding.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The values of the parameters: pairs of a name and its value.
    pub inputs: Vec<(String, String)>,
    /// The events in order.
    pub schedule: Vec<Event>,
    /// The threads, by number; `None` for a thread that is not known.
    pub threads: Vec<Option<Thread>>,
    /// The kind of the recorded failure.
    pub kind: Kind,
    /// The message of the recorded failure.
    pub message: String,
    /// The place at which the recorded failure shows.
    pub site: Option<Site>,
    /// Of a data race: the place of the other thread.
    other_site: Option<Site>,
    stack_size: u64,
    spurious: Spurious,
    /// The sequence that the program's random numbers are drawn from.
    random_numbers: u64,
    /// Whether loops that wait were run as they are written: so the findings of a check are confirmed.
    loops_as_written: bool,
}

/// How a replay ended.
#[derive(Clone, Debug)]
pub enum Ended {
    /// The program fails.
    Fails {
        /// The failure that was recorded, if the program fails in that way, too; else another one. The recorded
        /// schedule leads to it.
        failure: Box<Failure>,
        /// The other failures of the same execution.
        others: Vec<Failure>,
        /// The number of runs that had the same events.
        same: u32,
    },
    /// The schedule was run to its end, and the program does not fail.
    Passes {
        /// The number of runs that had the same events.
        same: u32,
    },
    /// The program does something else than the schedule says.
    Parts {
        /// The index of the event of the schedule at which the program differs, from 0.
        at: u32,
        /// The difference, in words.
        difference: String,
        /// The place at which the program is then.
        site: Option<Site>,
        /// The events up to the difference.
        schedule: Vec<Event>,
    },
    /// The user broke the replay off.
    Interrupted,
}

impl Recording {
    /// Returns what a finding has recorded. `stack_size` is the size for findings that don't have one, in bytes.
    ///
    /// # Errors
    /// When the finding has no schedule.
    pub fn of(finding: &Finding, stack_size: u64) -> Result<Self, Error> {
        let recording = match &finding.found {
            Found::Bug { bug, .. } => Self::of_bug(bug, stack_size)?,
            Found::Failure { failure } => Self {
                inputs: values(&failure.inputs),
                schedule: failure.schedule.clone(),
                threads: failure.threads.clone(),
                kind: failure.kind,
                message: failure.message.clone(),
                site: failure.site.clone(),
                other_site: None,
                stack_size: failure.stack_size,
                spurious: failure.reasonless(),
                random_numbers: failure.random_numbers,
                loops_as_written: false,
            },
        };
        Ok(recording)
    }

    fn of_bug(bug: &Bug, stack_size: u64) -> Result<Self, Error> {
        if let (Confirmation::Confirmed { .. }, Some(command)) = (&bug.confirmation, &bug.run_alone)
        {
            return Err(Error::Option {
                message: "AddressSanitizer has found this, and the worker that replays is not watched by it".into(),
                help: format!("this shows it in the sequential program: {command}"),
            });
        }
        let Confirmation::Confirmed { schedule } = &bug.confirmation else {
            return Err(Error::Option {
                message: "the finding has no schedule: the program died before it could tell one".into(),
                help: bug.run_alone.as_ref().map_or_else(
                    || "find it with `seqz explore`".to_owned(),
                    |command| {
                        format!("`seqz explore` finds a schedule for it; this runs the sequential program: {command}")
                    },
                ),
            });
        };
        Ok(Self {
            inputs: values(&bug.inputs),
            schedule: schedule.clone(),
            threads: Vec::new(),
            kind: bug.kind,
            message: bug.message.clone(),
            site: bug.site.clone(),
            other_site: bug.other_site.clone(),
            stack_size,
            spurious: Spurious::everywhere(0),
            random_numbers: 0,
            loops_as_written: true,
        })
    }

    /// Returns the threads that race, if the recorded failure is a race that is there: both threads are about to make
    /// their accesses at the end.
    fn racing(&self, next: &[vocabulary::Waiting], original: &Original<'_>) -> Vec<Waiting> {
        let sites = [self.site.as_ref(), self.other_site.as_ref()];
        let mut racing = original.waiting(next, &self.schedule);
        racing.retain(|waiting| {
            let here = waiting.site.as_ref();
            here.is_some() && sites.iter().any(|site| is_line(*site, here))
        });
        let all_there = sites.iter().all(|site| {
            let there = |waiting: &Waiting| is_line(*site, waiting.site.as_ref());
            racing.iter().any(there)
        });
        if self.kind != Kind::DataRace || !all_there || racing.len() < 2 {
            racing.clear();
        }
        racing
    }

    /// Whether this failure is the recorded one.
    #[must_use]
    pub fn is(&self, failure: &Failure) -> bool {
        let recorded = self.site.as_ref();
        let mut waiting = failure.waiting.iter();
        self.kind == failure.kind
            && (is_line(recorded, failure.site.as_ref())
                || waiting.any(|waiting| is_line(recorded, waiting.site.as_ref())))
    }
}

/// Whether both sites are the same line, or both are `None`. A file is named relative to the directory in which seqz
/// runs, so after runs in two directories the longer name ends in the shorter one.
fn is_line(one: Option<&Site>, other: Option<&Site>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => {
            let (a, b) = (Path::new(&one.file), Path::new(&other.file));
            one.line == other.line && (a.ends_with(b) || b.ends_with(a))
        }
        (one, other) => one.is_none() && other.is_none(),
    }
}

fn values(inputs: &[crate::model::document::Input]) -> Vec<(String, String)> {
    let inputs = inputs.iter();
    inputs
        .map(|input| (input.name.clone(), input.value.clone()))
        .collect()
}

/// Runs the schedule `times` times.
///
/// # Errors
/// When the worker can't be run, or refuses the schedule.
pub fn run(
    program: &Program,
    subject: Subject<'_>,
    finding: &Finding,
    recording: &Recording,
    times: u32,
    watch: Watch<'_>,
) -> Result<Ended, Error> {
    let Subject {
        sources,
        generated,
        built,
    } = subject;
    let original = Original::new(sources, generated);
    let harness = program
        .harnesses()
        .iter()
        .find(|harness| harness.name == finding.harness);
    let spawns = harness.map(|harness| harness.spawns.clone());
    let schedule = recording.schedule.iter().map(|event| Scheduled {
        thread: event.thread,
        action: event.action.into(),
        object: event.object,
        place: None,
        saw: event.saw,
    });
    let request = ReplayRequest {
        harness: finding.harness.clone(),
        inputs: recording.inputs.clone(),
        schedule: schedule.collect(),
        loops_as_written: recording.loops_as_written,
        times,
        spurious: recording.spurious.times,
        spurious_at: (!recording.spurious.in_loops).then(|| generated.lone()),
        stack: recording.stack_size,
        unfollowed: harness.is_some_and(|harness| !harness.not_followed.is_empty()),
        checks_memory: harness
            .is_some_and(|harness| unfollowed::only_access_memory(&harness.not_followed)),
        random: recording.random_numbers,
    };
    let process = Process::start(&built.worker, sources.dir())
        .map_err(|e| failed("cannot start the worker", &e))?;
    let died = |process| {
        let death = bury(process)?;
        let kind = if death.exited() {
            Kind::Exit
        } else {
            Kind::Crash
        };
        Ok(recording.fatal(kind, death.describe()))
    };
    let mut session = match Session::begin(process, request) {
        Ok(session) => session,
        Err(process) => return died(*process),
    };
    let reply = match session.listen(&watch)? {
        Heard::Reply(reply) => reply,
        Heard::Cut(_) => return Ok(Ended::Interrupted),
        Heard::Closed => return died(session.into_process()),
        Heard::Hung => {
            let message = "it goes on for ever, or for too long, without an event";
            return Ok(recording.fatal(Kind::Hang, message.into()));
        }
    };
    match reply {
        Reply::Own(Replayed::Followed {
            failures,
            bystanders,
            same,
            next,
        }) => {
            let spawns = spawns.unwrap_or_default();
            let told = |failures: &[message::ScheduleFinding]| -> Vec<Failure> {
                let how = (recording.stack_size, recording.spurious);
                let failures = failures.iter();
                failures
                    .map(|failure| original.failure(failure, how, &spawns))
                    .collect()
            };
            let waiting = recording.racing(&next, &original);
            let race = (!waiting.is_empty()).then(|| Failure {
                waiting,
                ..recording.failure(recording.kind, recording.message.clone())
            });
            Ok(recording.ended(told(&failures), &told(&bystanders), race, same))
        }
        Reply::Own(Replayed::Diverged {
            at,
            difference,
            place,
            schedule,
        }) => Ok(Ended::Parts {
            at,
            difference,
            site: place.and_then(|place| original.site(&place)),
            schedule: original.schedule(&schedule),
        }),
        Reply::Stopped(Stopped::BadInput { param, message }) => Err(Error::Option {
            message: format!("the finding's value for `{param}` does not fit: {message}"),
            help: "the harness has other parameters than when it was found".into(),
        }),
        Reply::Stopped(Stopped::Refused(why)) => Err(Error::refused(&why)),
        other => Err(Error::Worker(format!(
            "the worker answers something else: {other:?}"
        ))),
    }
}

impl Recording {
    /// Returns a failure with the recorded schedule and the kind and message that the schedule leads to now.
    fn failure(&self, kind: Kind, message: String) -> Failure {
        let inputs = self.inputs.iter();
        Failure {
            kind,
            message,
            site: self.site.clone(),
            thread: self.schedule.last().map_or(0, |event| event.thread),
            waiting: Vec::new(),
            inputs: crate::original::inputs(&inputs.cloned().collect::<Vec<_>>()),
            threads: self.threads.clone(),
            schedule: self.schedule.clone(),
            fails_after: None,
            execution: 1,
            spurious: self.spurious.times,
            spurious_in_loops: self.spurious.in_loops,
            random_numbers: self.random_numbers,
            stack_size: self.stack_size,
            count: 1,
            couplings: Vec::new(),
            held_up: None,
            finding: None,
            met: Met::default(),
        }
    }

    /// Returns the result of an execution with these failures. The recorded failure is preferred, wherever it stands
    /// among them; `race` is a failure that is known to be the recorded one.
    fn ended(
        &self,
        mut failures: Vec<Failure>,
        bystanders: &[Failure],
        race: Option<Failure>,
        same: u32,
    ) -> Ended {
        let own = failures.iter().position(|failure| self.is(failure));
        let failure = if let Some(own) = own {
            failures.remove(own)
        } else if let Some(race) = race {
            race
        } else if let Some(own) = bystanders.iter().find(|failure| self.is(failure)) {
            own.clone()
        } else if !failures.is_empty() {
            failures.remove(0)
        } else if let Some(first) = bystanders.first() {
            first.clone()
        } else {
            return Ended::Passes { same };
        };
        Ended::Fails {
            failure: Box::new(failure),
            others: failures,
            same,
        }
    }

    fn fatal(&self, kind: Kind, message: String) -> Ended {
        Ended::Fails {
            others: Vec::new(),
            failure: Box::new(Failure {
                site: None,
                ..self.failure(kind, message)
            }),
            same: 0,
        }
    }
}
