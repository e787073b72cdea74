//! Serving a request: the search over roles, k, and inputs.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::connection::Connection;
use super::message::{Answer, CheckReply, CheckRequest, Executing, Finding, SolverKind, Stopped};
use crate::bound::Bound;
use crate::check::{Bounds, DEALT, Level, Search, Trouble, Watch};
use crate::engine::{Bug, Limits, Machine, Solver};
use crate::feasibility::{Feasibility, Interleaving, Verdict};
use crate::harness::{AnyHarness, InputSet};
use crate::input::{InputError, Spec};
use crate::log::Log;
use crate::scheduled::witness;
use crate::vocabulary::{Pair, Role};

/// The time between two reports of progress.
const PROGRESS: Duration = Duration::from_millis(100);

/// The number of executions between two looks at the clock.
const BATCH: u64 = 256;

/// The least bound on the events of a thread in an execution, where the request has none.
const LEAST: u32 = 10_000;

/// The greatest bound on the events of a thread in an execution, where the request has none.
const MOST: u32 = 1_000_000;

/// The factor by which the bound grows where executions are cut.
const TIMES: u32 = 10;

/// The factor from the events of the execution with k = 0 to the bound for the others: threads may do more when they
/// see what the other one wrote.
const ROOM: usize = 4;

/// The connection, shared by the search and by the solver that asks through it.
type Line = Rc<RefCell<Connection<CheckRequest>>>;

/// Serves a request to search P̂ₖ.
pub(super) fn serve(
    mut connection: Connection<CheckRequest>,
    harness: &dyn AnyHarness,
    request: &CheckRequest,
) -> io::Result<()> {
    let set = match bind(harness, &request.inputs, request.max_inputs, request.seed) {
        Ok(set) => set,
        Err(InputError { param, message }) => {
            return connection.stop(Stopped::BadInput { param, message });
        }
    };
    let inputs = u32::try_from(set.bound.len()).unwrap_or(u32::MAX);
    connection.send(CheckReply::Started {
        inputs,
        sampled: set.sampled,
    })?;
    connection.tell_left_behind()?;
    let line = Rc::new(RefCell::new(connection));
    let mut work = Work {
        request,
        line: Rc::clone(&line),
        sent: 0,
        told_any: false,
        told_threads: 0,
        told_doubts: 0,
        failed: None,
        last_progress: Instant::now(),
    };
    let trouble = work.search(&set)?;
    let mut line = line.borrow_mut();
    match trouble {
        None => line.send(CheckReply::Done),
        Some((Trouble::Unsupported { message, place }, _)) => {
            line.stop(Stopped::Unsupported { message, place })
        }
        Some((Trouble::Nondeterministic, inputs)) => {
            line.stop(Stopped::Nondeterministic { inputs })
        }
    }
}

/// The harness with the inputs that were asked for.
pub(super) fn bind(
    harness: &dyn AnyHarness,
    inputs: &[(String, String)],
    limit: u32,
    seed: u64,
) -> Result<InputSet, InputError> {
    let params = harness.params();
    for (name, _) in inputs {
        if !params.iter().any(|param| param.name == name) {
            let message = "the harness has no such parameter".to_owned();
            return Err(InputError {
                param: name.clone(),
                message,
            });
        }
    }
    let specs: Vec<Spec> = params
        .iter()
        .map(|param| {
            let given = inputs.iter().rev().find(|(name, _)| name == param.name);
            given.map_or(Spec::Default, |(_, text)| Spec::parse(text))
        })
        .collect();
    harness.bind(&specs, limit as usize, seed)
}

/// The names of inputs, with their values as text.
pub(super) type Texts = Vec<(String, String)>;

pub(super) fn texts(bound: &Bound) -> Texts {
    bound
        .inputs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.clone()))
        .collect()
}

/// The searches for one thread under test, one for each choice of inputs.
struct OfRole<'a> {
    role: Role,
    /// The number of executions that are left.
    left: u64,
    /// Whether the program comes to no end with some inputs, however long it is run.
    is_endless: bool,
    searches: Vec<OfInput<'a>>,
}

