//! What the workers of a harness say, gathered to a report.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use seqz_runtime::worker::message::{
    Doubt, ExploreReply, ExploreRequest, Explored, Reply, Stopped,
};
use serde::{Deserialize, Serialize};

use super::Options;
use super::divided::{Search, Standing, together};
use super::failure::spurious_of;
use super::join::Share;
use super::promise::{causality_of, promised};
use super::unit::{Ended, Said};
use crate::diagnostic::shown;
use crate::error::Error;
use crate::layout::{counted, grouped};
use crate::model::document::{Cut, Kind, Met, Reason, Site, Status};
use crate::model::exploration::{Counts, Coupling, Failure, HarnessExploration, HeldUp, Promise};
use crate::model::unfollowed;
use crate::model::verdict;
use crate::model::words;
use crate::original::Original;
use crate::program::{Harness, Spawn};
use crate::worker::Standstill;

/// The report of a harness that is being put together.
pub(super) struct Gathered {
    pub(super) report: HarnessExploration,
    /// The functions that the executable imports, and that the harness does not reach.
    idle_functions: BTreeSet<String>,
    spawns: Vec<Spawn>,
    /// The number of the harness's first unit.
    first: usize,
    units: Vec<Part>,
    /// The number of parts of the search, those included that belong to other pieces.
    parts: usize,
    started: Option<Instant>,
    /// The number of choices of inputs of each unit, where these are a sample.
    sample: Option<u32>,
    /// Whether the units are parts of one search; `searches` then has one search for each choice of inputs.
    divided: bool,
    searches: Vec<Search>,
    /// The position of each failure's execution in the exploration, as far as it is known.
    standings: Vec<Standing>,
    /// The files in which the failures were written.
    files: Vec<PathBuf>,
    /// Failures held back until it is known whether the panics that may have caused them are told.
    held: Vec<Held>,
    /// Those that were told at the end, as the panics were not: another piece may know of the panics.
    told: Vec<Held>,
    /// The index in the report of each failure that comes of those alone.
    from_held: BTreeSet<usize>,
    /// The note on the inputs that were searched to the end.
    on_inputs: Option<String>,
    /// Whether other pieces of the search are not here.
    pieces_away: bool,
}

/// A failure that may be a mere consequence of panics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Held {
    /// The index of the unit that met the failure, and the failure's index among all that this unit has sent.
    pub(super) sent: (usize, usize),
    failure: Failure,
    standing: Standing,
    /// The places of the panics that the failure may be a consequence of.
    follows: Vec<Site>,
}

/// What is known of one unit.
#[derive(Clone, Debug, Default)]
pub(super) struct Part {
    /// The counts of each choice of inputs that is done.
    pub(super) done: Vec<Explored>,
    /// The counts of the choice of inputs that is being explored.
    pub(super) current: Explored,
    pub(super) promise: Option<Promise>,
    /// For each failure that the worker has sent, its index in the report; `None` while the failure is held back.
    pub(super) sent: Vec<Option<usize>>,
    /// For each failure that the worker has sent, the number of executions that met it.
    pub(super) times: Vec<u64>,
    /// For each failure that the worker has sent, the couplings of the threads.
    pub(super) couplings: Vec<Vec<Coupling>>,
    /// For each failure that the worker has sent, who was held up in each execution with it.
    pub(super) held_up: Vec<Option<HeldUp>>,
    /// How the worker died, while the search that was begun again has not ended.
    pub(super) died: Option<String>,
    /// Set where the time was over and no execution had come to its end: the time that the unit had, and where it stood
    /// still.
    pub(super) none_ended: Option<(Duration, Standstill)>,
    pub(super) over: bool,
}

