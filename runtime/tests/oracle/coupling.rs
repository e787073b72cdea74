//! Every schedule of the compiled programs, classified by coupling: what P̂ₖ finds, and at which smallest k, is what the
//! failing executions of the original program say.
//!
//! The definitions are those of [`crate::interpret`], applied to the events of real executions.

use std::collections::BTreeMap;

use seqz_explore::{Dfs, Event, Kind, Search};
use seqz_runtime::scheduled::{FailureKind, Machine, Settings};

use crate::compile::Role;
use crate::execute::Harness;
use crate::interpret::{Behaviours, Failure};
use crate::program::{Program, Shape};
use crate::random::Random;

/// Whose an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// Before two threads run side by side.
    Init,
    /// The party that was there first.
    First,
    /// The other one.
    Second,
    /// Main, when it has joined all: T's, whichever that is.
    Post,
}

/// Follows which line each event belongs to.
struct Lines {
    two: bool,
    main: Line,
    joined: usize,
}

impl Lines {
    fn new(program: &Program) -> Self {
        Self {
            two: matches!(program.shape, Shape::Two { .. }),
            main: Line::Init,
            joined: 0,
        }
    }

    fn of(&self, thread: u8) -> Line {
        match (thread, self.two) {
            (0, _) => self.main,
            (1, true) => Line::First,
            _ => Line::Second,
        }
    }

    /// Main spawned or joined a thread.
    fn moved(&mut self, event: &Event) {
        if event.kind == Kind::Fork && !self.two {
            self.main = Line::First;
        } else if event.kind == Kind::Join {
            self.joined += 1;
            let last = if self.two { 2 } else { 1 };
            let thread = u8::try_from(event.object).unwrap();
            self.main = if self.joined == last {
                Line::Post
            } else {
                self.of(thread)
            };
        }
    }
}

/// What of one variable matters.
#[derive(Clone, Copy, Default)]
struct Variable {
    /// The latest write: its number, from 1, and whether T' made it.
    written: (usize, bool),
    /// The latest write that T has made or seen.
    seen: usize,
    /// T made the latest write.
    by_t: bool,
}

/// The number of T's observations of T' in an execution up to a failure, if T' observes nothing of T and the failure is
/// one of T.
fn coupling(program: &Program, events: &[Event], failing: u8, t: Line) -> Option<usize> {
    let u = if t == Line::First {
        Line::Second
    } else {
        Line::First
    };
    let mut lines = Lines::new(program);
    let mut variables: BTreeMap<u32, Variable> = BTreeMap::new();
    // Who holds each lock: lines, with whether exclusively.
    let mut holders: BTreeMap<u32, Vec<(u8, Line)>> = BTreeMap::new();
    let mut k = 0;
    for (number, event) in (1..).zip(events) {
        let line = lines.of(event.thread);
        let (of_t, of_u) = (line == t || line == Line::Post, line == u);
        let reads = matches!(
            event.kind,
            Kind::Read
                | Kind::FailedUpdate
                | Kind::Update
                | Kind::Lock
                | Kind::LockShared
                | Kind::TryLock
                | Kind::TryLockShared
        );
        let writes = matches!(event.kind, Kind::Write | Kind::Update)
            || (event.kind == Kind::Unlock && event.left != 0);
        let variable = variables.entry(event.object).or_default();
        if reads {
            if of_u && variable.by_t {
                return None;
            }
            if of_t {
                k += usize::from(variable.written.1 && variable.written.0 != variable.seen);
                variable.seen = variable.written.0;
            }
        }
        if writes {
            *variable = Variable {
                written: (number, of_u),
                seen: if of_t { number } else { variable.seen },
                by_t: of_t,
            };
        }
        let held = holders.entry(event.object).or_default();
        match event.kind {
            Kind::Lock | Kind::LockShared | Kind::TryLock | Kind::TryLockShared => {
                held.push((event.thread, line))
            }
            Kind::Unlock | Kind::UnlockShared => {
                if let Some(at) = held.iter().position(|(thread, _)| *thread == event.thread) {
                    held.remove(at);
                }
            }
            Kind::TryLockFailed | Kind::TryLockSharedFailed => {
                // Main holds a lock from before the spawn on its own line.
                let by = |wanted: Line| {
                    held.iter().any(|(thread, line)| {
                        let line = if *line == Line::Init {
                            lines.of(*thread)
                        } else {
                            *line
                        };
                        line == wanted
                    })
                };
                if of_u && by(t) {
                    return None;
                }
                k += usize::from(of_t && by(u));
            }
            Kind::Fork | Kind::Join if event.thread == 0 => lines.moved(event),
            _ => {}
        }
    }
    let line = lines.of(failing);
    (line == t || line == Line::Post).then_some(k)
}

/// Each assertion that fails for the role, with the smallest k; nothing if there are too many schedules.
fn classify(program: &Program, limit: u64) -> Option<[BTreeMap<u32, usize>; 2]> {
    let harness = Harness::new(program);
    let run = || harness.run();
    let settings = Settings {
        idle_reads: u32::MAX,
        ..Settings::default()
    };
    let mut machine = Machine::new(&run, settings);
    let mut search = Search::new(Dfs::new());
    let mut found = [BTreeMap::new(), BTreeMap::new()];
    while search
        .step(&mut machine)
        .expect("the programs are deterministic")
        .is_some()
    {
        if search.counts().executions > limit {
            return None;
        }
        let events: Vec<Event> = machine.trace().iter().map(|traced| traced.event).collect();
        for failure in machine.failures() {
            let id = failure
                .message
                .strip_prefix("assertion ")
                .and_then(|id| id.parse().ok());
            let (FailureKind::Panic, Some(id)) = (failure.kind, id) else {
                continue;
            };
            let events = &events[..failure.events];
            // A thread that is about to fail has not failed yet; what it does when it has is no part of the trace.
            let unwound = machine.failures().iter().any(|other| {
                let after = events.get(other.events..).unwrap_or_default();
                let other = u32::from(other.thread);
                after.iter().any(|event| {
                    u32::from(event.thread) == other
                        || (event.kind == Kind::Join && event.object == other)
                })
            });
            if unwound {
                continue;
            }
            for (found, t) in found.iter_mut().zip([Line::First, Line::Second]) {
                let Some(k) = coupling(program, events, failure.thread, t) else {
                    continue;
                };
                let least = found.entry(id).or_insert(k);
                *least = k.min(*least);
            }
        }
    }
    Some(found)
}

#[test]
fn executions_classified_by_coupling_say_what_the_interpreter_says() {
    let programs: u64 = crate::setting("SEQZ_ORACLE_SCHEDULED", 400);
    let mut random = Random::new(crate::setting("SEQZ_ORACLE_SEED", 1));
    let (mut compared, mut failing) = (0, 0);
    for _ in 0..programs {
        let (program, expected) = crate::sample(&mut random);
        let Some(found) = classify(&program, 10_000) else {
            continue;
        };
        compared += 1;
        for ((role, expected), found) in Role::ALL.iter().zip(&expected).zip(&found) {
            let expected: BTreeMap<u32, usize> = Behaviours::findings(expected)
                .into_iter()
                .filter_map(|(failure, k)| match failure {
                    Failure::Assertion(id) => Some((id, k)),
                    Failure::Relock | Failure::Deadlock => None,
                })
                .collect();
            failing += expected.len();
            assert_eq!(*found, expected, "T is {role:?}\n{program}");
        }
    }
    println!("{compared} programs, {failing} failures");
    assert!(
        compared * 2 > programs && failing > 100,
        "{compared} programs, {failing} failures"
    );
}
