//! Running the schedule of a finding again.

use std::path::Path;
use std::time::Instant;

use seqz_runtime::vocabulary::{self, Scheduled};
use seqz_runtime::worker::message::{self, ReplayRequest, Replayed, Reply, Request};

use crate::check::Subject;
use crate::error::Error;
use crate::findings::{Finding, Found};
use crate::model::document::{Bug, Kind, Met, Site, Thread};
use crate::model::exploration::{Failure, Waiting};
use crate::model::lone::Spurious;
use crate::model::schedule::{Confirmation, Event};
use crate::original::Original;
use crate::worker::{Heard, Process, Watch, bury, failed, send};

/// What of a finding is run again.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The values of parameters, by name.
    pub inputs: Vec<(String, String)>,
    /// The events in order.
    pub schedule: Vec<Event>,
    /// The threads, by number, as far as they are known.
    pub threads: Vec<Option<Thread>>,
    /// What is expected.
    pub kind: Kind,
    /// What it said.
    pub message: String,
    /// Where it shows.
    pub site: Option<Site>,
    /// Of a data race: where the other thread is.
    other_site: Option<Site>,
    stack_size: u64,
    spurious: Spurious,
    /// Which sequence the program's random numbers are of.
    random_numbers: u64,
}

/// How a replay ended.
#[derive(Clone, Debug)]
pub enum Ended {
    /// It fails.
    Fails {
        /// In which way: as it did when it was found, if it does that, too. The schedule that was recorded leads there.
        failure: Box<Failure>,
        /// What else fails in the same execution.
        others: Vec<Failure>,
        /// How many of the runs had the same events.
        same: u32,
    },
    /// The schedule was run to its end, and nothing fails.
    Passes {
        /// How many of the runs had the same events.
        same: u32,
    },
    /// The program does something else.
    Parts {
        /// At which event of the schedule, from 0.
        at: u32,
        /// What differs.
        difference: String,
        /// Where the program is then.
        site: Option<Site>,
        /// The events up to there.
        schedule: Vec<Event>,
    },
    /// The user broke it off.
    Interrupted,
}

impl Recording {
    /// What a finding has recorded. `stack_size` is for those that don't say.
    ///
    /// # Errors
    /// When it has no schedule.
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
        })
    }

    /// The threads that race, if what it recorded is a race that is there: both are about to make their access at the end.
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

    /// Whether this failure is the one that was recorded.
    #[must_use]
    pub fn is(&self, failure: &Failure) -> bool {
        let recorded = self.site.as_ref();
        let mut waiting = failure.waiting.iter();
        self.kind == failure.kind
            && (is_line(recorded, failure.site.as_ref())
                || waiting.any(|waiting| is_line(recorded, waiting.site.as_ref())))
    }
}

/// Whether both are the same line, or both nowhere. Files are named as they are seen from the folder where seqz runs, so the
/// longer name ends in the shorter one where it ran in two.
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

/// Runs the schedule so many times.
///
/// # Errors
/// When the worker can't be run, or refuses.
pub fn run(
    subject: Subject<'_>,
    finding: &Finding,
    recording: &Recording,
    times: u32,
    watch: Watch<'_>,
) -> Result<Ended, Error> {
    let Subject {
        program,
        generated,
        built,
    } = subject;
    let original = Original::new(program, generated);
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
    });
    let request = Request::Replay(ReplayRequest {
        harness: finding.harness.clone(),
        inputs: recording.inputs.clone(),
        schedule: schedule.collect(),
        times,
        spurious: recording.spurious.times,
        spurious_at: (!recording.spurious.in_loops).then(|| generated.lone()),
        stack: recording.stack_size,
        unfollowed: harness.is_some_and(|harness| !harness.not_followed.is_empty()),
        random: recording.random_numbers,
    });
    let dir = program
        .manifest()
        .and_then(Path::parent)
        .filter(|dir| !dir.as_os_str().is_empty());
    let mut process =
        Process::start(&built.worker, dir).map_err(|e| failed("cannot start the worker", &e))?;
    let died = |process| {
        let death = bury(process)?;
        let kind = if death.exited() {
            Kind::Exit
        } else {
            Kind::Crash
        };
        Ok(recording.fatal(kind, death.describe()))
    };
    if send(&mut process, &request).is_err() {
        return died(process);
    }
    let reply = match watch.listen(&mut process, &mut Instant::now())? {
        Heard::Reply(reply) => reply,
        Heard::Cut(_) => return Ok(Ended::Interrupted),
        Heard::Closed => return died(process),
        Heard::Hung => {
            let message = "it goes on for ever, or for too long, without an event";
            return Ok(recording.fatal(Kind::Hang, message.into()));
        }
    };
    match reply {
        Reply::Replayed(Replayed::Followed {
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
        Reply::Replayed(Replayed::Diverged {
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
        Reply::BadInput { param, message } => Err(Error::Option {
            message: format!("the finding's value for `{param}` does not fit: {message}"),
            help: "the harness has other parameters than when it was found".into(),
        }),
        Reply::Refused(why) => Err(Error::Worker(format!("the worker refuses: {why}"))),
        other => Err(Error::Worker(format!(
            "the worker answers something else: {other:?}"
        ))),
    }
}

impl Recording {
    /// The recorded schedule, with what it leads to now.
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
            met: Met::default(),
        }
    }

    /// What all that fails in one execution comes to. The failure that was recorded is told wherever it stands among them;
    /// `race` is one that is known to be it.
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