impl Gathered {
    pub(super) fn new(harness: &Harness, options: &Options, units: Range<usize>) -> Self {
        let parts = units.len() * options.piece.map_or(1, |piece| piece.count as usize);
        let divided = !options.samples() && parts > 1;
        let spurious = options.spurious.of(&harness.lone);
        let status = match &harness.unsupported {
            Some(why) => Status::unsupported(why),
            None => Status::Checked,
        };
        let mut gathered = Self {
            report: HarnessExploration {
                name: harness.name.clone(),
                site: harness.site.clone(),
                status,
                inputs: crate::check::domains(harness, &options.inputs),
                sampled_inputs: false,
                not_followed: harness.not_followed.clone(),
                reads: None,
                lone: harness.lone.clone(),
                spurious: spurious.times,
                spurious_in_loops: spurious.in_loops,
                promise: Promise::Unfinished {
                    reasons: Vec::new(),
                },
                counts: Counts::default(),
                failures: Vec::new(),
                notes: Vec::new(),
                verdict: String::new(),
            },
            idle_functions: harness.idle_functions.clone(),
            spawns: harness.spawns.clone(),
            first: units.start,
            parts,
            units: units.map(|_| Part::default()).collect(),
            started: None,
            sample: None,
            divided,
            searches: Vec::new(),
            standings: Vec::new(),
            files: Vec::new(),
            held: Vec::new(),
            told: Vec::new(),
            from_held: BTreeSet::new(),
            on_inputs: None,
            pieces_away: options.piece.is_some_and(|piece| piece.count > 1),
        };
        if gathered.units.is_empty() && gathered.pieces_away && harness.unsupported.is_none() {
            // There are fewer schedules to draw than pieces.
            gathered.report.promise = Promise::Sampled;
            gathered.report.verdict = verdict::of_report(&gathered.report).sentence();
        }
        gathered
    }

    /// Whether all units of the harness are over.
    pub(super) fn is_over(&self) -> bool {
        self.units.iter().all(|unit| unit.over)
    }

    /// Returns the position of the search, as a line for the progress display.
    pub(super) fn position(&self, strategy: &str) -> String {
        let counts = &self.report.counts;
        let estimate = match self.units.as_slice() {
            [unit] => unit.current.estimate,
            _ if self.divided => self.estimate(),
            _ => None,
        };
        let about = estimate.map_or_else(String::new, |all| format!(" of about {}", grouped(all)));
        let seeds = counts.causality.map_or_else(String::new, |causality| {
            format!(", {} waiting", grouped(causality.waiting))
        });
        let found = match self.report.failures.len() as u64 {
            0 => String::new(),
            n => format!(", {}", counted(n, "failure", "failures")),
        };
        format!(
            "{}: {strategy}, {} executions{about}{seeds}{found}",
            self.report.name,
            grouped(counts.executions)
        )
    }

    /// Estimates the number of executions up to the end of the choice of inputs that some part still explores.
    fn estimate(&self) -> Option<u64> {
        let input = self.units.iter().map(|unit| unit.done.len()).min()?;
        let before = self.units.iter().flat_map(|unit| &unit.done[..input]);
        let current = |unit: &'_ Part| unit.done.get(input).unwrap_or(&unit.current).clone();
        let current: Vec<_> = self.units.iter().map(current).collect();
        Some(
            before.map(|counts| counts.executions).sum::<u64>()
                + together(current.iter()).estimate?,
        )
    }

