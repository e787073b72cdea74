//! Serving requests for scheduled mode: exploring schedules, and following one.

mod careful;
mod known;
mod length;
mod passing;
mod pulse;
mod replay;
mod resume;
mod solver;
mod summary;

use std::io;
use std::time::{Duration, Instant};

use seqz_explore::catalogue::{self, Config, Entry, Loops, Trait};
use seqz_explore::mcm::Solver;
use seqz_explore::mcr::checkpoint;
use seqz_explore::search::Watcher;
use seqz_explore::{AnySearch, Executor, Fair, Part, RunEnd};

use careful::Careful;
use known::Known;
use length::Lengths;
use pulse::Thinking;
pub(super) use replay::replay;
use resume::{Log, Memory, Past, Record, Start, begin};
use solver::Asking;
use summary::{Shortfall, counts, unfinished};

use super::connection::Connection;
use super::message::{ExploreReply, ExploreRequest, ScheduleFinding, SolverKind, Stopped};
use super::search::{bind, texts};
use crate::bound::Bound;
use crate::harness::AnyHarness;
use crate::input::InputError;
use crate::process::{asked, random};
use crate::scheduled::witness::schedule;
use crate::scheduled::{Failure, Idle, Machine, Settings, behind_writers};
use crate::vocabulary::{Asked, Place, Waiting};

/// The time between two reports of progress.
const PROGRESS: Duration = Duration::from_millis(100);

/// The time of work between two looks at the clock, beside which a look costs little.
const LOOK: Duration = Duration::from_millis(1);

/// The number of hashes that are sent at once.
const PIECE: usize = 1 << 16;

/// Explores, for each choice of inputs.
pub(super) fn explore(
    mut connection: Connection<ExploreRequest>,
    harness: &dyn AnyHarness,
    request: &ExploreRequest,
) -> io::Result<()> {
    let Some(strategy) = catalogue::named(&request.strategy) else {
        let why = format!("there is no strategy `{}`", request.strategy);
        return connection.refuse(why);
    };
    let (index, count) = request.part;
    let divides = strategy.has(Trait::Divides);
    let Some(part) = Part::new(index, count).filter(|_| divides || count == 1) else {
        let name = strategy.name;
        let why = format!("there is no part {index} of {count} of a search by `{name}`");
        return connection.refuse(why);
    };
    if request.checkpoint.is_some() && !strategy.has(Trait::GoesOn) {
        let why = format!("there are no checkpoints of `{}`", strategy.name);
        return connection.refuse(why);
    }
    let set = match bind(harness, &request.inputs, request.max_inputs, request.seed) {
        Ok(set) => set,
        Err(InputError { param, message }) => {
            return connection.stop(Stopped::BadInput { param, message });
        }
    };
    let inputs = u32::try_from(set.bound.len()).unwrap_or(u32::MAX);
    connection.send(ExploreReply::Started {
        inputs,
        sampled: set.sampled,
    })?;
    connection.tell_left_behind()?;
    let mut known = Known::default();
    let mut memory = Memory::default();
    let mut log = None;
    if let Some((path, fields)) = &request.checkpoint {
        match Log::open(path, fields) {
            Ok((opened, known)) => (log, memory) = (Some(opened), known),
            Err(error) => {
                let why = format!("the checkpoint {path} can't be used: {error}");
                return connection.refuse(why);
            }
        }
    }
    let mut lengths = Lengths::new(request);
    for finding in memory.findings {
        known.recall(&finding);
        connection.send(ExploreReply::Failure(Box::new(finding)))?;
    }
    let mut chapters = memory.chapters.into_iter();
    for (number, bound) in set.bound.iter().enumerate() {
        let steps = lengths.bound(number, bound, &connection)?;
        let chapter = chapters.next().unwrap_or_default();
        let Some((known_of_it, start)) = begin(number, chapter, log.as_ref()) else {
            return connection.refuse("the checkpoint is damaged");
        };
        // The driver answers one question after the other.
        let solver: Option<Box<dyn Solver>> = match request.solver {
            SolverKind::Grid => None,
            kind => Some(Box::new(Asking::new(kind, &connection)?)),
        };
        let watcher: Option<Box<dyn Watcher>> = if strategy.has(Trait::Asks) {
            Some(Box::new(Thinking::new(&connection)?))
        } else {
            None
        };
        let search = catalogue::search(
            strategy,
            Config {
                part,
                bound: request.bound,
                seed: request.seed,
                learning_runs: request.learning_runs,
                solver,
                helpers: request.threads.saturating_sub(1) as usize,
                known: known_of_it,
                log: log
                    .clone()
                    .map(|log| Box::new(log) as Box<dyn checkpoint::Log>),
                lazy_relations: request.lazy_relations,
                watcher,
            },
        )?;
        let mut exploration = Exploration {
            connection: &mut connection,
            request,
            strategy,
            number,
            bound,
            steps,
            known: &mut known,
        };
        let going = exploration.run(search, start)?;
        if !going {
            return Ok(());
        }
        if request.until_failure && !known.times.is_empty() {
            break;
        }
    }
    let held_up = known.held_up.clone();
    connection.send(ExploreReply::Times(known.times.clone()))?;
    connection.send(ExploreReply::Couplings(known.into_couplings()))?;
    connection.send(ExploreReply::HeldUp(held_up))?;
    connection.send(ExploreReply::Done)
}

