//! The fuzzing of one harness: both threads under test take turns, in slices of time that grow.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use seqz_runtime::check::Level;
use seqz_runtime::fuzz;

use super::confirm::Confirming;
use super::corpus;
use super::decode::{Decoded, Seeds, read};
use super::layout::{Layout, file};
use super::sanitized::{Sanitized, Told};
use super::target::{self, Alone, Counts, End, Slice};
use super::{Options, Task};
use crate::check::gather::{Gathered, Identity};
use crate::check::progress::{Position, Progress};
use crate::error::Error;
use crate::findings::{Found, Store};
use crate::model::document::{Bug, Cut, Role, Status};
use crate::original::Original;

/// What is the same for all harnesses of a search.
pub(super) struct Fuzzer<'a> {
    pub(super) target: &'a Path,
    /// What runs the original program with AddressSanitizer.
    pub(super) confirming: Confirming<'a>,
    pub(super) worker: &'a Path,
    /// The directory in which tests of the program run: that of their package, as under cargo.
    pub(super) dir: Option<&'a Path>,
    pub(super) layout: &'a Layout,
    pub(super) original: Original<'a>,
    pub(super) options: &'a Options,
    pub(super) stop: &'a AtomicBool,
    pub(super) progress: &'a Progress,
    pub(super) store: Option<Store>,
    /// The time for which a harness is fuzzed.
    pub(super) share: Duration,
}

/// One thread under test at one k.
struct Unit {
    role: Role,
    k: u32,
    corpus: PathBuf,
    longest: u32,
    counts: Level,
    /// The time that is left.
    left: Duration,
    spent: Duration,
    executions: Option<u64>,
    slices: u32,
    /// The keys of the bugs that the unit has met.
    known: Vec<String>,
    died: bool,
}

/// The time that a unit has to have been fuzzed for its corpus to be made smaller.
const WORTH_MINIMIZING: Duration = Duration::from_secs(10);

/// The reason why a harness is not fuzzed further.
enum Stop {
    Interrupted,
    /// The harness's report has the reason.
    Over,
}

