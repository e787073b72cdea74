//! What the workers of a harness say, gathered to a report.

use std::ops::Range;
use std::time::Instant;

use seqz_runtime::worker::message::{self, ExploreRequest, Explored, Reply};

use super::Options;
use super::unit::{Ended, Said};
use crate::error::Error;
use crate::original::Original;
use crate::program::{Harness, Spawn};
use crate::report::document::{Cut, Reason, Status};
use crate::report::exploration::{Counts, Failure, HarnessExploration, Promise};
use crate::report::layout::{counted, grouped};

/// The report of a harness in the making.
pub(super) struct Gathered {
    pub(super) report: HarnessExploration,
    spawns: Vec<Spawn>,
    /// The number of its first unit.
    first: usize,
    units: Vec<Part>,
    started: Option<Instant>,
}

/// What is known of one unit.
#[derive(Default)]
struct Part {
    /// Choices of inputs that are done.
    done: Vec<Explored>,
    /// The one that is at work.
    current: Explored,
    promise: Option<Promise>,
    /// Which failure of the report each of those is that its worker has sent.
    sent: Vec<usize>,
    /// How often it met each of them.
    times: Vec<u64>,
    /// A worker died, and nothing has come of it yet.
    died: Option<String>,
    over: bool,
}

impl Gathered {
    pub(super) fn new(harness: &Harness, options: &Options, units: Range<usize>) -> Self {
        let status = match &harness.unsupported {
            Some(why) => Status::unsupported(why),
            None => Status::Checked,
        };
        Self {
            report: HarnessExploration {
                name: harness.name.clone(),
                site: harness.site.clone(),
                status,
                inputs: crate::check::domains(harness, &options.inputs),
                sampled_inputs: false,
                promise: Promise::Unfinished {
                    reasons: Vec::new(),
                },
                counts: Counts::default(),
                failures: Vec::new(),
                notes: Vec::new(),
            },
            spawns: harness.spawns.clone(),
            first: units.start,
            units: units.map(|_| Part::default()).collect(),
            started: None,
        }
    }

    /// Whether nothing more will be heard of it.
    pub(super) fn is_over(&self) -> bool {
        self.units.iter().all(|unit| unit.over)
    }

    /// Where the search is, in a line.
    pub(super) fn position(&self, strategy: &str) -> String {
        let counts = &self.report.counts;
        let estimate = match self.units.as_slice() {
            [unit] => unit.current.estimate,
            _ => None,
        };
        let about = estimate.map_or_else(String::new, |all| format!(" of about {}", grouped(all)));
        let found = match self.report.failures.len() as u64 {
            0 => String::new(),
            n => format!(", {}", counted(n, "failure", "failures")),
        };
        format!(
            "{}: {strategy}, {} executions{about}{found}",
            self.report.name,
            grouped(counts.executions)
        )
    }

    /// Takes in what is said of a unit. The answer is a failure that is new.
    pub(super) fn hear(
        &mut self,
        unit: usize,
        said: Said,
        original: &Original<'_>,
        request: &ExploreRequest,
    ) -> Result<Option<Failure>, Error> {
        let part = unit - self.first;
        let mut new = None;
        match said {
            Said::Started => {
                self.started.get_or_insert_with(Instant::now);
            }
            Said::Reply(reply) => new = self.reply(part, reply, original, request)?,
            Said::StartOver(how) => {
                self.units[part] = Part {
                    died: Some(how),
                    ..Part::default()
                };
            }
            Said::Ended(ended) => new = self.ended(part, ended, original, request),
        }
        self.sum();
        Ok(new)
    }

    fn reply(
        &mut self,
        part: usize,
        reply: Reply,
        original: &Original<'_>,
        request: &ExploreRequest,
    ) -> Result<Option<Failure>, Error> {
        match reply {
            Reply::Started { sampled, inputs } => {
                self.report.sampled_inputs |= sampled;
                if sampled {
                    let inputs = counted(inputs.into(), "choice", "choices");
                    let seed = request.seed;
                    self.note(format!(
                        "{inputs} of inputs tried, out of more: a sample with seed {seed}"
                    ));
                }
            }
            Reply::Exploring(counts) => self.units[part].current = counts,
            Reply::Explored {
                counts, promise, ..
            } => {
                let unit = &mut self.units[part];
                unit.current = Explored::default();
                let promise = promised(promise);
                unit.promise = Some(match unit.promise.take() {
                    Some(earlier) => earlier.and(promise),
                    None => promise,
                });
                unit.done.push(counts);
            }
            Reply::Failure(finding) => {
                let failure = original.failure(&finding, request.stack, &self.spawns);
                return Ok(self.found(part, failure));
            }
            Reply::Times(times) => self.units[part].times = times,
            Reply::Unsupported { message, place } => {
                self.report.status = Status::Unsupported {
                    reason: original.message(&message),
                    help: None,
                    site: place.and_then(|place| original.site(&place)),
                };
            }
            Reply::Nondeterministic { inputs } => {
                self.report.status = Status::nondeterministic(&inputs, "the same schedule");
            }
            Reply::BadInput { param, message } => return Err(Error::bad_input(&param, &message)),
            Reply::Refused(why) => return Err(Error::Worker(format!("the worker refuses: {why}"))),
            _ => {}
        }
        Ok(None)
    }

