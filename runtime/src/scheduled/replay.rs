//! Following a schedule that was written down.
//!
//! The schedule says which thread does what, event by event. Where the program does something else, program and
//! schedule part ways, and nothing is run instead. Threads and objects are numbered in the order in which a search
//! meets them, so the schedule's numbers are other ones than the program's: which belongs to which shows as they
//! appear. After the schedule's last event threads go on alone, the last one first, so that a failure that comes after
//! the last event is reached. As that failure may be that a reader waits behind a writer, readers then wait behind
//! writers.

use std::collections::HashMap;

use seqz_explore::{Event, Kind, Pick, Scheduler, Thread, View};

use super::behind_writers::WRITERS_FIRST;
use super::events::place;
use crate::vocabulary::{Awaited, Scheduled, Waiting};

/// Where a program and a schedule part ways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parting {
    /// The index of the event in the schedule at which they part.
    pub at: u32,
    /// A sentence on what differs.
    pub difference: String,
    /// The thread whose turn it was, if the schedule had not ended.
    pub thread: Option<usize>,
}

/// A scheduler that keeps to a schedule.
#[derive(Debug)]
pub struct Follow<'s> {
    schedule: &'s [Scheduled],
    /// The index of the next event in the schedule.
    at: usize,
    /// The program's thread for each of the schedule's threads.
    threads: HashMap<u32, Thread>,
    objects: Pairs,
    /// What the thread that runs has announced.
    announced: Kind,
    parting: Option<Parting>,
    /// What each event has left, and, by object, what was there before the first one.
    left: Vec<u64>,
    began: HashMap<u32, u64>,
    /// What the thread that runs has announced to do it on.
    object: u32,
    /// All events, each with the number of the event that wrote what it read.
    events: Vec<(Event, Option<u32>)>,
    /// The operations that the threads had announced at the schedule's end.
    next: Option<Vec<Waiting>>,
}

impl<'s> Follow<'s> {
    /// A follower at the schedule's start.
    #[must_use]
    pub fn new(schedule: &'s [Scheduled]) -> Self {
        Self {
            schedule,
            at: 0,
            // The harness's own thread is number 0 everywhere.
            threads: HashMap::from([(0, 0)]),
            objects: Pairs::default(),
            announced: Kind::Local,
            parting: None,
            left: Vec::new(),
            began: HashMap::new(),
            object: 0,
            events: Vec::new(),
            next: None,
        }
    }

    /// The operations that the threads were about to do at the schedule's end.
    pub fn take_next(&mut self) -> Vec<Waiting> {
        self.next.take().unwrap_or_default()
    }

    fn note_end(&mut self, view: &View<'_>) {
        if self.at >= self.schedule.len() && self.next.is_none() {
            let announced = view.live.iter().map(|thread| {
                let pending = view.of(thread);
                Waiting {
                    thread: u32::from(thread),
                    action: pending.kind.plain(),
                    object: pending.object,
                    awaited: Awaited::default(),
                    place: place(pending),
                }
            });
            self.next = Some(announced.collect());
        }
    }

    /// The point where program and schedule part, if they do.
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

/// Which object of the program is which object of the schedule.
#[derive(Debug, Default)]
struct Pairs {
    here: HashMap<u32, u32>,
    there: HashMap<u32, u32>,
}

impl Pairs {
    /// Whether these two are one object. Two that appear for the first time are.
    fn pair(&mut self, there: u32, here: u32) -> bool {
        let known_here = *self.here.entry(there).or_insert(here);
        let known_there = *self.there.entry(here).or_insert(there);
        known_here == here && known_there == there
    }
}

/// Whether what was announced can be what the schedule says was done.
fn fits(announced: Kind, done: Kind) -> bool {
    use Kind::{
        CompareExchange, FailedUpdate, Notify, TryLock, TryLockFailed, TryLockShared,
        TryLockSharedFailed, Update, Wait,
    };
    match announced {
        // A program that has died has told its last event only as it was announced.
        Kind::CompareExchange => matches!(done, Update | FailedUpdate | CompareExchange),
        // A token that is looked for may not be there, and what a handle is upgraded from may be gone.
        Kind::Update | Kind::Upgrade => matches!(done, Update | FailedUpdate),
        Kind::TryLock => matches!(done, TryLock | TryLockFailed),
        Kind::TryLockShared => matches!(done, TryLockShared | TryLockSharedFailed),
        // A thread that comes to wait at a barrier or at a channel may find that it need not, and let others go on.
        Kind::Wait => matches!(done, Wait | Notify),
        kind => kind.plain() == done,
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
        let Some(&thread) = self.threads.get(&next.thread) else {
            return self.part(format!("there is no thread {} yet", next.thread), None);
        };
        let number = Some(usize::from(thread));
        let name = next.thread;
        if !view.live.contains(thread) {
            return self.part(
                format!("thread {name} is over, and can't do {}", next.action),
                number,
            );
        }
        let announced = view.of(thread);
        let kind = announced.kind;
        if !fits(kind, next.action) {
            return self.part(
                format!("thread {name} is about to do {kind:?}, not {}", next.action),
                number,
            );
        }
        let same = match kind {
            // A new thread gets its number when it is created.
            Kind::Local | Kind::Fork => true,
            Kind::Join => {
                let joined = self.threads.get(&next.object);
                joined.is_some_and(|&joined| u32::from(joined) == announced.object)
            }
            _ => self.objects.pair(next.object, announced.object),
        };
        if !same {
            return self.part(
                format!("thread {name} is about to do {kind:?}, but to another object"),
                number,
            );
        }
        if !view.enabled.contains(thread) {
            return self.part(
                format!("thread {name} has to wait before it can do {}", next.action),
                number,
            );
        }
        self.announced = kind;
        self.object = announced.object;
        Pick::Run(thread)
    }

    fn source(&mut self, held: u64) -> u64 {
        let began = *self.began.entry(self.object).or_insert(held);
        match self.schedule.get(self.at).and_then(|next| next.saw) {
            None => held,
            Some(0) => began,
            Some(number) => self.left.get(number as usize - 1).copied().unwrap_or(held),
        }
    }

    fn saw(&self, event: usize) -> Option<u32> {
        self.schedule.get(event)?.saw
    }

    fn race(&self) -> Option<[usize; 2]> {
        seqz_explore::rc11::race(&self.events)
    }

    fn ran(&mut self, event: &Event) {
        self.left.push(event.left);
        if event.kind == Kind::Write {
            self.began.entry(event.object).or_insert(event.found);
        }
        let saw = self.schedule.get(self.at).and_then(|next| next.saw);
        self.events.push((*event, saw));
        let Some(next) = self.schedule.get(self.at) else {
            return;
        };
        let done = event.kind.plain();
        let open = match (self.announced, next.action) {
            (Kind::CompareExchange, Kind::CompareExchange) => fits(Kind::CompareExchange, done),
            // A search over values tells an upgrade in one way, whatever it finds.
            (Kind::Upgrade, Kind::Update) => done == Kind::FailedUpdate,
            _ => false,
        };
        if done == next.action || open {
            if event.kind == Kind::Fork
                && let Ok(created) = Thread::try_from(event.object)
            {
                self.threads.insert(next.object, created);
            }
            self.at += 1;
            if self.at == self.schedule.len() {
                WRITERS_FIRST.set(true);
            }
        } else {
            let thread = Some(usize::from(event.thread));
            let difference = format!("thread {} did {done}, not {}", next.thread, next.action);
            self.part(difference, thread);
        }
    }

    fn blocked(&mut self, view: &View<'_>) {
        self.note_end(view);
    }
}