impl Fuzzer<'_> {
    /// Fuzzes one harness and adds what is found to `gathered`.
    pub(super) fn run(
        &mut self,
        task: &Task<'_>,
        gathered: &mut Gathered,
    ) -> Result<Option<Cut>, Error> {
        let artifacts = self.layout.artifacts();
        fs::create_dir_all(&artifacts).map_err(|e| file("create", &artifacts, e))?;
        let mut dead = Vec::new();
        // A kind of bug that was met at one k is known at every k.
        let mut known: Vec<(Role, Vec<String>)> = Vec::new();
        for &k in &self.options.ks {
            let mut units = Vec::new();
            for &role in &task.roles {
                if dead.contains(&role) {
                    continue;
                }
                match self.begin(task, role, k, gathered)? {
                    Ok(mut unit) => {
                        let known = known.iter().find(|(of, _)| *of == role);
                        unit.known = known.map(|(_, keys)| keys.clone()).unwrap_or_default();
                        units.push(unit);
                    }
                    Err(Stop::Over) => return Ok(None),
                    Err(Stop::Interrupted) => return Ok(Some(Cut::Interrupted)),
                }
            }
            let stop = self.rounds(task, &mut units, gathered)?;
            for unit in &units {
                gathered.fuzzed(unit.role, unit.k, &unit.counts, unit.died);
                if unit.died {
                    dead.push(unit.role);
                }
                known.retain(|(role, _)| *role != unit.role);
                known.push((unit.role, unit.known.clone()));
            }
            match stop {
                None => {}
                Some(Stop::Interrupted) => return Ok(Some(Cut::Interrupted)),
                Some(Stop::Over) => return Ok(None),
            }
            // After a short search there is little to make smaller, and it would take longer than the search.
            for unit in units
                .iter()
                .filter(|unit| !unit.died && unit.spent > WORTH_MINIMIZING)
            {
                let which = (task.harness.name.as_str(), unit.role, unit.k);
                corpus::minimize(self.target, &unit.corpus, which, &unit.known)?;
            }
        }
        Ok(None)
    }

    /// Prepares the corpus: the strings that were kept, those that the logs of T and T' give, and those learned with
    /// fewer reads.
    fn begin(
        &self,
        task: &Task<'_>,
        role: Role,
        k: u32,
        gathered: &mut Gathered,
    ) -> Result<Result<Unit, Stop>, Error> {
        let name = &task.harness.name;
        let corpus = corpus::dir(self.layout, name, role, k)?;
        let longest = match self.seeds(name, role, k)? {
            Some(Seeds::Strings(strings, longest)) => {
                corpus::add(&corpus, strings)?;
                longest
            }
            Some(Seeds::Unsupported(message, place)) => {
                self.unsupported(&message, place.as_ref(), gathered);
                return Ok(Err(Stop::Over));
            }
            None if self.stop.load(std::sync::atomic::Ordering::Relaxed) => {
                return Ok(Err(Stop::Interrupted));
            }
            None => {
                // The target will die in this execution as well, and then the cause is known.
                corpus::add(&corpus, [vec![255; 2 * k as usize + 1]])?;
                let inputs = if task.harness.parameters.is_empty() {
                    0
                } else {
                    64
                };
                fuzz::width_without_inputs(k as usize) as u32 + inputs
            }
        };
        if let Some(before) = k.checked_sub(1) {
            let narrower = corpus::dir(self.layout, name, role, before)?;
            let strings = corpus::strings(&narrower)?;
            let wider = strings.iter().map(|string| corpus::widen(string, before));
            corpus::add(&corpus, wider)?;
        }
        let parts = task.roles.len() * self.options.ks.len();
        Ok(Ok(Unit {
            role,
            k,
            corpus,
            longest,
            counts: Level::default(),
            left: self.share / u32::try_from(parts.max(1)).unwrap_or(1),
            executions: self
                .options
                .max_executions
                .map(|most| most.div_ceil(parts.max(1) as u64)),
            spent: Duration::ZERO,
            slices: 0,
            known: Vec::new(),
            died: false,
        }))
    }

    /// Runs slices of the units in turn, until their time is over.
    fn rounds(
        &mut self,
        task: &Task<'_>,
        units: &mut [Unit],
        gathered: &mut Gathered,
    ) -> Result<Option<Stop>, Error> {
        for round in 0.. {
            let mut going = false;
            for unit in units.iter_mut() {
                if unit.died || unit.left.is_zero() || unit.executions == Some(0) {
                    continue;
                }
                going = true;
                let slice = Duration::from_secs(1 << round.min(6)).min(unit.left);
                if let Some(stop) = self.slice(task, unit, slice, gathered)? {
                    return Ok(Some(stop));
                }
                if self.options.until_bug && !gathered.report.bugs.is_empty() {
                    return Ok(Some(Stop::Over));
                }
            }
            if !going {
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// Fuzzes one unit for this time, over all the bugs that the unit meets.
    fn slice(
        &mut self,
        task: &Task<'_>,
        unit: &mut Unit,
        time: Duration,
        gathered: &mut Gathered,
    ) -> Result<Option<Stop>, Error> {
        let end_of_slice = Instant::now() + time;
        loop {
            let now = Instant::now();
            let artifacts = self.layout.artifacts();
            let (end, counts) = Slice {
                target: self.target,
                dir: self.dir,
                harness: &task.harness.name,
                role: unit.role,
                k: unit.k,
                known: &unit.known,
                corpus: &unit.corpus,
                artifacts: &artifacts,
                longest: unit.longest,
                inputs: !task.harness.parameters.is_empty(),
                profile: !task.harness.parameters.is_empty() && unit.slices % 2 == 1,
                time: end_of_slice.saturating_duration_since(now),
                executions: unit.executions,
                hang_after: self.options.hang_after,
                ignore_detached_panics: self.options.ignore_detached_panics,
                memory: self.options.memory,
                seed: self.options.seed.wrapping_add(u64::from(unit.slices)),
                more: &self.options.more,
                stop: self.stop,
            }
            .run(|counts| {
                let position = Position {
                    under_test: unit.role,
                    k: unit.k,
                    executions: unit.counts.executions + counts.executions,
                    bugs: gathered.report.bugs.len(),
                };
                self.progress.at(&task.harness.name, position);
            })?;
            unit.slices += 1;
            unit.add(counts, now.elapsed());
            gathered.progress(unit.role, unit.k, unit.counts.clone());
            match end {
                End::Done => {}
                End::Interrupted => return Ok(Some(Stop::Interrupted)),
                End::Met {
                    key,
                    bytes,
                    artifact,
                } => {
                    if let Some(bytes) = bytes {
                        fs::write(&artifact, bytes).map_err(|e| file("write", &artifact, e))?;
                    }
                    unit.known.push(key);
                    let decoded = self.decode_bug(task, unit, &artifact)?;
                    corpus::keep(&unit.corpus, &read(&artifact)?)?;
                    if !self.take(task, unit, &decoded, &artifact, gathered) {
                        return Ok(Some(Stop::Over));
                    }
                }
                End::Fatal {
                    what,
                    sanitized,
                    artifact,
                } => {
                    let (decoded, again) =
                        self.last_of_all(task, unit, &artifact, sanitized.is_some())?;
                    corpus::keep(&unit.corpus, &read(&artifact)?)?;
                    if let Some((message, place)) = &decoded.unsupported {
                        self.unsupported(message, place.as_ref(), gathered);
                        return Ok(Some(Stop::Over));
                    }
                    let which = (unit.role, unit.k);
                    let mut bug = self.fatal(&task.harness.name, which, what, &decoded, &artifact);
                    // Where the worker has died as well, its death says no more than that; AddressSanitizer says more.
                    unit.died = true;
                    if let Some(sanitized) = again.or(sanitized) {
                        let told = self.sanitized(&mut bug, &sanitized);
                        bug.run_alone = Some(self.alone(task, unit, &artifact).in_words());
                        self.progress.say(format!(
                            "{}: looking for what AddressSanitizer has found in the original program",
                            task.harness.name
                        ));
                        match self.confirm(task.harness, &mut bug, &sanitized, &told) {
                            Ok(true) => {}
                            Ok(false) => {
                                gathered.note(not_confirmed(&bug, ""));
                                return Ok(None);
                            }
                            Err(error) => {
                                gathered.note(not_confirmed(&bug, &format!(" ({error})")));
                                return Ok(None);
                            }
                        }
                    }
                    bug.met = gathered.met(unit.role);
                    bug.met.executions += unit.counts.executions;
                    self.found(bug, gathered);
                    return Ok(None);
                }
                End::Broken { status, said } => {
                    return Err(Error::Build {
                        message: format!(
                            "the fuzz target ended in a way that it should not ({status})"
                        ),
                        output: said,
                    });
                }
            }
            if Instant::now() >= end_of_slice
                || unit.executions == Some(0)
                || (self.options.until_bug && !gathered.report.bugs.is_empty())
            {
                return Ok(None);
            }
        }
    }

    /// Decodes a file that meets a bug. Afterwards the file has the same bug by simpler inputs, if such inputs are
    /// found.
    fn decode_bug(&self, task: &Task<'_>, unit: &Unit, artifact: &Path) -> Result<Decoded, Error> {
        let bytes = read(artifact)?;
        let name = &task.harness.name;
        if !task.harness.parameters.is_empty()
            && let Some(simpler) = self.simpler(name, (unit.role, unit.k), &bytes)?
        {
            let decoded = self.decode(name, unit.role, unit.k, &simpler)?;
            if !decoded.findings.is_empty() {
                fs::write(artifact, simpler).map_err(|e| file("write", artifact, e))?;
                return Ok(decoded);
            }
        }
        self.decode(name, unit.role, unit.k, &bytes)
    }

    /// Returns a call of the target with the bytes of a file.
    fn alone<'s>(&'s self, task: &'s Task<'_>, unit: &'s Unit, artifact: &'s Path) -> Alone<'s> {
        Alone {
            target: self.target,
            dir: self.dir,
            harness: &task.harness.name,
            role: unit.role,
            k: unit.k,
            known: &unit.known,
            ignore_detached_panics: self.options.ignore_detached_panics,
            hang_after: self.options.hang_after,
            artifact,
        }
    }

    /// Puts what AddressSanitizer says of a bug into the bug.
    fn sanitized(&self, bug: &mut Bug, sanitized: &Sanitized) -> Told {
        let told = sanitized.told(&self.layout.program, |place| self.original.site(place));
        told.clone().say(bug);
        told
    }

    /// Decodes a file whose bytes ended the target. Of several executions, decodes the first that does not come to its
    /// end, or, where AddressSanitizer ended the target, the first of which AddressSanitizer complains again.
    /// Afterwards the file has this execution alone.
    fn last_of_all(
        &self,
        task: &Task<'_>,
        unit: &Unit,
        artifact: &Path,
        is_sanitized: bool,
    ) -> Result<(Decoded, Option<Sanitized>), Error> {
        let bytes = read(artifact)?;
        let most = target::rounds(!task.harness.parameters.is_empty()) as usize;
        for round in fuzz::rounds(&bytes, unit.longest as usize, most) {
            if is_sanitized {
                fs::write(artifact, round).map_err(|e| file("write", artifact, e))?;
                let again = self.alone(task, unit, artifact).run()?;
                if again.is_some() {
                    let decoded = self.decode(&task.harness.name, unit.role, unit.k, round)?;
                    return Ok((decoded, again));
                }
                continue;
            }
            let decoded = self.decode(&task.harness.name, unit.role, unit.k, round)?;
            if decoded.end.is_some() || decoded.unsupported.is_some() {
                fs::write(artifact, round).map_err(|e| file("write", artifact, e))?;
                return Ok((decoded, None));
            }
        }
        if is_sanitized {
            fs::write(artifact, &bytes).map_err(|e| file("write", artifact, e))?;
        }
        let decoded = self.decode(&task.harness.name, unit.role, unit.k, &bytes)?;
        Ok((decoded, None))
    }

    /// Takes in what bytes stand for; returns whether the result is to be trusted.
    fn take(
        &mut self,
        task: &Task<'_>,
        unit: &Unit,
        decoded: &Decoded,
        artifact: &Path,
        gathered: &mut Gathered,
    ) -> bool {
        if !decoded.threads.is_empty() {
            let threads = decoded.threads.iter();
            gathered.report.threads = threads
                .map(|thread| self.original.thread(thread, &task.harness.spawns))
                .collect();
        }
        for finding in &decoded.findings {
            let mut bug = self.original.bug(finding);
            gathered.place(&mut bug);
            bug.met = gathered.met(unit.role);
            bug.met.executions += unit.counts.executions;
            self.found(bug, gathered);
        }
        if decoded.findings.is_empty() {
            gathered.report.status = Status::Failed {
                reason: format!(
                    "the fuzz target met a bug that the worker does not meet with the same bytes, {}: the program does not \
                     do the same thing twice, or not in both builds",
                    artifact.display()
                ),
            };
        }
        !decoded.findings.is_empty()
    }

    fn unsupported(
        &self,
        message: &str,
        place: Option<&seqz_runtime::vocabulary::Place>,
        gathered: &mut Gathered,
    ) {
        gathered.report.status = Status::Unsupported {
            reason: self.original.message(message),
            help: Some(
                "`seqz explore` runs the program as it is, with any number of threads".into(),
            ),
            site: place.and_then(|place| self.original.site(place)),
        };
    }

    fn found(&mut self, bug: Bug, gathered: &mut Gathered) {
        if !gathered.bug(bug.clone()) {
            return;
        }
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
            gathered.note(format!(
                "findings are not written to files any more: {error}"
            ));
            self.store = None;
        }
    }
}