/// The search for one choice of inputs.
struct OfInput<'a> {
    search: Search<'a>,
    /// The bound on the events of a thread in an execution.
    steps: u32,
}

impl OfInput<'_> {
    /// Executes the next level. At k = 0, where the request has no bound on events, the bound grows as long as
    /// executions are cut: the program comes to its end without non-local reads, if it ever does. If it does not,
    /// everything is as if the larger bounds had not been tried.
    fn next_level(
        &mut self,
        machine: &mut Machine,
        watching: &mut Watching<'_, '_>,
        is_endless: &mut bool,
    ) -> Result<Level, Trouble> {
        machine.bound_steps(self.steps);
        let search = &mut self.search;
        let is_fixed = watching.work.request.max_steps.is_some() || search.k() > 0 || *is_endless;
        let fresh = search.clone();
        let first = search.watched_level(machine, watching)?;
        if is_fixed || !first.is_cut_short() {
            return Ok(first);
        }
        // The executions of the first attempt have been made, too, and have met the same bugs.
        let (mut executions, mut buggy) = (first.executions, first.buggy);
        let mut steps = self.steps;
        while steps < MOST {
            steps *= TIMES;
            machine.bound_steps(steps);
            let mut longer = fresh.clone();
            let mut level = longer.watched_level(machine, watching)?;
            executions += level.executions;
            buggy += level.buggy;
            if !level.is_cut_short() {
                let log = machine.log();
                let events = log.under_test.len().max(log.interfering.len());
                let room = u32::try_from(events.saturating_mul(ROOM)).unwrap_or(MOST);
                self.steps = room.clamp(steps, MOST);
                self.search = longer;
                (level.executions, level.buggy) = (executions, buggy);
                return Ok(level);
            }
        }
        *is_endless = true;
        Ok(Level {
            executions,
            buggy,
            ..first
        })
    }
}

/// A search in progress.
struct Work<'a> {
    request: &'a CheckRequest,
    line: Line,
    /// The number of findings that have been sent.
    sent: usize,
    /// Whether the first execution has been told.
    told_any: bool,
    /// The number of threads that run side by side, as has been told.
    told_threads: usize,
    /// The number of doubts about copies that have been told.
    told_doubts: usize,
    /// The error of the connection that ends the search.
    failed: Option<io::Error>,
    last_progress: Instant,
}

/// What goes on between the executions of one level.
struct Watching<'w, 'r> {
    work: &'w mut Work<'r>,
    role: Role,
    k: u32,
    bound: &'w Bound,
    /// The counts of the choices of inputs before this one.
    before: &'w Level,
    /// The number of executions that are left.
    left: u64,
    /// Whether the level counts for another part of the search, which tells what is found there.
    aside: bool,
}

impl Watch for Watching<'_, '_> {
    fn before(&mut self, pairs: &[Pair]) -> bool {
        if !self.work.request.careful {
            return true;
        }
        let inputs = texts(self.bound);
        self.work.send(CheckReply::Executing(Executing {
            role: self.role,
            pairs: pairs.to_vec(),
            inputs,
        }))
    }

    fn after(&mut self, level: &Level, machine: &Machine) -> bool {
        let mut going = true;
        if self.aside {
            going &= self.work.tell_threads(machine);
            if self.work.last_progress.elapsed() >= PROGRESS {
                self.work.last_progress = Instant::now();
                going &= self.work.send(CheckReply::Progress {
                    role: self.role,
                    k: self.k,
                    level: self.before.clone(),
                });
            }
            return going;
        }
        // Before findings, which may come of a copy.
        for doubt in machine.doubts(self.work.told_doubts) {
            self.work.told_doubts += 1;
            going &= self.work.send(CheckReply::Doubtful {
                what: doubt.message,
                place: doubt.place,
            });
        }
        if machine.bugs().len() > self.work.sent {
            let execution = self.work.request.max_executions - self.left
                + self.before.executions
                + level.executions;
            going &= self.work.send_findings(machine, self.bound, execution);
        }
        if self.work.told_threads == 0 || level.executions == 1 {
            going &= self.work.tell_threads(machine);
        }
        // The first execution is told at once.
        let is_first = !std::mem::replace(&mut self.work.told_any, true);
        if is_first
            || level.executions.is_multiple_of(BATCH)
                && self.work.last_progress.elapsed() >= PROGRESS
        {
            self.work.last_progress = Instant::now();
            let mut sum = self.before.clone();
            sum.add(level);
            going &= self.work.send(CheckReply::Progress {
                role: self.role,
                k: self.k,
                level: sum,
            });
        }
        going && level.executions < self.left
    }
}

