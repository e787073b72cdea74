//! Following a schedule that was written down.
//!
//! The schedule says who does what, event by event. Where the program does something else, the two part ways there, and
//! nothing is run instead. After the schedule's last event threads go on alone, the last one first, so that a failure
//! that comes after the last event is reached.

use seqz_explore::{Event, Kind, Pick, Scheduler, View};

use super::events::place;
use crate::worker::message::{Scheduled, Waiting};

/// Where a program and a schedule part ways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parting {
    /// At which event of the schedule.
    pub at: u32,
    /// What differs.
    pub difference: String,
    /// The thread whose turn it was.
    pub thread: Option<usize>,
}

/// Keeps to a schedule.
#[derive(Debug)]
pub struct Follow<'s> {
    schedule: &'s [Scheduled],
    at: usize,
    parting: Option<Parting>,
    /// What the threads had announced when the schedule was at its end.
    next: Option<Vec<Waiting>>,
}

impl<'s> Follow<'s> {
    /// From the schedule's start.
    #[must_use]
    pub const fn new(schedule: &'s [Scheduled]) -> Self {
        Self {
            schedule,
            at: 0,
            parting: None,
            next: None,
        }
    }

    /// What the threads were about to do when the schedule was at its end.
    pub fn take_next(&mut self) -> Vec<Waiting> {
        self.next.take().unwrap_or_default()
    }

    fn note_end(&mut self, view: &View<'_>) {
        if self.at >= self.schedule.len() && self.next.is_none() {
            let announced = view.live.iter().map(|thread| {
                let pending = view.of(thread);
                Waiting {
                    thread: u32::from(thread),
                    kind: format!("{:?}", pending.kind),
                    object: pending.object,
                    place: place(pending),
                }
            });
            self.next = Some(announced.collect());
        }
    }

    /// Where the two part, if they do.
    #[must_use]
    pub fn parting(self) -> Option<Parting> {
        if self.parting.is_some() || self.at >= self.schedule.len() {
            return self.parting;
        }
        let at = u32::try_from(self.at).unwrap_or(u32::MAX);
        let difference = "the program ends before the schedule does".to_owned();
        Some(Parting {
            at,
            difference,
            thread: None,
        })
    }

    fn part(&mut self, difference: String, thread: Option<usize>) -> Pick {
        let at = u32::try_from(self.at).unwrap_or(u32::MAX);
        self.parting.get_or_insert(Parting {
            at,
            difference,
            thread,
        });
        Pick::Abandon
    }
}

/// Whether what was announced can be what the schedule says was done.
fn fits(announced: Kind, done: &str) -> bool {
    match announced {
        // The last event of a program that died is known by what it announced.
        Kind::CompareExchange => matches!(done, "Update" | "FailedUpdate" | "CompareExchange"),
        Kind::TryLock => matches!(done, "TryLock" | "TryLockFailed"),
        Kind::TryLockShared => matches!(done, "TryLockShared" | "TryLockSharedFailed"),
        kind => format!("{kind:?}") == done,
    }
}

impl Scheduler for Follow<'_> {
    fn pick(&mut self, view: &View<'_>) -> Pick {
        if self.parting.is_some() {
            return Pick::Abandon;
        }
        self.note_end(view);
        let Some(next) = self.schedule.get(self.at) else {
            return Pick::Run(view.unpreempted());
        };
        let Ok(thread) = u8::try_from(next.thread) else {
            return self.part(format!("there is no thread {}", next.thread), None);
        };
        let number = Some(usize::from(thread));
        if !view.live.contains(thread) {
            return self.part(
                format!("thread {thread} is not there to do {}", next.kind),
                number,
            );
        }
        let announced = view.of(thread);
        if !fits(announced.kind, &next.kind) || announced.object != next.object {
            let kind = announced.kind;
            let what = if fits(kind, &next.kind) {
                " another object"
            } else {
                ""
            };
            return self.part(
                format!(
                    "thread {thread} is about to do {kind:?}{what}, not {}",
                    next.kind
                ),
                number,
            );
        }
        if !view.enabled.contains(thread) {
            return self.part(
                format!("thread {thread} has to wait before it can do {}", next.kind),
                number,
            );
        }
        Pick::Run(thread)
    }

    fn ran(&mut self, event: &Event) {
        let Some(next) = self.schedule.get(self.at) else {
            return;
        };
        let kind = format!("{:?}", event.kind);
        let open = next.kind == "CompareExchange" && fits(Kind::CompareExchange, &kind);
        if kind == next.kind || open {
            self.at += 1;
        } else {
            let thread = Some(usize::from(event.thread));
            self.part(
                format!(
                    "thread {} did {:?}, not {}",
                    event.thread, event.kind, next.kind
                ),
                thread,
            );
        }
    }

    fn blocked(&mut self, view: &View<'_>) {
        self.note_end(view);
    }
}