    /// Takes in what is said of a unit; returns the failures that are new.
    pub(super) fn hear(
        &mut self,
        unit: usize,
        said: Said,
        original: &Original<'_>,
        request: &ExploreRequest,
    ) -> Result<Vec<Failure>, Error> {
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
            Said::Again => self.units[part] = Part::default(),
            Said::Ended(Ended::Broken(why)) => return Err(Error::Worker(why)),
            Said::Ended(ended) => new = self.ended(part, ended, original, request),
        }
        let mut new: Vec<_> = new.into_iter().collect();
        if self.is_over() {
            self.tell_held(&mut new);
        }
        self.sum();
        if self.is_over() {
            self.close();
        }
        Ok(new)
    }

    /// Called when all parts are over, after the sum.
    fn close(&mut self) {
        if self.divided {
            self.order();
        }
        self.look_for_executions();
        self.look_for_inputs();
    }

    /// Called when all parts are over: tells the failures held back whose panics have not been told.
    fn tell_held(&mut self, new: &mut Vec<Failure>) {
        for held in std::mem::take(&mut self.held) {
            let mut told = self.report.failures.iter().filter(|it| it.kind.is_panic());
            if told.any(|it| it.site.as_ref().is_some_and(|at| held.follows.contains(at))) {
                continue;
            }
            self.told.push(held.clone());
            let (part, number) = held.sent;
            let (at, is_new) = self.add(held.failure, held.standing);
            if let Some(sent) = self.units[part].sent.get_mut(number) {
                *sent = Some(at);
            }
            if is_new {
                self.from_held.insert(at);
                new.push(self.report.failures[at].clone());
            }
        }
    }

    fn reply(
        &mut self,
        part: usize,
        reply: Reply<ExploreReply>,
        original: &Original<'_>,
        request: &ExploreRequest,
    ) -> Result<Option<Failure>, Error> {
        match reply {
            Reply::LeftBehind(what) => {
                unfollowed::add(&mut self.report.not_followed, what, &self.idle_functions);
            }
            Reply::Asked(what) => {
                let report = &mut self.report;
                unfollowed::add_asked(&mut report.not_followed, &mut report.reads, &what);
            }
            Reply::Stopped(why) => self.stopped(part, why, original)?,
            Reply::Own(reply) => return Ok(self.own_reply(part, reply, original, request)),
        }
        Ok(None)
    }

    /// Takes in why a worker could not go on.
    fn stopped(&mut self, part: usize, why: Stopped, original: &Original<'_>) -> Result<(), Error> {
        match why {
            Stopped::Unsupported { message, place } => {
                self.report.status = Status::Unsupported {
                    reason: original.message(&message),
                    help: None,
                    site: place.and_then(|place| original.site(&place)),
                };
            }
            Stopped::Nondeterministic { inputs } => self.part_ways(part, &inputs),
            Stopped::BadInput { param, message } => return Err(Error::bad_input(&param, &message)),
            Stopped::Refused(why) => return Err(Error::refused(&why)),
        }
        Ok(())
    }

    fn own_reply(
        &mut self,
        part: usize,
        reply: ExploreReply,
        original: &Original<'_>,
        request: &ExploreRequest,
    ) -> Option<Failure> {
        match reply {
            ExploreReply::Started { sampled, inputs } => {
                self.report.sampled_inputs |= sampled;
                if sampled {
                    self.sample = Some(inputs);
                    self.note(words::sample_of_inputs(inputs, request.seed));
                }
            }
            ExploreReply::Exploring(counts) => self.units[part].current = counts,
            ExploreReply::Seen { relations, states } => self.search(part).seen(relations, states),
            ExploreReply::Explored {
                inputs,
                counts,
                promise,
                turns,
                own,
            } => {
                if self.divided {
                    let parts = self.parts;
                    let search = self.search(part);
                    if search.done(part, parts, turns, own) && !search.is_whole() {
                        self.part_ways(part, &inputs);
                    }
                }
                if counts.doubts.contains(Doubt::PartedWays) {
                    self.leave_out(&inputs);
                }
                let unit = &mut self.units[part];
                unit.current = Explored::default();
                let promise = promised(promise, &counts);
                unit.promise = Some(match unit.promise.take() {
                    Some(earlier) => earlier.and(promise),
                    None => promise,
                });
                unit.done.push(counts);
            }
            ExploreReply::Failure(finding) => {
                let held_up = finding.held_up.as_ref().map(|it| original.held_up(it));
                self.units[part].held_up.push(held_up);
                let failure = original.failure(
                    &finding,
                    (request.stack, spurious_of(request)),
                    &self.spawns,
                );
                let (turn, within) = finding.standing;
                let standing = (self.units[part].done.len(), turn, within);
                if finding.follows.is_empty() {
                    return self.found(part, failure, standing);
                }
                let follows = finding.follows.iter();
                let held = Held {
                    sent: (part, self.units[part].sent.len()),
                    failure: self.stamped(part, failure),
                    standing,
                    follows: follows.filter_map(|place| original.site(place)).collect(),
                };
                self.units[part].sent.push(None);
                self.held.push(held);
            }
            ExploreReply::Times(times) => self.units[part].times = times,
            ExploreReply::Couplings(couplings) => {
                let of_one = |couplings: Vec<(seqz_runtime::Role, u32)>| {
                    let couplings = couplings.into_iter();
                    let coupling = |(role, k): (seqz_runtime::Role, _)| Coupling {
                        under_test: role.into(),
                        k,
                    };
                    couplings.map(coupling).collect()
                };
                self.units[part].couplings = couplings.into_iter().map(of_one).collect();
            }
            ExploreReply::HeldUp(held_up) => {
                let held_up = held_up.iter();
                let held_up = held_up.map(|it| it.as_ref().map(|it| original.held_up(it)));
                self.units[part].held_up = held_up.collect();
            }
            // The unit that talks to the worker has dealt with these.
            ExploreReply::Running { .. } | ExploreReply::Solve { .. } | ExploreReply::Done => {}
        }
        None
    }

    /// Takes in that executions went another way when they were run again, and that the search has left out what would
    /// have come of them.
    fn leave_out(&mut self, inputs: &[(String, String)]) {
        let not_followed = &self.report.not_followed;
        let status = Status::nondeterministic(inputs, "the same schedule", not_followed);
        if let Status::Nondeterministic { reason, .. } = status {
            self.note(format!(
                "the search has left out what would have come of some executions: {reason}"
            ));
        }
    }

    /// Takes in that the program did something else when it was run again. If the harness reaches what is not followed,
    /// that may be the cause, and the search ends there; else the program is at fault.
    fn part_ways(&mut self, part: usize, inputs: &[(String, String)]) {
        let not_followed = &self.report.not_followed;
        let status = Status::nondeterministic(inputs, "the same schedule", not_followed);
        match status {
            Status::Nondeterministic { reason, .. } if !not_followed.is_empty() => {
                self.note(format!("the search went no further: {reason}"));
                let lost = Promise::Unfinished {
                    reasons: vec![Reason::NotFollowed],
                };
                let promise = &mut self.units[part].promise;
                *promise = Some(match promise.take() {
                    Some(earlier) => earlier.and(lost),
                    None => lost,
                });
            }
            status => self.report.status = status,
        }
    }

    /// Takes in the couplings of the failures that a worker has sent.
    fn couple(&mut self, part: usize) {
        let part = &self.units[part];
        for (at, couplings) in part.sent.iter().zip(&part.couplings) {
            let Some(at) = *at else { continue };
            let known = &mut self.report.failures[at].couplings;
            for &Coupling { under_test, k } in couplings {
                match known
                    .iter_mut()
                    .find(|known| known.under_test == under_test)
                {
                    Some(known) => known.k = known.k.min(k),
                    None => known.push(Coupling { under_test, k }),
                }
            }
            known.sort_by_key(|known| known.under_test);
        }
    }

    /// Says of each failure who was held up in each execution with it: the one for whom that was shortest.
    fn hold_up(&mut self) {
        for (at, failure) in self.report.failures.iter_mut().enumerate() {
            let of_units = self.units.iter().flat_map(|unit| {
                let numbers = (0..unit.sent.len()).filter(|&number| unit.sent[number] == Some(at));
                numbers.map(|number| unit.held_up.get(number).cloned().flatten())
            });
            let all: Option<Vec<_>> = of_units.collect();
            let shortest = all.into_iter().flatten().min_by_key(|it| it.nanoseconds);
            failure.held_up = shortest;
        }
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
            // A sample is complete with what has been drawn.
            Ended::Left => {
                self.units[part].promise.get_or_insert(Promise::Sampled);
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
            Ended::WithoutAny(after, at) => {
                self.units[part].none_ended = Some((after, at));
                reason = Some(Reason::TimeLimit);
            }
            Ended::Unwinding => reason = Some(Reason::Unwinding),
            Ended::Fatal(fatal) => {
                let failure = original.fatal(&fatal, request, &self.spawns);
                let standing = (usize::MAX, part as u64, 0);
                // Another part may have made this execution, too.
                let mut known = self.report.failures.iter();
                let known = known.position(|known| known.schedule == failure.schedule);
                if let Some(at) = known.filter(|_| self.divided) {
                    self.prefer(at, failure, standing);
                } else {
                    new = self.found(part, failure, standing);
                    let counts = &mut self.units[part].current;
                    counts.executions = if self.divided {
                        counts.executions + 1
                    } else {
                        counts.executions.max(fatal.running.execution)
                    };
                    counts.failing += 1;
                }
                reason = Some(Reason::Died);
            }
            Ended::Blocked(at) => {
                self.report.status = Status::blocked(&at, &self.report.not_followed);
            }
            Ended::Broken(_) => {}
            Ended::Failed(reason) => self.report.status = Status::Failed { reason },
        }
        if let Some(reason) = reason {
            let unit = &mut self.units[part];
            // A sample is complete with what has been drawn, whatever ends the drawing.
            let is_lost = matches!(reason, Reason::Died | Reason::Unwinding);
            if unit.promise != Some(Promise::Sampled) || is_lost {
                unit.promise = Some(Promise::Unfinished {
                    reasons: vec![reason],
                });
            }
        }
        new
    }

    /// Called at the end: where no execution has come to its end in any part, the harness was not explored.
    fn look_for_executions(&mut self) {
        let report = &mut self.report;
        let any = report.counts.executions > 0 || !report.failures.is_empty();
        if any || report.status != Status::Checked {
            return;
        }
        let parts = self.units.iter();
        if let Some((after, at)) = parts.filter_map(|unit| unit.none_ended.as_ref()).next() {
            report.status = Status::none_ended(*after, at, &report.not_followed);
        }
    }

    /// Called at the end: notes how many choices of a sample of inputs were searched to the end, if not all of them
    /// were.
    fn look_for_inputs(&mut self) {
        let done = self.units.iter().map(|unit| unit.done.len());
        let done = if self.divided { done.min() } else { done.max() };
        let done = done.unwrap_or(0) as u64;
        if self.sample.is_some_and(|all| done < all.into()) {
            let done = counted(done, "choice", "choices");
            let note = format!("{done} of inputs tried to the end");
            self.on_inputs = Some(note.clone());
            self.note(note);
        }
    }

    /// Returns the search of the choice of inputs that a part explores.
    fn search(&mut self, part: usize) -> &mut Search {
        let input = self.units[part].done.len();
        if self.searches.len() <= input {
            self.searches.resize_with(input + 1, Search::default);
        }
        &mut self.searches[input]
    }

    /// Adds a failure; returns the failure if it is new.
    fn found(&mut self, part: usize, failure: Failure, standing: Standing) -> Option<Failure> {
        let failure = self.stamped(part, failure);
        let (at, is_new) = self.add(failure, standing);
        self.units[part].sent.push(Some(at));
        is_new.then(|| self.report.failures[at].clone())
    }

    /// Returns the failure with the execution and the time at which it was met.
    fn stamped(&self, part: usize, mut failure: Failure) -> Failure {
        let done = &self.units[part].done;
        let before: u64 = done.iter().map(|counts| counts.executions).sum();
        failure.met = Met {
            executions: before + failure.execution,
            seconds: self
                .started
                .map_or(0.0, |started| started.elapsed().as_secs_f64()),
        };
        if failure.kind == Kind::Result {
            // A failure by the test's result has no other place than that of the test.
            failure.site = Some(self.report.site.clone());
        }
        failure
    }

    /// Adds a failure; failures of the same place and kind are one, and of several parts' failures the one that the
    /// whole search meets first stays. Returns the index of the failure in the report, and whether it is new.
    fn add(&mut self, failure: Failure, standing: Standing) -> (usize, bool) {
        let has_place = failure.site.is_some() && failure.kind != Kind::Result;
        let same = |known: &Failure| {
            (known.kind, &known.site) == (failure.kind, &failure.site)
                && (has_place || known.message == failure.message)
        };
        let known = self.report.failures.iter().position(same);
        let at = known.unwrap_or(self.report.failures.len());
        if known.is_some() {
            if self.divided {
                self.prefer(at, failure, standing);
            }
        } else {
            self.report.failures.push(failure);
            self.standings.push(standing);
        }
        (at, known.is_none())
    }

    /// Keeps the earlier one of the failure at the index `at` and `other`, which is the same failure.
    fn prefer(&mut self, at: usize, other: Failure, standing: Standing) {
        if standing < self.standings[at] {
            self.report.failures[at] = other;
            self.standings[at] = standing;
        }
    }

    /// Called when all parts are over: puts the failures in the order in which one search would have met them, and
    /// numbers their executions as that search would.
    fn order(&mut self) {
        let parts = self.parts;
        let failures = std::mem::take(&mut self.report.failures);
        let failures = self.standings.drain(..).zip(failures).enumerate();
        let mut failures: Vec<_> = failures.collect();
        failures.sort_by_key(|(_, (standing, _))| *standing);
        let moved: Vec<usize> = (0..failures.len())
            .map(|before| {
                let mut at = failures.iter();
                at.position(|(was, _)| *was == before).unwrap_or(before)
            })
            .collect();
        let of_parts = self.units.iter_mut().flat_map(|part| &mut part.sent);
        of_parts.flatten().for_each(|at| *at = moved[*at]);
        self.from_held = self.from_held.iter().map(|at| moved[*at]).collect();
        let mut failures: Vec<_> = failures.into_iter().map(|(_, it)| it).collect();
        for ((input, turn, within), failure) in &mut failures {
            if let Some(search) = self
                .searches
                .get(*input)
                .filter(|search| search.is_done(parts))
            {
                failure.execution = search.number(*turn, *within);
            }
        }
        (self.standings, self.report.failures) = failures.into_iter().unzip();
    }

    /// Takes in the file in which a failure was written.
    pub(super) fn written(&mut self, file: PathBuf) {
        if let Some(failure) = self.report.failures.get_mut(self.files.len()) {
            failure.finding = Some(shown(&file));
        }
        self.files.push(file);
    }

    /// Returns the final failures with their files; when the files were written, less was known.
    pub(super) fn rewritten(&mut self) -> Vec<(PathBuf, Failure)> {
        if !self.is_over() {
            return Vec::new();
        }
        // The failures may have been put in another order.
        for (failure, file) in self.report.failures.iter_mut().zip(&self.files) {
            failure.finding = Some(shown(file));
        }
        let failures = self.report.failures.iter().cloned();
        // The file needs no path to itself.
        let failures = failures.map(|failure| Failure {
            finding: None,
            ..failure
        });
        self.files.drain(..).zip(failures).collect()
    }

    /// Ends the search of the harness after its first failure.
    pub(super) fn leave(&mut self) {
        self.note(
            "the harness was left after its first failure; --keep-going draws further schedules"
                .to_owned(),
        );
    }

    /// Adds a note to the report, once.
    fn note(&mut self, note: String) {
        if !self.report.notes.contains(&note) {
            self.report.notes.push(note);
        }
    }

    /// Adds up what the units have done.
    fn sum(&mut self) {
        let mut counts = Counts::default();
        let mut add = |part: &Explored| {
            if let Some(causality) = &part.causality {
                let sum = counts.causality.get_or_insert_default();
                sum.add(&causality_of(causality));
            }
            counts.executions += part.executions;
            counts.redundant += part.redundant;
            counts.abandoned += part.abandoned;
            counts.blocked += part.blocked;
            counts.truncated += part.truncated;
            counts.undecided += u64::from(part.undecided);
            counts.waiting += part.waiting;
            counts.failing += part.failing;
            counts.events += part.events;
            (part.relations, part.states)
        };
        let (mut relations, mut states) = (0, 0);
        // A search that counts lazy happens-before relations is not divided.
        let mut lazy_relations = None;
        if self.divided {
            let parts = self.parts;
            let most = self.units.iter().map(|unit| unit.done.len()).max();
            for input in 0..=most.unwrap_or(0) {
                let units = self.units.iter();
                let of_input = units.filter_map(|unit| match unit.done.len().cmp(&input) {
                    std::cmp::Ordering::Greater => unit.done.get(input),
                    std::cmp::Ordering::Equal => Some(&unit.current),
                    std::cmp::Ordering::Less => None,
                });
                let search = self.searches.get(input);
                let whole = match search.filter(|search| search.is_done(parts)) {
                    Some(search) => search.counts(of_input),
                    None => together(of_input),
                };
                let distinct = add(&whole);
                relations += distinct.0;
                states += distinct.1;
            }
        } else {
            for unit in &self.units {
                let (mut own_relations, mut own_states) = (0, 0);
                let mut own_lazy = None;
                for part in unit.done.iter().chain([&unit.current]) {
                    let distinct = add(part);
                    own_relations += distinct.0;
                    own_states += distinct.1;
                    if let Some(lazy) = part.lazy_relations {
                        *own_lazy.get_or_insert(0) += lazy;
                    }
                }
                // Two workers may have seen the same relation.
                relations = relations.max(own_relations);
                states = states.max(own_states);
                lazy_relations = lazy_relations.max(own_lazy);
            }
        }
        counts.relations = relations;
        counts.lazy_relations = lazy_relations;
        counts.states = states;
        if let Some(started) = self.started {
            counts.seconds = started.elapsed().as_secs_f64();
        }
        (0..self.units.len()).for_each(|part| self.couple(part));
        for (at, failure) in self.report.failures.iter_mut().enumerate() {
            let met = self.units.iter().flat_map(|unit| {
                let times = |number| unit.times.get(number).copied().unwrap_or(1);
                let numbers = (0..unit.sent.len()).filter(|&number| unit.sent[number] == Some(at));
                numbers.map(times)
            });
            failure.count = met.sum::<u64>().max(1);
        }
        self.hold_up();
        let promises = self.units.iter().filter_map(|unit| unit.promise.clone());
        if let Some(promise) = promises.reduce(Promise::and) {
            let promise = promise.unless_unfollowed(&self.report.not_followed);
            // A sample is complete with what has been drawn.
            self.report.promise = if self.pieces_away && promise != Promise::Sampled {
                promise.and(Promise::Unfinished {
                    reasons: vec![Reason::OtherPieces],
                })
            } else {
                promise
            };
        }
        self.report.counts = counts;
        self.report.verdict = verdict::of_report(&self.report).sentence();
    }

    /// What has been gathered, to be put together with what other pieces gather.
    pub(super) fn share(&self) -> Share {
        let kept: Vec<usize> = (0..self.report.failures.len())
            .filter(|at| !self.from_held.contains(at))
            .collect();
        let moved = |at: &usize| kept.binary_search(at).ok();
        let units = self.units.iter().map(|unit| Part {
            sent: unit
                .sent
                .iter()
                .map(|at| at.as_ref().and_then(moved))
                .collect(),
            none_ended: None,
            ..unit.clone()
        });
        let notes = self.report.notes.iter();
        let notes = notes.filter(|note| self.on_inputs.as_ref() != Some(note));
        Share {
            report: HarnessExploration {
                failures: kept
                    .iter()
                    .map(|&at| self.report.failures[at].clone())
                    .collect(),
                notes: notes.cloned().collect(),
                ..self.report.clone()
            },
            units: units.map(Into::into).collect(),
            searches: self.searches.clone(),
            // A search with several units, or several pieces, keeps where its failures stand.
            standings: kept.iter().map(|&at| self.standings[at]).collect(),
            held: self.held.iter().chain(&self.told).cloned().collect(),
            sample: self.sample,
            divided: self.divided,
        }
    }

    /// Puts the shares of a harness together. `are_all`: no piece is missing.
    ///
    /// # Errors
    /// When a share is damaged.
    pub(super) fn joined(shares: &[&Share], are_all: bool) -> Result<Option<Self>, String> {
        let Some(first) = shares.first() else {
            return Ok(None);
        };
        let units: usize = shares.iter().map(|share| share.units.len()).sum();
        let mut all = Self {
            report: HarnessExploration {
                status: Status::of_pieces(shares.iter().map(|share| &share.report.status)),
                failures: Vec::new(),
                notes: Vec::new(),
                ..first.report.clone()
            },
            idle_functions: BTreeSet::new(),
            spawns: Vec::new(),
            first: 0,
            units: Vec::new(),
            parts: if are_all { units } else { usize::MAX },
            started: None,
            sample: shares.iter().find_map(|share| share.sample),
            divided: first.divided,
            searches: Vec::new(),
            standings: Vec::new(),
            files: Vec::new(),
            held: Vec::new(),
            told: Vec::new(),
            from_held: BTreeSet::new(),
            on_inputs: None,
            pieces_away: !are_all,
        };
        for share in shares {
            all.join(share)?;
        }
        all.tell_held(&mut Vec::new());
        all.sum();
        let seconds = shares.iter().map(|share| share.report.counts.seconds);
        all.report.counts.seconds = seconds.sum();
        if all.units.is_empty() {
            all.report.promise = first.report.promise.clone();
        }
        let is_torn = |search: &Search| search.is_done(all.parts) && !search.is_whole();
        if all.divided && all.searches.iter().any(is_torn) {
            all.part_ways(0, &[]);
            all.sum();
            all.report.counts.seconds = shares.iter().map(|it| it.report.counts.seconds).sum();
        }
        all.close();
        all.report.verdict = verdict::of_report(&all.report).sentence();
        Ok(Some(all))
    }

    fn join(&mut self, share: &Share) -> Result<(), String> {
        let offset = self.units.len();
        let damaged = || "what it says of failures does not fit together".to_owned();
        if share.standings.len() != share.report.failures.len() {
            return Err(damaged());
        }
        let mut at = Vec::new();
        for (failure, standing) in share.report.failures.iter().zip(&share.standings) {
            at.push(self.add(failure.clone(), *standing).0);
        }
        for unit in &share.units {
            let mut unit = Part::try_from(unit)?;
            for sent in unit.sent.iter_mut().flatten() {
                *sent = *at.get(*sent).ok_or_else(damaged)?;
            }
            if !unit.over {
                unit.over = true;
                unit.promise = Some(match unit.promise.take() {
                    Some(Promise::Sampled) => Promise::Sampled,
                    _ => Promise::Unfinished {
                        reasons: vec![Reason::PieceEnded],
                    },
                });
            }
            self.units.push(unit);
        }
        for held in &share.held {
            let (unit, number) = held.sent;
            if unit >= share.units.len() {
                return Err(damaged());
            }
            self.held.push(Held {
                sent: (offset + unit, number),
                ..held.clone()
            });
        }
        if self.searches.len() < share.searches.len() {
            self.searches
                .resize_with(share.searches.len(), Search::default);
        }
        for (known, search) in self.searches.iter_mut().zip(&share.searches) {
            known.join(search, offset);
        }
        let report = &share.report;
        report.notes.iter().for_each(|note| self.note(note.clone()));
        self.report.sampled_inputs |= report.sampled_inputs;
        self.report.reads = self.report.reads.take().or_else(|| report.reads.clone());
        unfollowed::add_all(&mut self.report.not_followed, &report.not_followed);
        Ok(())
    }
}