impl Work<'_> {
    /// Goes through k, roles, and inputs, in this order: so the first meeting with a bug has the smallest k, and a search that
    /// is cut has looked at all roles to about the same depth.
    fn search(&mut self, set: &InputSet) -> io::Result<Option<(Trouble, Texts)>> {
        let request = self.request;
        let limits = Limits {
            steps: request.max_steps.unwrap_or(LEAST),
            ignore_detached_panics: request.ignore_detached_panics,
            several: true,
            // A careful search looks for what kills the worker: that must be the program, and not what it does in
            // states that no interleaving reaches.
            run_on: if request.careful {
                0
            } else {
                Limits::default().run_on
            },
        };
        let bounds = Bounds {
            k_max: request.k_max as usize,
            executions: u64::MAX,
            limits,
        };
        let mut machine = Machine::new(limits, self.solver());
        machine.begin_search();
        let (part, parts) = request.part;
        // With many choices of inputs, each is searched by one part, from its root on.
        let inputs_dealt = parts > 1 && set.bound.len() as u64 >= DEALT * u64::from(parts);
        let of_search = if inputs_dealt { (0, 1) } else { (part, parts) };
        let is_own = |label: usize| !inputs_dealt || label % parts as usize == part as usize;
        // What is executed for the sake of other executions is forgotten.
        let mut other = Machine::new(limits, self.solver());
        other.begin_search();
        let of_role = |role| {
            set.bound.iter().map(move |bound| OfInput {
                search: Search::new(bound, role, bounds).part(of_search.0, of_search.1),
                steps: limits.steps,
            })
        };
        let of_role = |role| OfRole {
            role,
            left: request.max_executions,
            is_endless: false,
            searches: of_role(role).collect(),
        };
        let mut roles: Vec<OfRole<'_>> = request.roles.iter().copied().map(of_role).collect();
        for k in 0..=request.k_max {
            let mut at = 0;
            // How many threads run side by side is known once they have.
            while at < roles.len() {
                let OfRole {
                    role,
                    left,
                    is_endless,
                    searches,
                } = &mut roles[at];
                at += 1;
                let role = *role;
                let mut sum = Level::default();
                for (label, (search, bound)) in searches.iter_mut().zip(&set.bound).enumerate() {
                    if !is_own(label) {
                        continue;
                    }
                    if *left == 0 {
                        sum.skipped += 1;
                        continue;
                    }
                    let before = sum.clone();
                    let aside = part > 0 && search.search.is_shared();
                    let mut watching = Watching {
                        work: self,
                        role,
                        k,
                        bound,
                        before: &before,
                        left: *left,
                        aside,
                    };
                    let machine = if aside { &mut other } else { &mut machine };
                    machine.search_in(label);
                    let level = search.next_level(machine, &mut watching, is_endless);
                    if let Some(error) = self.failed.take() {
                        return Err(error);
                    }
                    match level {
                        Ok(_) if aside => {}
                        Ok(level) => {
                            *left -= level.executions.min(*left);
                            sum.add(&level);
                        }
                        Err(trouble) => return Ok(Some((trouble, texts(bound)))),
                    }
                }
                self.line.borrow_mut().send(CheckReply::Level {
                    role,
                    k,
                    level: sum,
                })?;
                if (1..=role.index()).contains(&self.told_threads) {
                    let trouble = Trouble::Unsupported {
                        message: format!(
                            "there is no {} thread here that could be under test",
                            role.name()
                        ),
                        place: None,
                    };
                    return Ok(Some((trouble, Texts::new())));
                }
                if k == 0 && request.others {
                    let known = u8::try_from(roles.len()).unwrap_or(u8::MAX);
                    let all = u8::try_from(self.told_threads).unwrap_or(u8::MAX);
                    roles.extend((known..all).map(Role).map(of_role));
                }
            }
        }
        if let Some(bound) = set.bound.first() {
            super::explore::look_for_random_numbers(bound, request.careful);
        }
        for label in machine.end_search() {
            let (bug, _) = &machine.bugs()[self.sent];
            self.sent += 1;
            let found = finding(bug, &set.bound[label], 0);
            self.line
                .borrow_mut()
                .send(CheckReply::Finding(Box::new(found)))?;
        }
        let times = machine.bugs().iter().map(|(_, times)| *times).collect();
        self.line.borrow_mut().send(CheckReply::Times(times))?;
        Ok(None)
    }

    /// Sends a reply. Returns whether that went well; if not, the search ends.
    fn send(&mut self, reply: CheckReply) -> bool {
        match self.line.borrow_mut().send(reply) {
            Ok(()) => true,
            Err(error) => {
                self.failed = Some(error);
                false
            }
        }
    }

    fn send_findings(&mut self, machine: &Machine, bound: &Bound, execution: u64) -> bool {
        let mut going = true;
        for (bug, _) in &machine.bugs()[self.sent..] {
            going &= self.send(CheckReply::Finding(Box::new(finding(
                bug, bound, execution,
            ))));
        }
        self.sent = machine.bugs().len();
        going
    }

    fn tell_threads(&mut self, machine: &Machine) -> bool {
        let threads = machine.threads();
        if threads.len() <= self.told_threads {
            return true;
        }
        self.told_threads = threads.len();
        self.send(CheckReply::Threads(threads))
    }

    fn solver(&self) -> Solver {
        let driver = || {
            Box::new(Driver {
                line: Rc::clone(&self.line),
            })
        };
        match self.request.solver {
            SolverKind::Grid => Solver::Grid,
            SolverKind::Driver => Solver::Other(driver()),
            // The driver is told what the grid says, and compares.
            SolverKind::Both => Solver::Compare {
                other: driver(),
                differs: Box::new(|_, _, _| {}),
            },
        }
    }
}