/// What becomes of threads that wait in loops under this strategy.
const fn idle(strategy: &Entry) -> Idle {
    match strategy.loops {
        Loops::End => Idle::Ends,
        Loops::EndByValues => Idle::EndsByValues,
        Loops::Wait => Idle::Waits,
    }
}

/// The exploration of one choice of inputs.
struct Exploration<'a> {
    connection: &'a mut Connection<ExploreRequest>,
    request: &'a ExploreRequest,
    strategy: &'static Entry,
    /// The number of choices of inputs before this one.
    number: usize,
    bound: &'a Bound,
    /// The bound on the events of an execution.
    steps: u32,
    known: &'a mut Known,
}

/// The settings of executions that draw other random numbers: all threads take turns.
fn varied(of: Settings) -> Settings {
    Settings {
        idle: Idle::Waits,
        spurious: 0,
        values: false,
        ..of
    }
}

/// What an execution has come to, to be compared with another one.
fn came(machine: &Machine<'_>, end: &RunEnd) -> impl PartialEq + use<> {
    let events: Vec<_> = machine.trace().iter().map(|it| it.event).collect();
    (end.outcome, machine.failures().len(), events)
}

/// Notes if other random numbers have the program do something else. A `careful` search does not try them, as they may
/// kill the worker, and takes it that they do.
pub(super) fn look_for_random_numbers(bound: &Bound, careful: bool) {
    let decide = random::are_drawn()
        && (careful
            || random::decide(|| {
                let mut machine = Machine::new(&*bound.program, varied(Settings::default()));
                let end = machine.run(&mut Fair::default());
                came(&machine, &end)
            }));
    if decide {
        asked::note(Asked::Random);
    }
}