/// What is said of what AddressSanitizer has found in P̂ₖ where the original program has not shown it.
fn not_confirmed(bug: &Bug, why: &str) -> String {
    let at = bug.site.as_ref();
    let at = at.map_or_else(String::new, |site| {
        format!(" at {}:{}", site.file, site.line)
    });
    let other = bug.other_site.as_ref();
    let other = other.map_or_else(String::new, |site| {
        format!(", memory of {}:{}", site.file, site.line)
    });
    let what = bug.message.lines().next().unwrap_or_default();
    let alone = bug.run_alone.as_deref().unwrap_or_default();
    format!(
        "not confirmed: AddressSanitizer has met “{what}”{at}{other} in the sequential program, where the interfering thread has \
         run whole before the thread under test, and what lies behind raw pointers is as it leaves it. Schedules of the original \
         program, with the same inputs and AddressSanitizer, did not show it{why}. To see it in the sequential program: {alone}"
    )
}

impl Unit {
    fn add(&mut self, counts: Counts, time: Duration) {
        self.counts.executions += counts.executions;
        self.counts.infeasible += counts.infeasible;
        self.counts.buggy += counts.failing;
        self.left = self.left.saturating_sub(time);
        self.spent += time;
        self.executions = self
            .executions
            .map(|left| left.saturating_sub(counts.executions.max(1)));
    }
}
