//! How two threads are coupled in a failing execution: which of them sees nothing of the other one, and how often the
//! other one sees something.
//!
//! Source: *Bounded-Interference Sequentialization for Testing Concurrent Programs*, section 5, with reads counted as P̂ₖ
//! counts them (section 4): a read that sees a write of T' which T has seen in its previous access to the variable is
//! local. So a schedule that was found without P̂ₖ can be compared with what P̂ₖ finds.

use std::collections::HashMap;

use seqz_explore::{Event, Kind, Object, Thread};

use super::failures::Failure;
use super::machine::Traced;
use crate::vocabulary::{FailureKind, Role};

/// The party that an event belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// Before two threads run side by side.
    Init,
    /// The party that was there first.
    First,
    /// The party that was started later.
    Second,
    /// The harness, when it has joined all threads: this line is T's, whichever party T is.
    Post,
}

/// Follows which line each event belongs to.
struct Lines {
    /// Whether two threads are spawned; otherwise the harness goes on beside one.
    two: bool,
    /// The line that the harness is on.
    harness: Line,
    /// The number of threads that the harness has joined.
    joined: usize,
}

impl Lines {
    /// The lines of an execution in which two lines run side by side, if its shape is followed here: the harness spawns
    /// one thread, or it spawns two and does nothing more before it joins one of them, and no thread waits to be
    /// notified.
    fn of(events: &[Event]) -> Option<Self> {
        let mut forks = 0;
        let mut joined = false;
        for event in events {
            match (event.kind, event.thread) {
                (Kind::Fork, 0) => forks += 1,
                (Kind::Fork, _) => return None,
                // P̂ₖ has no such events.
                (Kind::Wait | Kind::Wake | Kind::Notify, _) => return None,
                (Kind::Join, 0) => joined = true,
                _ => {}
            }
        }
        if !(1..=2).contains(&forks) {
            return None;
        }
        if forks == 2 {
            let mut seen = 0;
            for event in events.iter().filter(|event| event.thread == 0) {
                match event.kind {
                    Kind::Fork => seen += 1,
                    Kind::Join => break,
                    Kind::Local => {}
                    _ if seen > 0 && joined => return None,
                    _ => {}
                }
            }
        }
        Some(Self {
            two: forks == 2,
            harness: Line::Init,
            joined: 0,
        })
    }

    fn line(&self, thread: Thread) -> Line {
        match (thread, self.two) {
            (0, _) => self.harness,
            (1, true) => Line::First,
            _ => Line::Second,
        }
    }

    /// The harness spawned or joined a thread.
    fn moved(&mut self, event: &Event) {
        if event.kind == Kind::Fork && !self.two {
            self.harness = Line::First;
        } else if event.kind == Kind::Join {
            self.joined += 1;
            let last = if self.two { 2 } else { 1 };
            let thread = Thread::try_from(event.object).unwrap_or(Thread::MAX);
            self.harness = if self.joined == last {
                Line::Post
            } else {
                self.line(thread)
            };
        }
    }
}

/// What is known of one variable.
#[derive(Clone, Copy, Default)]
struct Variable {
    /// The latest write: its number, from 1, and whether T' made it.
    written: (usize, bool),
    /// The latest write that T has made or seen.
    seen: usize,
    /// Whether T made the latest write.
    by_t: bool,
}

/// Whether the thread learns from this event what others have written. Taking from a count tells only the last one that
/// the others have, too.
const fn reads(event: &Event) -> bool {
    if matches!(event.kind, Kind::Take) {
        return event.left == 0;
    }
    matches!(
        event.kind,
        Kind::Read
            | Kind::FailedUpdate
            | Kind::Update
            | Kind::Upgrade
            | Kind::Lock
            | Kind::LockShared
            | Kind::TryLock
            | Kind::TryLockShared
    )
}