impl<'a> Exploration<'a> {
    /// Runs a search to its end, from where an earlier one was. Returns whether the next choice of inputs may follow.
    fn run(
        &mut self,
        mut search: Box<dyn AnySearch<Careful<'a>> + 'a>,
        start: Start,
    ) -> io::Result<bool> {
        let request = self.request;
        let settings = Settings {
            steps: self.steps,
            stack: usize::try_from(request.stack).unwrap_or(usize::MAX),
            idle: idle(self.strategy),
            spurious: request.spurious,
            spurious_at: places(&request.spurious_at),
            call_depth: request.call_depth,
            ignore_detached_panics: request.ignore_detached_panics,
            unfollowed: request.unfollowed,
            checks_memory: request.checks_memory,
            trace: true,
            weak: self.strategy.has(Trait::Weak),
            values: self.strategy.has(Trait::Values),
        };
        let mut executor = Careful::new(&*self.bound.program, settings);
        let mut last_progress = Instant::now();
        let (mut last_look, mut stride, mut until_look) = (last_progress, 1, 1);
        // The first execution is told at once.
        let mut is_told = self.number > 0;
        let (mut finished, mut left) = (false, false);
        let is_divided = request.part.1 > 1;
        let mut turns = Turns::default();
        let mut shortfall = Shortfall::default();
        let mut behind_writers = behind_writers::Known::default();
        for (thread, parent, nth) in start.threads {
            executor.machine.recall_thread(thread, parent, nth);
        }
        for past in &start.runs {
            search.recall(&past.end, past.relation, past.events);
            shortfall.note(past.shortfall);
            for (number, coupled) in &past.failed {
                self.known.count(*number as usize, coupled);
            }
        }
        let mut next_run = start.next;
        let careful_from = request.careful.and_then(|(inputs, executions)| {
            (self.number >= inputs as usize).then_some(if self.number == inputs as usize {
                executions
            } else {
                0
            })
        });
        while !left && search.counts().executions < request.max_executions {
            let execution = search.begun() + 1;
            let events = search.counts().events;
            if careful_from.is_some_and(|from| execution > from) {
                if is_divided {
                    // The number of the execution does not say how many belong to this part.
                    self.connection
                        .send(ExploreReply::Exploring(counts(&*search, shortfall)))?;
                }
                executor.tell(self.connection, (execution, 0), texts(self.bound))?;
            }
            let step = search.step(&mut executor);
            let machine = &mut executor.machine;
            let mut past = None;
            let is_own = match step {
                Ok(Some(run)) => {
                    let log = start.log.as_ref().filter(|_| run.standing.own);
                    past = log.map(|_| Past {
                        run: next_run,
                        end: run.end,
                        relation: run.relation,
                        events: search.counts().events - events,
                        shortfall: Shortfall::of(machine, self.strategy),
                        failed: Vec::new(),
                    });
                    if run.standing.own {
                        next_run += 1;
                        turns.note(run.standing.turn);
                        shortfall.note(Shortfall::of(machine, self.strategy));
                    }
                    run.standing.own
                }
                Ok(None) => {
                    finished = true;
                    break;
                }
                // What is not followed may be the cause. A search that can be continued later goes on from there alone.
                Err(_) if request.unfollowed && start.log.is_none() && search.go_on() => {
                    shortfall.note(Shortfall::of(machine, self.strategy));
                    shortfall.note(Shortfall::PARTED_WAYS);
                    true
                }
                Err(_) => {
                    self.connection.stop(Stopped::Nondeterministic {
                        inputs: texts(self.bound),
                    })?;
                    return Ok(false);
                }
            };
            // Strategies may make executions again, which don't count.
            let execution = if is_divided {
                execution
            } else {
                search.counts().executions
            };
            if let Some((message, place)) = machine.unsupported() {
                let message = message.to_owned();
                self.connection.stop(Stopped::Unsupported {
                    message,
                    place: Some(place),
                })?;
                return Ok(false);
            }
            let mut records = Vec::new();
            if is_own {
                self.known.settle(machine.handled());
                self.known.settle(machine.detached().iter());
            }
            for failure in machine.failures().iter().filter(|_| is_own) {
                let found = || ScheduleFinding {
                    standing: turns.last(),
                    ..finding(machine, failure, self.bound, execution)
                };
                if failure.bystander {
                    self.known.keep(failure, machine, found);
                    continue;
                }
                let (number, coupled, is_new) = self.known.note(failure, machine);
                left |= request.until_failure;
                if let Some(past) = &mut past {
                    past.failed.push((number, coupled));
                }
                if is_new {
                    let finding = Box::new(found());
                    if start.log.is_some() {
                        records.push(Record::Found(finding.clone()));
                    }
                    self.connection.send(ExploreReply::Failure(finding))?;
                }
            }
            if is_own {
                for prefix in machine.behind_writers(&behind_writers) {
                    if machine.run_behind_writers(&prefix, &mut behind_writers)
                        && let Some(failure) = machine.failures().last()
                        && self.known.note(failure, machine).2
                    {
                        let finding = Box::new(ScheduleFinding {
                            standing: turns.last(),
                            ..finding(machine, failure, self.bound, execution)
                        });
                        if start.log.is_some() {
                            records.push(Record::Found(finding.clone()));
                        }
                        self.connection.send(ExploreReply::Failure(finding))?;
                    }
                }
            }
            if let Some(held_up) = self.known.take_refuted() {
                self.connection.send(ExploreReply::HeldUp(held_up))?;
            }
            if let Some((log, past)) = start.log.as_ref().zip(past) {
                records.push(Record::Ran(past));
                log.write(&records);
                if let Some(trouble) = log.trouble() {
                    let why = format!("the checkpoint can't be written: {trouble}");
                    self.connection.refuse(why)?;
                    return Ok(false);
                }
            }
            until_look -= 1;
            if until_look == 0 {
                let now = Instant::now();
                stride = if now - last_look < LOOK {
                    stride * 2
                } else {
                    1
                };
                (last_look, until_look) = (now, stride);
                if now - last_progress >= PROGRESS || !is_told {
                    (last_progress, is_told) = (now, true);
                    self.connection
                        .send(ExploreReply::Exploring(counts(&*search, shortfall)))?;
                }
            }
        }
        let waits_in_vain = idle(self.strategy) != Idle::Waits && shortfall.leaves_time();
        // What kills the process there is not told apart from what kills it in the search.
        if finished && waits_in_vain && careful_from.is_none() && request.part.0 == 0 {
            self.connection
                .send(ExploreReply::Exploring(counts(&*search, shortfall)))?;
            self.let_time_pass(settings, search.begun())?;
        }
        if finished && random::are_drawn() {
            self.connection
                .send(ExploreReply::Exploring(counts(&*search, shortfall)))?;
            self.draw_others(settings, careful_from.is_some(), search.begun())?;
        }
        for finding in self.known.left().into_iter().map(Box::new) {
            if let Some(log) = &start.log {
                log.write(&[Record::Found(finding.clone())]);
            }
            self.connection.send(ExploreReply::Failure(finding))?;
        }
        let promise = if finished && shortfall.leaves_promise() {
            search.promise()
        } else {
            unfinished(search.promise())
        };
        if is_divided {
            self.send_seen(&*search)?;
        }
        self.connection.send(ExploreReply::Explored {
            inputs: texts(self.bound),
            counts: counts(&*search, shortfall),
            promise,
            turns: search.strategy().report().turns,
            own: if is_divided { turns.own } else { Vec::new() },
        })?;
        Ok(true)
    }

