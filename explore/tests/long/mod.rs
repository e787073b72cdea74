//! Programs whose executions are as long as one likes, and an executor over them.

#![allow(dead_code)]

pub(crate) mod flat;
pub(crate) mod queue;

use seqz_explore::{
    Event, Executor, Kind, Object, Outcome, Pending, Pick, RunEnd, Scheduler, View,
    threads::ThreadSet,
};

/// What a thread does `rounds` times; then comes an update of an object that all share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A store to an object of its own.
    Apart,
    /// An update of one object that all share.
    Racy,
    /// Takes a lock that all share, writes to an object, and gives the lock back.
    Locked,
    /// The first thread stores, the others load.
    Read,
    /// Takes a lock of its own, and gives it back.
    Private,
    /// The first thread loads until it finds what the second one stores after a few stores of its own.
    Spin,
    /// The loads and stores of [`Self::Spin`], each under a lock that both threads take.
    Poll,
    /// [`Self::Spin`] with the threads exchanged.
    SpinLast,
    /// [`Self::Poll`] with the threads exchanged.
    PollLast,
}

impl Shape {
    /// Whether this thread loads until it finds what another one stores.
    const fn looks(self, thread: u8) -> bool {
        match self {
            Self::Spin | Self::Poll => thread == 0,
            Self::SpinLast | Self::PollLast => thread == 1,
            _ => false,
        }
    }

    /// How many events a round has.
    pub(crate) const fn events(self) -> usize {
        match self {
            Self::Locked | Self::Poll | Self::PollLast => 3,
            Self::Private => 2,
            _ => 1,
        }
    }
}

/// The shared object at the end, the shared object of the rounds, and the first of those of one thread each.
const LAST: Object = 0;
const SHARED: Object = 1;
const LOCK: Object = 2;
const OWN: Object = 3;

/// Threads that all begin at once.
#[derive(Clone, Debug)]
pub(crate) struct Long {
    pub(crate) shape: Shape,
    pub(crate) threads: u8,
    pub(crate) rounds: usize,
    /// The number of events after which an execution is cut.
    pub(crate) bound: usize,
    values: [u64; 16],
    /// Per lock: whether a thread holds it.
    held: [bool; 16],
    done: Vec<usize>,
    pending: Vec<Pending>,
}

impl Long {
    pub(crate) fn new(shape: Shape, threads: u8, rounds: usize) -> Self {
        Self {
            shape,
            threads,
            rounds,
            bound: usize::MAX,
            values: [0; 16],
            held: [false; 16],
            done: Vec::new(),
            pending: Vec::new(),
        }
    }

    /// Operations of the thread before the last one.
    fn body(&self, thread: u8) -> usize {
        let rounds = if self.shape.looks(thread) {
            usize::MAX / 4
        } else {
            self.rounds
        };
        rounds * self.shape.events()
    }

    /// The thread's operation after `done` others.
    fn operation(&self, thread: u8, done: usize) -> Option<(Kind, Object)> {
        let own = OWN + Object::from(thread);
        let body = self.body(thread);
        if done == body {
            return Some((Kind::Update, LAST));
        }
        if done > body {
            return None;
        }
        let looks = self.shape.looks(thread);
        Some(match (self.shape, done % self.shape.events()) {
            (Shape::Spin | Shape::SpinLast, _) if looks => (Kind::Read, SHARED),
            (Shape::Spin | Shape::SpinLast, _) if done + 1 == body => (Kind::Write, SHARED),
            (Shape::Poll | Shape::PollLast, n) if looks || done + 3 >= body => match n {
                0 => (Kind::Lock, LOCK),
                1 if looks => (Kind::Read, SHARED),
                1 => (Kind::Write, SHARED),
                _ => (Kind::Unlock, LOCK),
            },
            (Shape::Spin | Shape::SpinLast | Shape::Poll | Shape::PollLast, _) => {
                (Kind::Write, own)
            }
            (Shape::Apart, _) => (Kind::Write, own),
            (Shape::Racy, _) => (Kind::Update, SHARED),
            (Shape::Read, _) if thread == 0 => (Kind::Write, SHARED),
            (Shape::Read, _) => (Kind::Read, SHARED),
            (Shape::Locked, 0) => (Kind::Lock, LOCK),
            (Shape::Locked, 1) => (Kind::Write, SHARED),
            (Shape::Locked, _) => (Kind::Unlock, LOCK),
            (Shape::Private, 0) => (Kind::Lock, own),
            (Shape::Private, _) => (Kind::Unlock, own),
        })
    }

    fn announce(&mut self, thread: u8) {
        let (kind, object) = self
            .operation(thread, self.done[usize::from(thread)])
            .unwrap_or_default();
        self.pending[usize::from(thread)] = Pending {
            kind,
            object,
            ..Pending::default()
        };
    }
}

impl Executor for Long {
    fn run<S: Scheduler>(&mut self, scheduler: &mut S) -> RunEnd {
        self.values = [0; 16];
        self.held = [false; 16];
        self.done = vec![0; usize::from(self.threads)];
        self.pending = vec![Pending::default(); usize::from(self.threads)];
        let mut live: ThreadSet = (0..self.threads).collect();
        for thread in 0..self.threads {
            self.announce(thread);
        }
        let mut last = None;
        let mut found_it = false;
        let mut steps = 0;
        let outcome = loop {
            if live.is_empty() {
                break Outcome::Completed;
            }
            let enabled = live
                .iter()
                .filter(|&thread| {
                    let pending = self.pending[usize::from(thread)];
                    pending.kind != Kind::Lock || !self.held[pending.object as usize]
                })
                .collect();
            let view = View {
                pending: &self.pending,
                live,
                enabled,
                last,
                resting: seqz_explore::threads::ThreadSet::EMPTY,
            };
            if steps == self.bound {
                scheduler.cut(&view);
                break Outcome::Truncated;
            }
            steps += 1;
            let Pick::Run(thread) = scheduler.pick(&view) else {
                break Outcome::Abandoned;
            };
            let at = usize::from(thread);
            let Pending { kind, object, .. } = self.pending[at];
            let value = &mut self.values[object as usize];
            let found = *value;
            match kind {
                Kind::Update => *value += 1,
                Kind::Write => *value = ((self.done[at] as u64) << 8) + u64::from(thread) + 1,
                Kind::Lock => self.held[object as usize] = true,
                Kind::Unlock => self.held[object as usize] = false,
                _ => {}
            }
            let event = Event {
                thread,
                kind,
                object,
                found,
                left: *value,
                ..Event::default()
            };
            self.done[at] += 1;
            if kind == Kind::Read && self.shape.looks(thread) && found != 0 {
                // What is left of the round, and the end.
                self.done[at] = self.body(thread) - usize::from(self.shape.events() == 3);
                found_it = true;
            }
            last = Some(thread);
            if self.operation(thread, self.done[at]).is_none() {
                live.remove(thread);
            } else {
                self.announce(thread);
            }
            scheduler.ran(&event);
        };
        RunEnd {
            outcome,
            state: 0,
            failures: found_it.then_some(1).into_iter().collect(),
        }
    }
}