/// The number of T's observations of T' in an execution, if T' observes nothing of T and the failing thread is on T's
/// line at the end.
fn observations(events: &[Event], mut lines: Lines, failing: Thread, t: Line) -> Option<u32> {
    let u = if t == Line::First {
        Line::Second
    } else {
        Line::First
    };
    let mut variables: HashMap<Object, Variable> = HashMap::new();
    let mut holders: HashMap<Object, Vec<(Thread, Line)>> = HashMap::new();
    let mut k = 0;
    for (number, event) in (1..).zip(events) {
        let line = lines.line(event.thread);
        let (of_t, of_u) = (line == t || line == Line::Post, line == u);
        let writes = matches!(
            event.kind,
            Kind::Write | Kind::Add | Kind::Take | Kind::Upgrade
        ) || (matches!(event.kind, Kind::Update | Kind::Unlock) && event.changes());
        let variable = variables.entry(event.object).or_default();
        if reads(event) {
            if of_u && variable.by_t {
                return None;
            }
            if of_t {
                k += u32::from(variable.written.1 && variable.written.0 != variable.seen);
                variable.seen = variable.written.0;
            }
        }
        if writes {
            let seen = if of_t { number } else { variable.seen };
            *variable = Variable {
                written: (number, of_u),
                seen,
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
                // A lock that the harness took before the spawn is on the line that the harness is on now.
                let by = |wanted: Line| {
                    held.iter().any(|(thread, line)| {
                        let line = if *line == Line::Init {
                            lines.line(*thread)
                        } else {
                            *line
                        };
                        line == wanted
                    })
                };
                if of_u && by(t) {
                    return None;
                }
                k += u32::from(of_t && by(u));
            }
            Kind::Fork | Kind::Join if event.thread == 0 => lines.moved(event),
            _ => {}
        }
    }
    let line = lines.line(failing);
    (line == t || line == Line::Post).then_some(k)
}

/// The number of T's observations of T' in the failing execution, for each role in which T' observes nothing of T and
/// the failure is one of T.
///
/// Only panics and deadlocks of two threads have couplings. `failures` are all failures of the execution.
#[must_use]
pub fn couplings(trace: &[Traced], failure: &Failure, failures: &[Failure]) -> Vec<(Role, u32)> {
    if !matches!(failure.kind, FailureKind::Panic | FailureKind::Deadlock) {
        return Vec::new();
    }
    let all: Vec<Event> = trace.iter().map(|traced| traced.event).collect();
    let events = all.get(..failure.events).unwrap_or(&all);
    // A thread that is about to fail has not failed yet; what it does after its failure is no part of the failing
    // trace.
    let spoiled = failures.iter().any(|other| {
        let after = events.get(other.events..).unwrap_or_default();
        let thread = u32::from(other.thread);
        after.iter().any(|event| {
            u32::from(event.thread) == thread
                || (event.kind == Kind::Join && event.object == thread)
        })
    });
    if spoiled {
        return Vec::new();
    }
    let of = |(role, t)| {
        let failing = match failure.kind {
            // In a deadlock T waits, whichever threads wait besides.
            FailureKind::Deadlock if t == Line::First && Lines::of(&all)?.two => 1,
            FailureKind::Deadlock if t == Line::First => 0,
            FailureKind::Deadlock if Lines::of(&all)?.two => 2,
            FailureKind::Deadlock => 1,
            _ => failure.thread,
        };
        Some((role, observations(events, Lines::of(&all)?, failing, t)?))
    };
    [(Role::FIRST, Line::First), (Role::SECOND, Line::Second)]
        .into_iter()
        .filter_map(of)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The harness spawns a thread that takes one from a count, looks at the count, and fails.
    fn looks_after(kind: Kind) -> Vec<Event> {
        let event = |thread, kind, object, found, left| Event {
            thread,
            kind,
            object,
            found,
            left,
            ..Event::default()
        };
        vec![
            event(0, Kind::Fork, 1, 0, 0),
            event(1, kind, 7, 2, 1),
            event(0, Kind::Read, 7, 1, 1),
            event(0, Kind::Join, 1, 0, 0),
        ]
    }

    #[test]
    fn a_look_at_a_count_sees_who_has_changed_it() {
        for kind in [Kind::Update, Kind::Take, Kind::Add] {
            let events = looks_after(kind);
            let of = |t| observations(&events, Lines::of(&events).unwrap(), 0, t);
            assert_eq!(of(Line::First), Some(1), "{kind:?}");
            // The harness, which interferes then, sees the thread under test.
            assert_eq!(of(Line::Second), None, "{kind:?}");
        }
    }
}