    fn ended(
        &mut self,
        part: usize,
        ended: Ended,
        original: &Original<'_>,
        request: &ExploreRequest,
    ) -> Option<Failure> {
        self.units[part].over = true;
        let mut reason = None;
        let mut new = None;
        match ended {
            Ended::Done => {
                if let Some(how) = self.units[part].died.take() {
                    self.note(format!(
                        "a worker died, and its search was run again to the end: {how}"
                    ));
                }
            }
            Ended::Cut(cut) => {
                if self.started.is_none() {
                    self.report.status = Status::NotReached;
                }
                reason = Some(match cut {
                    Cut::Interrupted => Reason::Interrupted,
                    Cut::TimeLimit => Reason::TimeLimit,
                });
            }
            Ended::Fatal(fatal) => {
                let failure = original.fatal(&fatal, request, &self.spawns);
                new = self.found(part, failure);
                let counts = &mut self.units[part].current;
                counts.executions = counts.executions.max(fatal.running.execution);
                counts.failing += 1;
                reason = Some(Reason::Died);
            }
            Ended::Failed(reason) => self.report.status = Status::Failed { reason },
        }
        if let Some(reason) = reason {
            let unit = &mut self.units[part];
            // Sampling is as good as what has been drawn, whatever ends it.
            if unit.promise != Some(Promise::Sampled) || reason == Reason::Died {
                unit.promise = Some(Promise::Unfinished {
                    reasons: vec![reason],
                });
            }
        }
        new
    }

    /// Adds a failure; the same place and kind is one.
    fn found(&mut self, part: usize, failure: Failure) -> Option<Failure> {
        let same = |known: &Failure| {
            (known.kind, &known.site) == (failure.kind, &failure.site)
                && (known.site.is_some() || known.message == failure.message)
        };
        let known = self.report.failures.iter().position(same);
        let at = known.unwrap_or(self.report.failures.len());
        self.units[part].sent.push(at);
        if known.is_some() {
            return None;
        }
        self.report.failures.push(failure.clone());
        Some(failure)
    }

    /// Something worth saying, once.
    fn note(&mut self, note: String) {
        if !self.report.notes.contains(&note) {
            self.report.notes.push(note);
        }
    }

    /// What the units have done together.
    fn sum(&mut self) {
        let mut counts = Counts::default();
        for unit in &self.units {
            let (mut relations, mut states) = (0, 0);
            for part in unit.done.iter().chain([&unit.current]) {
                counts.executions += part.executions;
                counts.redundant += part.redundant;
                counts.abandoned += part.abandoned;
                counts.blocked += part.blocked;
                counts.truncated += part.truncated;
                counts.failing += part.failing;
                counts.events += part.events;
                relations += part.relations;
                states += part.states;
            }
            // Two workers may see the same.
            counts.relations = counts.relations.max(relations);
            counts.states = counts.states.max(states);
        }
        if let Some(started) = self.started {
            counts.seconds = started.elapsed().as_secs_f64();
        }
        for (at, failure) in self.report.failures.iter_mut().enumerate() {
            let met = self.units.iter().flat_map(|unit| {
                let times = |number| unit.times.get(number).copied().unwrap_or(1);
                let numbers = (0..unit.sent.len()).filter(|&number| unit.sent[number] == at);
                numbers.map(times)
            });
            failure.count = met.sum::<u64>().max(1);
        }
        let promises = self.units.iter().filter_map(|unit| unit.promise.clone());
        if let Some(promise) = promises.reduce(Promise::and) {
            self.report.promise = promise;
        }
        self.report.counts = counts;
    }
}

fn promised(promise: message::Promise) -> Promise {
    match promise {
        message::Promise::Exhausted => Promise::Exhausted,
        message::Promise::Bounded {
            preemptions,
            truncated,
        } => Promise::Bounded {
            preemptions,
            truncated,
        },
        message::Promise::Sampled => Promise::Sampled,
        message::Promise::Unfinished => Promise::Unfinished {
            reasons: vec![Reason::ExecutionLimit],
        },
    }
}