/// The driver's feasibility engine, at the other end of the connection.
struct Driver {
    line: Line,
}

impl Feasibility for Driver {
    fn check(&mut self, log: &Log<'_>) -> Verdict {
        let by_grid = crate::feasibility::ProgressGrid::new().check(log);
        let question = CheckReply::Check {
            under_test: log.under_test.to_vec(),
            interfering: log.interfering.to_vec(),
            by_grid: matches!(by_grid, Verdict::Feasible(_)),
        };
        let mut line = self.line.borrow_mut();
        let answer = line.send(question).and_then(|()| line.answer());
        match answer {
            Ok(Answer::Feasible) => Verdict::Feasible(Interleaving::default()),
            Ok(Answer::Infeasible) => Verdict::Infeasible,
            Ok(Answer::Unknown(why)) => Verdict::Unknown(why),
            Err(error) => Verdict::Unknown(format!("the driver is gone: {error}")),
        }
    }
}

pub(super) fn finding(bug: &Bug, bound: &Bound, execution: u64) -> Finding {
    Finding {
        kind: bug.kind,
        message: bug.message.clone(),
        place: bug.place.clone(),
        other_place: bug.other_place.clone(),
        follows: bug.follows.clone(),
        role: bug.role,
        pairs: bug.pairs.clone(),
        inputs: texts(bound),
        threads: bug.threads.clone(),
        under_test: bug.under_test.clone(),
        interfering: bug.interfering.clone(),
        lines: bug.lines.clone(),
        interleaving: bug.interleaving.clone(),
        confirmation: witness::confirm(bug, &*bound.program),
        execution,
    }
}