    /// Runs the program with other random numbers, at the end of a search that has begun this number of executions. An
    /// execution that differs from the usual one is noted, and each failure of these executions is a failure.
    fn draw_others(&mut self, settings: Settings, careful: bool, begun: u64) -> io::Result<()> {
        let mut usual = None;
        for variation in 0..=random::VARIATIONS {
            random::vary(variation);
            let execution = begun + variation;
            let mut executor = Careful::new(&*self.bound.program, varied(settings));
            if careful {
                let which = (execution, variation);
                executor.tell(self.connection, which, texts(self.bound))?;
            }
            let end = executor.run(&mut Fair::default());
            let machine = &executor.machine;
            let came = came(machine, &end);
            let usual = match &usual {
                None => {
                    usual = Some(came);
                    continue;
                }
                Some(usual) => usual,
            };
            if *usual != came {
                asked::note(Asked::Random);
            }
            let bound = self.bound;
            self.send_new(machine, |failure| ScheduleFinding {
                standing: (u64::MAX, variation),
                random: variation,
                ..finding(machine, failure, bound, execution)
            })?;
        }
        random::vary(0);
        Ok(())
    }

    /// Notes what an execution has shown that comes after the search, and sends each failure that is new as what `found`
    /// makes of it.
    fn send_new(
        &mut self,
        machine: &Machine<'_>,
        found: impl Fn(&Failure) -> ScheduleFinding,
    ) -> io::Result<()> {
        self.known.settle(machine.handled());
        self.known.settle(machine.detached().iter());
        for failure in machine.failures() {
            if failure.bystander {
                self.known.keep(failure, machine, || found(failure));
            } else if !self.known.has(failure) {
                self.known.note(failure, machine);
                let found = Box::new(found(failure));
                self.connection.send(ExploreReply::Failure(found))?;
            }
        }
        Ok(())
    }

    /// Sends the hashes of what other parts of the search may have seen, too.
    fn send_seen<E>(&mut self, search: &dyn AnySearch<E>) -> io::Result<()> {
        let relations = if self.strategy.has(Trait::NeverRepeats) {
            Vec::new()
        } else {
            search.relations()
        };
        let states = search.states();
        for piece in relations.chunks(PIECE) {
            self.connection.send(ExploreReply::Seen {
                relations: piece.to_vec(),
                states: Vec::new(),
            })?;
        }
        for piece in states.chunks(PIECE) {
            self.connection.send(ExploreReply::Seen {
                relations: Vec::new(),
                states: piece.to_vec(),
            })?;
        }
        Ok(())
    }
}

/// The turns of a divided search that belong to this part, in order, each with its number of executions so far.
#[derive(Default)]
struct Turns {
    own: Vec<(u64, u64)>,
}

impl Turns {
    /// Counts an execution.
    fn note(&mut self, turn: u64) {
        match self.own.last_mut() {
            Some((last, executions)) if *last == turn => *executions += 1,
            _ => self.own.push((turn, 1)),
        }
    }

    /// The turn of the execution that was counted last, and the number of executions in that turn.
    fn last(&self) -> (u64, u64) {
        self.own.last().copied().unwrap_or_default()
    }
}

fn finding(
    machine: &Machine<'_>,
    failure: &Failure,
    bound: &Bound,
    execution: u64,
) -> ScheduleFinding {
    let waiting = failure.waiting.iter();
    ScheduleFinding {
        kind: failure.kind,
        message: failure.message.clone(),
        place: failure.place.clone(),
        follows: failure.follows.clone(),
        thread: u32::from(failure.thread),
        waiting: waiting
            .map(|(thread, pending, place)| Waiting {
                thread: u32::from(*thread),
                action: pending.kind.plain(),
                object: pending.object,
                awaited: machine.awaited(*thread),
                place: place.clone(),
            })
            .collect(),
        inputs: texts(bound),
        threads: machine.threads(),
        schedule: schedule(machine),
        events: failure.events as u64,
        execution,
        standing: (0, execution),
        random: 0,
        held_up: machine.held_up(failure),
    }
}

/// Places of a request, to be kept as long as the worker is there: it has few requests.
fn places(places: &Option<Vec<Place>>) -> Option<&'static [Place]> {
    places.as_ref().map(|places| &*places.clone().leak())
}
